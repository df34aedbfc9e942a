"""
Freezes its parent, fills its output pipe, and exits.

The pipe is as large as Linux lets a program make it. Two announcements tell the pid of
the parent and its own.
"""

import fcntl
import os
import signal

SIZE = 1024 * 1024

os.kill(os.getppid(), signal.SIGSTOP)
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, SIZE)
os.write(1, b"x" * SIZE)
announce = int(os.environ["ANNOUNCE"])
os.write(announce, b"parent %d\nprogram %d\n" % (os.getppid(), os.getpid()))
