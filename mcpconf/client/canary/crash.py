"""A client that a segmentation fault kills before it has said a word."""

from __future__ import annotations

import contextlib
import os
import signal

if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # Unix only, as core files are
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no file
    os.kill(os.getpid(), signal.SIGSEGV)
