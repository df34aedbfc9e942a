"""What one check found: never merely true or false."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a check can find."""

    HOLDS = "holds"
    BROKEN = "broken"
    #: What had to be seen was not; says nothing good of the client.
    UNOBSERVED = "unobserved"
    #: The client, or its driver, has no such feature.
    UNSUPPORTED = "unsupported"
    #: The statement is about something this client does not declare.
    NOT_APPLICABLE = "not-applicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result, with a sentence that a reader can act on."""

    kind: Kind
    detail: str


def holds(detail: str) -> Finding:
    """It was seen to be so; `detail` names the evidence."""
    return Finding(Kind.HOLDS, detail)


def broken(detail: str) -> Finding:
    """It was seen not to be so."""
    return Finding(Kind.BROKEN, detail)


def unobserved(detail: str) -> Finding:
    """Nothing can be said: what had to happen did not."""
    return Finding(Kind.UNOBSERVED, detail)


def unsupported(detail: str) -> Finding:
    """The client has no such feature."""
    return Finding(Kind.UNSUPPORTED, detail)


def not_applicable(detail: str) -> Finding:
    """The client does not declare what this is about."""
    return Finding(Kind.NOT_APPLICABLE, detail)
