"""A server that closes every connection as soon as it stands."""

from __future__ import annotations

import argparse
import socket


def main() -> None:
    """Take a connection, let it go, take the next."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    with socket.create_server(("127.0.0.1", parser.parse_args().port)) as listener:
        while True:
            listener.accept()[0].close()


if __name__ == "__main__":
    main()
