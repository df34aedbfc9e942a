"""Announces each SIGTERM it gets before it exits, as does its child elsewhere."""

import os
import signal

announce = int(os.environ["ANNOUNCE"])
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
if os.fork() == 0:
    os.setsid()
os.write(announce, b"here %d\n" % os.getpid())
signal.sigwait({signal.SIGTERM})
os.write(announce, b"goodbye %d\n" % os.getpid())
while signal.sigtimedwait({signal.SIGTERM}, 0.3):
    os.write(announce, b"again %d\n" % os.getpid())
