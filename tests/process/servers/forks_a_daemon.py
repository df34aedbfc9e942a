"""
Serves from a daemon: another session, no parent, deaf to SIGTERM.

Arguments: ``stay`` or ``leave``, a file for the daemon's number, the port. The first
process waits for ever, or is gone before the daemon listens.
"""

import os
import signal
import sys
from pathlib import Path

from mcpconf.fixture_server.cli import main

how, place, port = sys.argv[1:]
is_gone, hold = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.close(hold)
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(place).write_text(str(os.getpid()), "ascii")
        if how == "leave":
            os.read(is_gone, 1)  # ends with the first process
        sys.exit(
            main(["--transport", "http", "--revision", "2026-07-28", "--port", port])
        )
    os._exit(0)
os.wait()
while how == "stay":
    signal.pause()
