"""
What was asked to be run: kept with the run and its report, and the cases it means.

A report that holds only a part of the catalogue says which part was asked for, so that
what is missing can be told from what nobody wanted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpconf import ours
from mcpconf.errors import UsageError
from mcpconf.plan import select_cases
from mcpconf.record import Role, Source
from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.decode import Json, Reader
    from mcpconf.ours import Case
    from mcpconf.plan import Variant
    from mcpconf.suite.catalogue import Catalogue

_KEYS = ("revisions", "transports", "sources", "authentication", "scenarios", "shard")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several runs that together are one: every `of`-th case."""

    #: From 1.
    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """
        Read ``2/4``.

        :raises UsageError: it is not of this form, or there is no such part.
        """
        found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
        if found is None:
            raise UsageError(f"--shard {text}: write it as 2/4, the second of four")
        index, of = int(found[1]), int(found[2])
        if not 1 <= index <= of:
            raise UsageError(f"--shard {text}: from 1/{of or 1} to {of or 1}/{of or 1}")
        return cls(index, of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The part of the catalogue that one run is about."""

    #: Whose catalogue; reports and runs say it beside the selection.
    role: Role = Role.CLIENT
    #: Oldest first.
    revisions: tuple[Revision, ...] = tuple(Revision)
    transports: tuple[Transport, ...] = tuple(Transport)
    sources: tuple[Source, ...] = tuple(Source)
    authentication: bool = True
    #: Names asked for; empty: every scenario.
    official: tuple[str, ...] = ()
    supplemental: tuple[str, ...] = ()
    shard: Shard | None = None

    def to_json(self) -> dict[str, Json]:
        """As reports hold it."""
        shard: Json = None
        if self.shard is not None:
            shard = {"index": self.shard.index, "of": self.shard.of}
        return {
            "revisions": [each.value for each in self.revisions],
            "transports": [each.value for each in self.transports],
            "sources": [each.value for each in self.sources],
            "authentication": self.authentication,
            "scenarios": [*self.official, *self.supplemental],
            "shard": shard,
        }

    @classmethod
    def from_json(cls, reader: Reader, role: Role) -> Selection:
        """
        Read what `to_json` gives; no scenario of ours has a name of the suite's.

        :raises DecodeError: it is not of this form.
        """
        reader.only(*_KEYS)
        names = reader.key("scenarios").strings()
        shard, mine = reader.get("shard"), ours.scenarios(role)
        return cls(
            role=role,
            revisions=tuple(
                each.word(Revision) for each in reader.key("revisions").items()
            ),
            transports=tuple(
                each.word(Transport) for each in reader.key("transports").items()
            ),
            sources=tuple(each.word(Source) for each in reader.key("sources").items()),
            authentication=reader.key("authentication").boolean(),
            official=tuple(name for name in names if name not in mine),
            supplemental=tuple(name for name in names if name in mine),
            shard=None if shard is None else _shard(shard.only("index", "of")),
        )


def _shard(reader: Reader) -> Shard:
    shard = Shard(reader.key("index").integer(), reader.key("of").integer())
    if not 1 <= shard.index <= shard.of:
        reader.fail(f"there is no part {shard}")
    return shard


def select(
    selection: Selection, catalogue: Catalogue, variants: Sequence[Variant] = ()
) -> tuple[Case, ...]:
    """
    Our cases, then the suite's, in the order of every report.

    :raises UsageError: a name that cannot run, or nothing is left to run.
    """
    cases: tuple[Case, ...] = ()
    if Source.SUPPLEMENTAL in selection.sources:
        cases += ours.select(
            selection.role,
            selection.revisions,
            *selection.transports,
            requested=selection.supplemental,
        )
        _refuse_empty_legs(selection, cases)
    if Source.OFFICIAL in selection.sources:
        if Transport.HTTP in selection.transports:
            cases += select_cases(
                catalogue,
                selection.revisions,
                requested=selection.official,
                include_auth=selection.authentication,
                variants=variants,
            )
        elif selection.official or not cases:
            raise UsageError(
                "the official scenarios are HTTP only; drop --transport stdio"
            )
    if not cases:
        raise UsageError("no scenario is left to run; select other revisions")
    return _part(selection.shard, cases)


def _refuse_empty_legs(selection: Selection, cases: Sequence[Case]) -> None:
    """Where ours alone is asked for, no revision may be left out unseen."""
    has_any = {case.key.revision for case in cases}
    bare = [each for each in selection.revisions if each not in has_any]
    if bare and selection.sources == (Source.SUPPLEMENTAL,):
        raise UsageError(
            f"{', '.join(bare)}: has no scenario of ours about a {selection.role}"
        )


def _part(shard: Shard | None, cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """Every `of`-th case, so that each part has its share of every leg."""
    if shard is None:
        return cases
    part = cases[shard.index - 1 :: shard.of]
    if not part:
        raise UsageError(f"--shard {shard}: there are only {len(cases)} cases")
    return part


def whole(selection: Selection) -> Selection:
    """The same selection, not divided."""
    return replace(selection, shard=None)
