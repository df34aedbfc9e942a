"""
Run one program that obtains something, under a deadline.

It succeeds, or a `ProvisionError` says what it printed last, without the secrets that
package managers print.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf import process
from mcpconf.errors import ProvisionError
from mcpconf.process_record import Ended, EndKind
from mcpconf.redaction import redact_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: How much of what a program printed is worth a reader's time.
_MAX_LINES = 40
_MAX_CHARACTERS = 4000

#: What `redact_text` has no cause to know: the spellings of package managers.
_SECRETS = (
    # user:password@ in a URL; the last @ before the path ends it
    (re.compile(r"\b([a-z][a-z0-9+.-]*://)[^/\s]*@", re.IGNORECASE), r"\1[REDACTED]@"),
    # a URL's query may carry a token under any name
    (
        re.compile(r"\b([a-z][a-z0-9+.-]*://[^\s?]*\?)\S+", re.IGNORECASE),
        r"\1[REDACTED]",
    ),
    # .npmrc lines (_authToken=, _auth=, _password=), JSON members, assignments
    (
        re.compile(
            r"((?:_auth|token|passw(?:or)?d|secret|api[_-]?key)[\"']?[ \t]*[=:][ \t]*)"
            r"(?!\[REDACTED\])(\"(?:\\.|[^\"\\])*\"|'[^']*'|\S+)",
            re.IGNORECASE,
        ),
        r"\1[REDACTED]",
    ),
    # tokens that tell what they are
    (
        re.compile(r"\b(?:npm_|gh[a-z]_|github_pat_|glpat-|pypi-)[\w-]{8,}"),
        "[REDACTED]",
    ),
)
_NEWLINE = re.compile(r"\r\n?")
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def scrub(text: str) -> str:
    """`text` without secrets and without what would move a terminal's cursor."""
    text = redact_text(_CONTROL.sub("", _NEWLINE.sub("\n", text)))
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def run_program(
    argv: Sequence[str | Path],
    *,
    purpose: str,
    deadline_s: float,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """
    Run `argv` to its good end and give back its standard output.

    It has this process's environment unless another is given, and an empty working
    directory of its own unless one is named.

    :raises ProvisionError: it cannot be started, ends otherwise than with exit code 0,
        or is not done after `deadline_s`; its processes are gone then.
    """
    # Inside `directory`, so that whoever clears that up after us clears up this too.
    with tempfile.TemporaryDirectory(prefix=".mcpconf-", dir=directory) as temporary:
        place = Path(temporary)
        program = process.Program(
            argv=tuple(map(str, argv)),
            cwd=directory or place / "cwd",
            environment=os.environ if environment is None else environment,
            stdout=place / "stdout",
            stderr=place / "stderr",
            deadline_s=deadline_s,
        )
        (place / "cwd").mkdir()
        ended = process.run(program)
        if ended.kind is EndKind.EXITED and ended.exit_code == 0:
            return program.stdout.read_text("utf-8", "replace")
        printed = "\n".join(
            path.read_text("utf-8", "replace") if path.exists() else ""
            for path in (program.stdout, program.stderr)
        )
    raise ProvisionError(
        f"{purpose}: {argv[0]} {_described(ended, deadline_s)}{_told(printed)}"
    )


def _described(ended: Ended, deadline_s: float) -> str:
    match ended.kind:
        case EndKind.EXITED:
            return f"ended with exit code {ended.exit_code}"
        case EndKind.SIGNALLED:
            return f"was ended by {ended.signal}"
        case EndKind.FAILED_TO_START:
            return f"cannot be started: {ended.error}"
        case EndKind.TIMED_OUT | EndKind.STOPPED:
            return f"was not done after {deadline_s:g} s and was ended"


def _told(printed: str) -> str:
    """The end of what was printed, errors last; empty when nothing was."""
    lines = [line.rstrip() for line in scrub(printed).splitlines() if line.strip()]
    if not lines:
        return ""
    kept = "\n".join(f"  {line}" for line in lines[-_MAX_LINES:])
    return ":\n" + kept[-_MAX_CHARACTERS:]
