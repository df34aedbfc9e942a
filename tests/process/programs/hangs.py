"""Announces itself, then waits for ever."""

import os
import signal

os.write(int(os.environ["ANNOUNCE"]), b"hanging %d\n" % os.getpid())
while True:
    signal.pause()
