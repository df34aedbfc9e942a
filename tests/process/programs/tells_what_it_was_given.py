"""Writes as JSON what it inherited from whoever launched it."""

import json
import os
import signal
import sys
from pathlib import Path

# The listing itself opens one descriptor, which is closed by the time it is tried.
listed = [int(name) for name in os.listdir("/proc/self/fd")]
open_fds = [number for number in listed if Path(f"/proc/self/fd/{number}").exists()]
parent = Path(f"/proc/{os.getppid()}")
given = {
    "arguments": sys.argv[1:],
    "cwd": str(Path.cwd()),
    "environment": dict(os.environ),
    "descriptors": sorted(open_fds),
    "stdin": os.read(0, 1).decode(),
    "leads_session": os.getsid(0) == os.getpid(),
    "blocked": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
    "parent_environment": (parent / "environ").read_text(),
    "parent_command": (parent / "cmdline").read_text(),
}
sys.stdout.write(json.dumps(given))
