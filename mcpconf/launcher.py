"""
The one-token command the suite needs, quoted for POSIX and Windows.

The suite cuts its ``--command`` at each space and hands the pieces, joined again and
followed by the server's URL, to a shell. So it gets one harmless token, a script in
its own working directory, and whatever a path or an argument may hold stays inside
that script.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from mcpconf.errors import UsageError
from mcpconf.storage import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write_launcher(
    case_dir: Path, argv: Sequence[str], *, platform: str = sys.platform
) -> str:
    """
    Write the script that runs `argv` and what is appended to it; its command.

    The command is meant for a shell whose working directory is `case_dir`.

    :raises UsageError: `argv` cannot be said in a script of this platform.
    :raises StorageError: the script cannot be written.
    """
    if not argv or any("\0" in word for word in argv):
        raise UsageError("a command needs words, and none may hold a null character")
    if platform == "win32":
        write_whole(case_dir / "client.cmd", _batch_script(argv))
        return "client.cmd"
    script = case_dir / "client"
    write_whole(script, _shell_script(argv))
    script.chmod(0o700)
    return "./client"


def _shell_script(argv: Sequence[str]) -> bytes:
    return os.fsencode(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')


def _batch_script(argv: Sequence[str]) -> bytes:
    # cmd.exe reads a script in the console's code page, which seldom is UTF-8.
    lines = ["@echo off", "chcp 65001 >nul", f"{' '.join(map(_batch_word, argv))} %*"]
    return "".join(f"{line}\r\n" for line in lines).encode()


def _batch_word(word: str) -> str:
    if any(character in word for character in '"\r\n'):
        # cmd.exe does not know \" and would see the quotation end there.
        raise UsageError(f"a batch script cannot hold {word!r}: quotation or new line")
    # Within quotes only the percent sign means something to cmd.exe. The space makes
    # list2cmdline quote, and double the backslashes before the closing quote.
    quoted = subprocess.list2cmdline([f" {word}"])
    return '"' + quoted[2:].replace("%", "%%")
