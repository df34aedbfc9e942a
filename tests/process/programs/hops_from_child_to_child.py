"""Forks and exits for ever: whoever looks for it finds a process that has ended."""

import contextlib
import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(int(os.environ["ANNOUNCE"]), b"hopping %d\n" % os.getpid())
while True:
    if os.fork() != 0:
        os._exit(0)
    with contextlib.suppress(PermissionError):
        os.setsid()
