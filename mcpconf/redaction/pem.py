"""
Private key blocks out of text, also across lines and chunks.

A block goes from its BEGIN line to its END line. Without an END line it goes as far as
the text could be part of one; that is more than the key, never less.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpconf.redaction.name import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

# Spaces may be percent- or form-encoded: the key may stand in a URL or a form.
_BEGIN = re.compile(
    r"-----BEGIN[ +%0-9A-Z]{1,40}?PRIVATE[ +%0-9]{1,6}KEY[ +%0-9A-Z]{0,12}-----"
)
_END = re.compile(r"-----END[ +%0-9A-Z]{1,60}-----")
# Base64, the headers of old encrypted keys, white space, and all of that in JSON or
# percent-encoding; what a first pass has put in place of known lines, too.
_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s%.:,]|-(?!----END)|\\++[nrtu/]|\[REDACTED\])*+")


class KeyBlocks:
    """Takes private key blocks out of consecutive pieces of text."""

    def __init__(self, found: Callable[[str], None]) -> None:
        """`found` is told every block."""
        self._found = found
        self._is_inside = False

    def redact(self, text: str) -> str:
        """`text` without key blocks; a block may go on in the next piece."""
        kept: list[str] = []
        position = self._skip(text, 0) if self._is_inside else 0
        while begin := _BEGIN.search(text, position):
            kept += text[position : begin.start()], PLACEHOLDER
            position = self._skip(text, begin.end())
            self._found(text[begin.start() : position])
        kept.append(text[position:])
        return "".join(kept)

    def _skip(self, text: str, start: int) -> int:
        """The end of the block whose body goes on at `start`."""
        body = _BODY.match(text, start)
        stop = start if body is None else body.end()
        self._is_inside = stop == len(text)
        end = _END.match(text, stop)
        return stop if end is None else end.end()
