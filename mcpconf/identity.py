"""
What makes two checks of two runs the same check.

The rule is the original harness's: revision, transport, source, scenario, and the
upstream check id; where there is none, the check's name without ``#n``, because repeats
are numbered in the order in which they arrive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.decode import Json

#: The transports of a report's cases: ours, and the suite's.
STDIO, HTTP, OFFICIAL_HTTP = "stdio", "http", "official-http"
LABELS = (STDIO, HTTP, OFFICIAL_HTTP)
#: Who may have written a check of a report.
SOURCES = ("official", "harness", "supplemental")


@dataclass(frozen=True, slots=True, order=True)
class Leg:
    """One transport at one revision: a case of a report."""

    #: One of `LABELS`.
    transport: str
    #: A dated revision; the files call it ``mode``.
    revision: str

    def __str__(self) -> str:
        return f"{self.transport} {self.revision}"


class CheckIdentity(NamedTuple):
    """
    Names one check across runs; sorts as the original's baselines do.

    A tuple, because a gate looks up hundreds of thousands of them.
    """

    #: A dated revision; the files call it ``mode``.
    revision: str
    #: One of `LABELS`.
    transport: str
    #: One of `SOURCES`.
    source: str
    #: Empty where a check belongs to no scenario.
    scenario: str
    check_id: str

    @property
    def leg(self) -> Leg:
        """Where it is checked."""
        return Leg(self.transport, self.revision)

    @property
    def ref(self) -> str:
        """``scenario:check-id``, as upstream writes it."""
        return f"{self.scenario}:{self.check_id}"

    def __str__(self) -> str:
        return f"{self.leg} / {self.ref}"

    def to_json(self) -> dict[str, Json]:
        """The five members every baseline format has."""
        return {
            "mode": self.revision,
            "transport": self.transport,
            "source": self.source,
            "scenario": self.scenario,
            "check_id": self.check_id,
        }


def variant_of(transport: str, source: str, check_id: str | None) -> str | None:
    """The variant a check stands for: in the suite's legs a supplemental one is it."""
    is_variants = transport == OFFICIAL_HTTP and source == "supplemental"
    return check_id if is_variants else None


def stable_name(name: str) -> str:
    """A check's name without the number that repeats are given."""
    stem, mark, number = name.rpartition("#")
    return stem if mark and stem and number.isdecimal() else name


def identity_of(leg: Leg, check: Mapping[str, Json]) -> CheckIdentity:
    """The identity of one well-formed check of a report."""
    scenario, check_id = check["scenario"], check["check_id"]
    return CheckIdentity(
        revision=leg.revision,
        transport=leg.transport,
        source=str(check["source"]),
        scenario="" if scenario is None else str(scenario),
        check_id=stable_name(str(check["name"])) if check_id is None else str(check_id),
    )
