"""Is the first of twenty generations; each second one opens a session of its own."""

import os
import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
for generation in range(1, 21):
    os.write(int(os.environ["ANNOUNCE"]), b"%d %d\n" % (generation, os.getpid()))
    if generation == 20 or os.fork() != 0:
        break
    if generation % 2:
        os.setsid()
while True:
    signal.pause()
