"""
Leaves a daemon: another session, no parent, deaf to SIGTERM and SIGHUP.

With ``hang`` as first argument it does not exit itself, but waits for ever.
"""

import os
import signal
import sys

is_there, say_there = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.write(int(os.environ["ANNOUNCE"]), b"daemon %d\n" % os.getpid())
        os.write(say_there, b"!")
        while True:
            signal.pause()
    os._exit(0)
os.wait()
os.read(is_there, 1)
if sys.argv[1:2] == ["hang"]:
    os.write(int(os.environ["ANNOUNCE"]), b"hanging %d\n" % os.getpid())
    while True:
        signal.pause()
