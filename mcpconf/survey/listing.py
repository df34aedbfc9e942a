"""
Which scenarios a suite has for a role, and what its own counting makes of a program.

The requirement sets come from the suite's own files, the applicable scenarios from its
``list`` command.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import yaml

from mcpconf.decode import Reader
from mcpconf.errors import ProvisionError
from mcpconf.process import Program, run
from mcpconf.record import CheckStatus, Role
from mcpconf.suite.catalogue import Floor, ScenarioEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.process import Ended
    from mcpconf.record import Check
    from mcpconf.revision import Revision
    from mcpconf.suite.install import Suite

_LISTED = re.compile(r"^  - (\S+) \[", re.MULTILINE)
_LIST_S = 30.0


@dataclass(frozen=True, slots=True)
class Listed:
    """One scenario of a revision, and why it is not scored, if it is not."""

    scenario: str
    not_scored: str | None


class Seen(Protocol):
    """What of a case counts here, whoever was under test."""

    @property
    def ended(self) -> Ended:
        """How the suite ended."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """What it said."""


def requirement_set(path: Path, role: Role) -> tuple[Listed, ...]:
    """
    A revision's scenarios for a role, scored or not.

    :raises DecodeError: not a requirement set of the suite.
    """
    reader = Reader(yaml.safe_load(path.read_text("utf-8")), path)
    scored = [Listed(name, None) for name in reader.key(role.value).strings()]
    apart = [
        Listed(each.key("scenario").string(), each.key("reason").string())
        for each in reader.key("not_scored").items()
        if each.key("leg").string() == role.value
    ]
    return (*scored, *apart)


def listed_scenarios(
    suite: Suite, revision: Revision | None, role: Role
) -> tuple[str, ...]:
    """
    The scenarios the suite says apply at a revision, or all it knows for the role.

    :raises ProvisionError: it listed none.
    """
    words = ["list", f"--{role.value}"]
    if revision is not None:
        words += ["--spec-version", revision.value]
    with tempfile.TemporaryDirectory(prefix="mcpconf-list-") as name:
        directory = Path(name)
        run(
            Program(
                argv=(*suite.argv_prefix, *words),
                cwd=directory,
                environment={},
                stdout=directory / "stdout",
                stderr=directory / "stderr",
                deadline_s=_LIST_S,
            )
        )
        found = tuple(_LISTED.findall((directory / "stdout").read_text("utf-8")))
    if not found:
        raise ProvisionError(f"the suite lists no {role} scenario of {revision}")
    return found


def listing_of(suite: Suite, revision: Revision, role: Role) -> tuple[Listed, ...]:
    """
    The scenarios of a revision, in upstream's order.

    Upstream froze no set for the oldest revision: all that applies is scored there.

    :raises DecodeError: not a requirement set of the suite.
    :raises ProvisionError: the suite lists no scenario.
    """
    path = suite.entry.parent.parent / "requirements" / f"{revision.value}.yaml"
    if path.is_file():
        return requirement_set(path, role)
    return tuple(Listed(each, None) for each in listed_scenarios(suite, revision, role))


def bare_entry(listed: Listed) -> ScenarioEntry:
    """As little as it takes to launch a scenario of which nothing is known yet."""
    return ScenarioEntry(
        scenario=listed.scenario,
        not_scored=listed.not_scored,
        auth=False,
        timing_sensitive=False,
        allow_client_error=False,
        checks=(),
        silent_checks=(),
    )


def unassigned(
    known: Sequence[str], revisions: Mapping[Revision, Sequence[ScenarioEntry]]
) -> tuple[str, ...]:
    """The scenarios that no revision's set names, sorted."""
    named = {entry.scenario for entries in revisions.values() for entry in entries}
    return tuple(sorted(set(known) - named))


def floor_of(listing: Sequence[Listed], seen: Mapping[str, Seen]) -> Floor:
    """By the suite's own counting: exit 0 is a pass, SUCCESS is a success."""
    scored = [seen[each.scenario] for each in listing if each.not_scored is None]
    return Floor(
        scenarios=sum(each.ended.exit_code == 0 for each in scored),
        checks=sum(
            check.count
            for each in scored
            for check in each.checks
            if check.status is CheckStatus.SUCCESS
        ),
    )
