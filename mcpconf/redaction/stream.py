"""
Text without secrets, whole or as it comes; both give the same.

Every construct that is looked for ends with its line, but for private key blocks and
JSON members whose value is on a later line; of those a short state is kept. So a
stream is worked off in whole lines, and the only text held back is a line's beginning.
A line longer than `MAX_LINE` is not held: it is replaced as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.redaction.name import PLACEHOLDER
from mcpconf.redaction.pem import KeyBlocks
from mcpconf.redaction.place import Places
from mcpconf.redaction.value import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.redaction.value import Secrets

#: Characters. A wire record with two full bodies fits, even with every character
#: of them escaped, short of the absurd.
MAX_LINE = 2 * 1024 * 1024


def _forget(_secret: str) -> None:
    """Nobody collects."""


class Redactor:
    """Redacts a text that comes in chunks cut anywhere."""

    def __init__(
        self, secrets: Secrets = NONE, *, found: Callable[[str], None] = _forget
    ) -> None:
        """`found` is told the secrets that are recognised by their place."""
        self._secrets = secrets
        self._blocks = KeyBlocks(found)
        self._places = Places(found)
        self._held: list[str] = []
        self._held_size = 0

    def feed(self, chunk: str) -> str:
        """What can be said already."""
        end = chunk.rfind("\n") + 1
        if not end:
            self._hold(chunk)
            return ""
        text = "".join((*self._held, chunk[:end]))
        self._held, self._held_size = [], 0
        self._hold(chunk[end:])
        return self._redact(text)

    def close(self) -> str:
        """The rest. Nothing may be fed afterwards."""
        text = "".join(self._held)
        self._held, self._held_size = [], 0
        return self._redact(text)

    def _hold(self, part: str) -> None:
        if not part or self._held_size > MAX_LINE:
            return
        self._held_size += len(part)
        self._held.append(part)
        if self._held_size > MAX_LINE:
            # Still one character too long, so that `_redact` sees what it was.
            self._held = ["\0" * (MAX_LINE + 1)]

    def _redact(self, text: str) -> str:
        if len(text) > MAX_LINE:
            text = "\n".join(
                PLACEHOLDER if len(line) > MAX_LINE else line
                for line in text.split("\n")
            )
        return self._places.redact(self._blocks.redact(self._secrets.redact(text)))


def redact_text(text: str, secrets: Secrets = NONE) -> str:
    """`text` without any secret, known or told by its place."""
    redactor = Redactor(secrets)
    return redactor.feed(text) + redactor.close()
