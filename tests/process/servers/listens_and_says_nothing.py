"""Takes connections at a port, the argument, and never answers."""

import signal
import socket
import sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
sys.stderr.write("here, and silent\n")
sys.stderr.flush()
while True:
    signal.pause()
