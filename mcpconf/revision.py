"""
The dated protocol revisions we judge, and what separates their eras.

2025-06-18 and 2025-11-25 open with the ``initialize`` handshake; 2026-07-28 is
stateless and carries its revision in every request (specification, "Versioning").
"""

from __future__ import annotations

from enum import StrEnum


class Era(StrEnum):
    """How a connection opens."""

    HANDSHAKE = "handshake"
    STATELESS = "stateless"


class Revision(StrEnum):
    """A dated revision this project can judge."""

    V2025_06_18 = "2025-06-18"
    V2025_11_25 = "2025-11-25"
    V2026_07_28 = "2026-07-28"

    @property
    def era(self) -> Era:
        """The era this revision belongs to."""
        return era_of(self.value)


def era_of(protocol_version: str) -> Era:
    """
    The era of any dated revision seen on the wire, known to us or not.

    Dates compare as text; the first stateless revision is 2026-07-28.
    """
    if protocol_version >= Revision.V2026_07_28.value:
        return Era.STATELESS
    return Era.HANDSHAKE


#: Oldest first; also the order of every report.
KNOWN: tuple[Revision, ...] = tuple(Revision)
