"""A pipe from a child of ours into bounded memory, which has no name to be found by."""

from __future__ import annotations

import os
import threading


class Drain:
    """The read end of a pipe, emptied while the child runs."""

    def __init__(self, most: int) -> None:
        """At most `most` bytes are kept."""
        self._read, self.write = os.pipe()
        self._most = most
        self._content = bytearray()
        #: Whether more came than is kept.
        self.is_cut = False
        self._thread = threading.Thread(target=self._empty, daemon=True)
        self._thread.start()

    def _empty(self) -> None:
        while chunk := os.read(self._read, 1 << 16):
            room = self._most - len(self._content)
            self._content += chunk[: max(0, room)]
            self.is_cut = self.is_cut or len(chunk) > room

    def finish(self) -> bytes:
        """Everything that was written, once nobody can write any more."""
        os.close(self.write)
        self._thread.join()
        os.close(self._read)
        return bytes(self._content)
