"""
A client that never ends and never speaks.

It ignores SIGTERM, so that only the last rung of the stop ladder ends it. One line on
standard error says when it has begun to.
"""

from __future__ import annotations

import signal
import sys
import threading

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stderr.write("hanging\n")
    sys.stderr.flush()
    threading.Event().wait()
