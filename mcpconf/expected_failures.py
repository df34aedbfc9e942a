"""
The official suite's expected-failures file, read strictly.

The suite reads a mapping of ``server:`` and ``client:`` to lists; an entry is
``scenario`` or ``scenario:check-id``, cut at its first colon, and excuses that scenario
or every occurrence of that check. A misspelt key, scenario or check id is no fault to
it, and excuses nothing: here each is refused, by its line, and all at once.

`mcpconf.render.expected_failures` writes such a file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeGuard

import yaml

from mcpconf.baseline.entry import UNREASONED, FailureClass
from mcpconf.baseline.known import did_you_mean
from mcpconf.decode import load_bytes
from mcpconf.errors import DecodeError, UsageError
from mcpconf.identity import OFFICIAL_HTTP
from mcpconf.record import Role
from mcpconf.revision import Revision
from mcpconf.strict_yaml import compose, line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from mcpconf.baseline.entry import Baseline, Explanation
    from mcpconf.identity import CheckIdentity
    from mcpconf.suite.catalogue import Catalogue

#: A thousand times the longest file in use; enough to read at once.
MAX_BYTES = 256 * 1024
#: Check ids that the suite adds to any scenario; a catalogue has them where seen.
WIRE_CHECKS = frozenset({"wire-schema-valid", "wire-schema-harness-error"})

_ROLES = ("server", "client")
_STRING = "tag:yaml.org,2002:str"
#: Ends that nothing excuses; no baseline should hold one.
_NEVER = frozenset({"crashed", "timed-out"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One entry of the list of a role, ``client:`` or ``server:``."""

    scenario: str
    #: None excuses the whole scenario.
    check_id: str | None
    #: Where it stands, from 1.
    line: int

    def __str__(self) -> str:
        if self.check_id is None:
            return self.scenario
        return f"{self.scenario}:{self.check_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFailuresFile:
    """What one file says; its order is kept."""

    source: str
    #: Whose list was read.
    role: Role
    #: Its entries about the selected revisions.
    entries: tuple[FileEntry, ...]
    #: Entries the suite knows and no selected revision asks for.
    elsewhere: tuple[FileEntry, ...]
    #: Entries of the other role's list.
    others: tuple[FileEntry, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What of the file is not used, for who imports it."""
        unused = [
            f"{self.source}: line {each.line}: {each}: not used: no selected revision "
            "has it"
            for each in self.elsewhere
        ]
        if self.others:
            (other,) = (each for each in Role if each is not self.role)
            unused.append(
                f"{self.source}: {other}: not used, a {self.role} is judged "
                f"({len(self.others)} listed)"
            )
        return tuple(unused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """A baseline with the reasons a file gives, and where the two differ."""

    baseline: Baseline
    #: Entries that name an expected failure of the baseline.
    named: tuple[FileEntry, ...]
    #: Entries that name nothing but what passes: to be taken out of the file.
    stale: tuple[FileEntry, ...]
    #: Entries that name what was neither failed nor passed.
    unseen: tuple[FileEntry, ...]
    #: Failures the file could name and does not; sorted.
    unnamed: tuple[CheckIdentity, ...]
    #: Failures that no such file can name: of ours, and of the harness; sorted.
    beyond: tuple[CheckIdentity, ...]


def load(
    path: Path, *, catalogue: Catalogue, revisions: Collection[str]
) -> ExpectedFailuresFile:
    """
    Read one file of at most `MAX_BYTES` bytes.

    :raises DecodeError: unreadable, too large, not UTF-8, or refused by `parse`.
    """
    content = load_bytes(path, max_bytes=MAX_BYTES)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError(path, f"byte {error.start}", "is not UTF-8") from None
    return parse(text, path, catalogue=catalogue, revisions=revisions)


def parse(
    text: str,
    source: Path | str,
    *,
    catalogue: Catalogue,
    revisions: Collection[str],
) -> ExpectedFailuresFile:
    """
    Decode an expected-failures file; `revisions` are those the program is judged by.

    The catalogue's role says which of its lists is meant.

    :raises DecodeError: no such file; every problem, each with its line.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise DecodeError(source, "", f"is larger than {MAX_BYTES} bytes")
    root = compose(text, source)
    problems: list[tuple[int, str]] = []

    def complain(line: int, problem: str) -> None:
        problems.append((line, problem))

    lists = _roles(root, source, complain)
    entries = {role: tuple(_entries(node, complain)) for role, node in lists.items()}
    for found in entries.values():
        _compare(found, complain)
    role = catalogue.role
    mine = entries.get(role, ())
    _compare_with_catalogue(mine, catalogue, complain)
    if problems:
        by_line = [f"line {line}: {problem}" for line, problem in sorted(problems)]
        raise DecodeError(source, "", "; ".join(by_line))
    if role not in lists:
        raise DecodeError(
            source, "", f"has no list `{role}:`; write `{role}: []` if nothing fails"
        )
    used = [each for each in mine if _is_selected(each, catalogue, revisions)]
    return ExpectedFailuresFile(
        source=str(source),
        role=role,
        entries=tuple(used),
        elsewhere=tuple(each for each in mine if each not in used),
        others=tuple(
            each for name, found in entries.items() if name != role for each in found
        ),
    )


def _roles(
    root: yaml.Node | None, source: Path | str, complain: Callable[[int, str], None]
) -> dict[str, yaml.SequenceNode]:
    if root is None:
        raise DecodeError(source, "", "is empty; expected `client:` and a list")
    if not isinstance(root, yaml.MappingNode):
        raise DecodeError(source, "line 1", "expected `client:` and a list")
    lists: dict[str, yaml.SequenceNode] = {}
    seen: set[str] = set()
    for key, value in root.value:
        line, name = line_of(key), key.value if _is_string(key) else None
        if name not in _ROLES:
            shown = name if name is not None else "a key that is no string"
            complain(line, f"unknown key {shown}; known: {', '.join(_ROLES)}")
        elif name in seen:
            complain(line, f"a second `{name}:`; merge the two")
        elif not isinstance(value, yaml.SequenceNode):
            complain(line, f"`{name}:` must be a list")
        else:
            lists[name] = value
        seen.add(str(name))
    return lists


def _entries(
    node: yaml.SequenceNode, complain: Callable[[int, str], None]
) -> Iterator[FileEntry]:
    for each in node.value:
        if isinstance(each, yaml.MappingNode):
            complain(
                line_of(each),
                "a mapping; `scenario:check-id` has no space after the colon",
            )
        elif not _is_string(each):
            complain(line_of(each), "an entry is `scenario` or `scenario:check-id`")
        else:
            # As the suite does: the first colon ends the scenario, an id may have more.
            scenario, colon, check_id = each.value.partition(":")
            if scenario and bool(colon) == bool(check_id):
                yield FileEntry(
                    scenario=scenario, check_id=check_id or None, line=line_of(each)
                )
            else:
                complain(line_of(each), f"`{each.value}`: something is missing")


def _compare(
    entries: Sequence[FileEntry], complain: Callable[[int, str], None]
) -> None:
    """Refuse what is said twice; the suite refuses the second kind only."""
    whole = {each.scenario for each in entries if each.check_id is None}
    first: dict[str, int] = {}
    for each in entries:
        if str(each) in first:
            complain(each.line, f"{each} is in line {first[str(each)]} already")
        elif each.check_id is not None and each.scenario in whole:
            complain(
                each.line, f"{each}: the whole of {each.scenario} is listed already"
            )
        first.setdefault(str(each), each.line)


def _compare_with_catalogue(
    entries: Sequence[FileEntry],
    catalogue: Catalogue,
    complain: Callable[[int, str], None],
) -> None:
    """Refuse a name that the suite does not have at any revision."""
    ids: dict[str, set[str]] = {}
    for scenarios in catalogue.revisions.values():
        for each in scenarios:
            ids.setdefault(each.scenario, set(WIRE_CHECKS)).update(each.checks)
    for entry in entries:
        if entry.scenario in catalogue.unassigned:
            continue  # which checks these have is not in the catalogue
        known = ids.get(entry.scenario)
        if known is None:
            hint = did_you_mean(entry.scenario, [*ids, *catalogue.unassigned])
            complain(entry.line, f"{entry.scenario}: no scenario of the suite{hint}")
        elif entry.check_id is not None and entry.check_id not in known:
            hint = did_you_mean(entry.check_id, known)
            complain(entry.line, f"{entry}: no check of that scenario{hint}")


def _is_selected(
    entry: FileEntry, catalogue: Catalogue, revisions: Collection[str]
) -> bool:
    known = [
        found
        for revision in Revision
        if revision.value in revisions
        and (found := catalogue.entry(revision, entry.scenario)) is not None
    ]
    if entry.check_id is None or entry.check_id in WIRE_CHECKS:
        return bool(known)
    return any(entry.check_id in each.checks for each in known)


def _is_string(node: yaml.Node) -> TypeGuard[yaml.ScalarNode]:
    return isinstance(node, yaml.ScalarNode) and node.tag == _STRING


def merge_into(baseline: Baseline, file: ExpectedFailuresFile) -> Import:
    """
    A baseline just extracted from a report, with what a file says of its failures.

    An expected failure that the file names and nobody has given a reason yet says that
    it was imported; its class stays unreviewed. No failure is added or taken away, and
    a crash or time-out is never named.

    :raises UsageError: a baseline of version 1, which holds no reasons.
    """
    if baseline.version != 2:  # noqa: PLR2004 (the version)
        raise UsageError(
            "a baseline of version 1 holds no reasons: `invoke baseline.migrate` first"
        )
    reason = f"imported from {PurePath(file.source).name}"
    entries: dict[str, list[FileEntry]] = {}
    for each in file.entries:
        entries.setdefault(each.scenario, []).append(each)
    by_check = {
        identity: [
            each
            for each in entries.get(identity.scenario, ())
            if _names(each, identity)
        ]
        for identity in (*baseline.failing, *baseline.passing)
    }
    excused = {
        identity
        for identity, failure in baseline.failing.items()
        if by_check[identity] and failure.outcome not in _NEVER
    }
    whole = {
        (identity.leg, identity.scenario)
        for identity in excused
        if any(each.check_id is None for each in by_check[identity])
    }
    # Who expects a whole scenario to fail expects its driver to.
    excused |= {
        identity
        for identity in baseline.failing
        if identity.source == "harness" and (identity.leg, identity.scenario) in whole
    }
    missing = {each.scenario for each in baseline.unsupported}
    named = {each for identity in excused for each in by_check[identity]} | {
        each for each in file.entries if each.scenario in missing
    }
    failing = {each for identity in baseline.failing for each in by_check[identity]}
    passing = {each for identity in baseline.passing for each in by_check[identity]}
    left = sorted(set(baseline.failing) - excused)
    rest = [each for each in file.entries if each not in named]
    return Import(
        baseline=_reasoned(
            baseline, excused, {each.scenario for each in named}, reason
        ),
        named=tuple(each for each in file.entries if each in named),
        stale=tuple(each for each in rest if each in passing - failing),
        unseen=tuple(each for each in rest if each not in passing - failing),
        unnamed=tuple(each for each in left if each.source == "official"),
        beyond=tuple(each for each in left if each.source != "official"),
    )


def _names(entry: FileEntry, identity: CheckIdentity) -> bool:
    """Whether an entry of its scenario names a check."""
    return (
        identity.source == "official"
        and identity.transport == OFFICIAL_HTTP
        and entry.check_id in {None, identity.check_id}
    )


def _reasoned(
    baseline: Baseline,
    excused: Collection[CheckIdentity],
    scenarios: Collection[str],
    reason: str,
) -> Baseline:
    """The baseline with a reason where nobody has given one."""

    def explained(given: Explanation) -> Explanation:
        if given.reason != UNREASONED:
            return given
        return replace(given, reason=reason, failure_class=FailureClass.UNREVIEWED)

    return replace(
        baseline,
        failing={
            identity: replace(failure, explanation=explained(failure.explanation))
            if identity in excused and failure.explanation is not None
            else failure
            for identity, failure in baseline.failing.items()
        },
        unsupported=tuple(
            replace(each, explanation=explained(each.explanation))
            if each.scenario in scenarios
            else each
            for each in baseline.unsupported
        ),
    )
