"""Is killed by SIGSEGV, without a core file."""

import os
import resource
import signal

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.kill(os.getpid(), signal.SIGSEGV)
