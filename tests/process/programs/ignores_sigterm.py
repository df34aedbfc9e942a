"""Ignores SIGTERM, announces that it does, then waits for ever."""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(int(os.environ["ANNOUNCE"]), b"ignoring %d\n" % os.getpid())
while True:
    signal.pause()
