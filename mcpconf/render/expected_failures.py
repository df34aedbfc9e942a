"""
A baseline as the official suite's expected-failures file, as far as that can say it.

The suite looks at its own checks alone. With such a file it ends with 0 when every
FAILURE and WARNING of theirs is named and no named check says SUCCESS; a named check
that is absent or skipped is tolerated, and a whole scenario must fail. So checks are
named, one by one, and a scenario that only its driver fails is not named at all.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.baseline.entry import UNREASONED, CheckPolicy
from mcpconf.errors import UsageError
from mcpconf.identity import OFFICIAL_HTTP, CheckIdentity
from mcpconf.record import Role
from mcpconf.render.text import printable
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mcpconf.baseline.entry import Baseline, Explanation
    from mcpconf.suite.catalogue import Catalogue

#: Needs no quotes in any YAML.
_PLAIN = re.compile(r"[A-Za-z][\w./-]*(:[\w./-]+)*", re.ASCII)
#: Revisions that the suite has a frozen requirement set for.
_HAS_REQUIREMENTS = frozenset({"2025-11-25", "2026-07-28"})
_LIMITS = """\
The suite is less strict with this file than mcpconf is with a baseline: a crash or a
time-out of the client is exit 0 to it where every failing check is named, a misspelt
entry is silently of no use, and reasons, classes, links and dates are comments."""


#: How the suite is started against a program of each role.
_START = {Role.CLIENT: "client --command COMMAND", Role.SERVER: "server --url URL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """An expected-failures file, and what it could not say."""

    text: str
    #: A sentence each; they are in the text's header, too.
    left_out: tuple[str, ...]


@dataclass(slots=True)
class _Entry:
    """What is said of one ``scenario:check-id``: comment → revisions, in order."""

    comments: dict[str, list[str]] = field(default_factory=dict)

    def add(self, revision: str, comment: str) -> None:
        self.comments.setdefault(comment, []).append(revision)

    @property
    def revisions(self) -> set[str]:
        return {each for revisions in self.comments.values() for each in revisions}


def export(
    baseline: Baseline, catalogue: Catalogue, revision: str | None = None
) -> Exported:
    """
    The file for one revision, or one for all that the baseline holds.

    One for all is exact only where the revisions agree: what fails in one of them and
    passes in another is stale to the suite there, and so listed as left out.

    :raises UsageError: the baseline holds no official check of what was asked for.
    """
    held = baseline.scope.revisions if OFFICIAL_HTTP in baseline.scope.labels else ()
    revisions = tuple(each for each in held if revision in {None, each})
    if not revisions:
        where = revision or "any revision"
        raise UsageError(f"the baseline holds no scenarios of the suite at {where}")
    entries = _entries(baseline, catalogue, revisions)
    left_out = tuple(_left_out(baseline, entries, revisions))
    lines = list(_header(baseline, revisions, left_out))
    role = baseline.scope.role
    lines.append(f"{role}:" if entries else f"{role}: []")
    for ref, entry in sorted(entries.items()):
        for comment, found in entry.comments.items():
            lines += _comment(f"{', '.join(found)}: {comment}", indent="  ")
        lines.append(f"  - {ref if _PLAIN.fullmatch(ref) else json.dumps(ref)}")
    return Exported(text="\n".join(lines) + "\n", left_out=left_out)


def _entries(
    baseline: Baseline, catalogue: Catalogue, revisions: Sequence[str]
) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    for identity in sorted(baseline.failing):
        if _can_name(identity) and identity.revision in revisions:
            failure = baseline.failing[identity]
            how = "" if failure.outcome == "failed" else f" ({failure.outcome})"
            said = f"{failure.state.value}{how}, {_why(failure.explanation)}"
            entries.setdefault(identity.ref, _Entry()).add(identity.revision, said)
    for each in baseline.unsupported:
        found = catalogue.entry(Revision(each.leg.revision), each.scenario)
        if found is None or each.leg.revision not in revisions:
            continue
        # What the client does not do at all fails, or is not there. What silence
        # alone earns says SUCCESS, and must not be named.
        for check_id in sorted(found.required):
            ref = f"{each.scenario}:{check_id}"
            said = f"unsupported, {_why(each.explanation)}"
            entries.setdefault(ref, _Entry()).add(each.leg.revision, said)
    return entries


def _can_name(identity: CheckIdentity) -> bool:
    return (
        identity.transport == OFFICIAL_HTTP
        and identity.source == "official"
        # A check without an id goes by its name, which the suite's file cannot say.
        and not identity.check_id.startswith("official/")
    )


def _why(explanation: Explanation | None) -> str:
    if explanation is None:
        return "no reason: the baseline is of version 1"
    reason = "no reason yet" if explanation.reason == UNREASONED else explanation.reason
    dates = f"since {explanation.since}"
    if explanation.expires is not None:
        dates += f", expires {explanation.expires}"
    link = f"; {explanation.link}" if explanation.link else ""
    return f"{explanation.failure_class.value}: {reason} ({dates}{link})"


def _left_out(
    baseline: Baseline, entries: dict[str, _Entry], revisions: Sequence[str]
) -> Iterator[str]:
    yield from _stale_somewhere(baseline, entries, revisions)
    yield from _warnings_let_pass(baseline, entries)
    ours: dict[str, list[str]] = {}
    for identity in sorted(baseline.failing):
        if identity.revision not in revisions or _can_name(identity):
            continue
        if identity.source == "harness" and identity.transport == OFFICIAL_HTTP:
            yield (
                f"{identity.leg} / {identity.check_id}: the suite does not look at it, "
                "so the scenario is not named for it"
            )
        elif identity.source == "official":
            yield f"{identity}: the suite gives it no id to be named by"
        else:
            ours.setdefault(identity.ref, []).append(str(identity.leg))
    for ref, legs in ours.items():
        yield f"{ref} ({', '.join(legs)}): a check of mcpconf's own"


def _stale_somewhere(
    baseline: Baseline, entries: dict[str, _Entry], revisions: Sequence[str]
) -> Iterator[str]:
    for ref, entry in sorted(entries.items()):
        scenario, _, check_id = ref.partition(":")
        for revision in revisions:
            identity = CheckIdentity(
                revision=revision,
                transport=OFFICIAL_HTTP,
                source="official",
                scenario=scenario,
                check_id=check_id,
            )
            if identity in baseline.passing and revision not in entry.revisions:
                yield (
                    f"{ref} passes at {revision}, where the suite calls the entry "
                    "stale: export one file per revision"
                )


def _warnings_let_pass(baseline: Baseline, named: Collection[str]) -> Iterator[str]:
    """The suite knows no policy: every WARNING that is not named fails."""
    warnings = baseline.warnings
    if warnings.default is CheckPolicy.WARN:
        yield "warnings: the baseline's policy lets them pass; they fail in the suite"
        return
    for ref, policy in sorted(warnings.checks.items()):
        if policy is CheckPolicy.WARN and ref not in named:
            yield f"{ref}: the baseline lets a warning pass; it fails in the suite"


def _header(
    baseline: Baseline, revisions: Sequence[str], left_out: Sequence[str]
) -> Iterator[str]:
    version = f" ({baseline.client_version})" if baseline.client_version else ""
    role = baseline.scope.role
    program = f"{baseline.client or f'a {role}'}{version}"
    yield from _comment(f"Expected failures of {program} at {', '.join(revisions)}.")
    yield from _comment(f"Suite: {baseline.suite.git_ref}")
    yield from _comment(
        "Written by `invoke baseline.export-expected-failures`; change the baseline."
    )
    yield from _comment(f"Use, after `conformance {_START[role]}`:")
    for revision in revisions:
        how = (
            f"--requirements {revision}"
            if revision in _HAS_REQUIREMENTS
            else f"--suite all --spec-version {revision}"
        )
        yield from _comment(f"  {how} --expected-failures FILE")
    yield from _comment(_LIMITS)
    if left_out:
        yield from _comment("What it cannot say:")
        for each in left_out:
            yield from _comment(f"* {each}")


def _comment(text: str, indent: str = "") -> Iterator[str]:
    """Comment lines; whatever a reason holds, none of it ends the comment."""
    for line in text.splitlines():
        yield f"{indent}# {printable(line)}".rstrip()
