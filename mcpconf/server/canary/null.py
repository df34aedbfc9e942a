"""A server that takes every connection and never says a word."""

from __future__ import annotations

import argparse
import socket


def main() -> None:
    """Hold every connection open until somebody else ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    with socket.create_server(("127.0.0.1", parser.parse_args().port)) as listener:
        held = []
        while True:
            held.append(listener.accept()[0])


if __name__ == "__main__":
    main()
