"""Says one line and exits; a child keeps its outputs open for ever."""

import os
import signal

is_there, say_there = os.pipe()
os.write(1, b"the last word\n")
if os.fork() == 0:
    os.write(int(os.environ["ANNOUNCE"]), b"holder %d\n" % os.getpid())
    os.write(say_there, b"!")
    while True:
        signal.pause()
os.read(is_there, 1)
