"""
Note the number of this process, then become another program.

A program of its own: ``python -I -S pidfile.py FILE PROGRAM [ARGUMENT ...]``. Who
starts a program through a supervisor learns in this way which process it is.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing typing would delay each server's start
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Write the file and become the program; 127 as of a shell if that fails."""
    place, *argv = sys.argv[1:]
    with open(place, "x", encoding="ascii") as stream:  # noqa: PTH123 (starts often)
        stream.write(f"{os.getpid()}\n")
    try:
        os.execvp(argv[0], argv)  # noqa: S606 (no shell)
    except OSError as error:
        sys.stderr.write(f"{argv[0]} cannot be started: {error.strerror}\n")
        os._exit(127)


if __name__ == "__main__":
    main()
