"""
A report as Markdown: the summary of a CI job, below its size limit.

The gate's answer stands first where there is one, then what passed, then what the gate
finds, then a fold for each revision with its failures. Everything of a client is in a
code span, where it is text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.errors import UsageError
from mcpconf.render import failure
from mcpconf.render.markup import Section, address, code, command, fitted, table
from mcpconf.render.table import rates
from mcpconf.render.view import (
    GROUPS,
    RED_GROUPS,
    by_case,
    identity_in,
    standings,
    trouble,
    warns,
)
from mcpconf.view import evidence_of, role_word, views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpconf.identity import CheckIdentity
    from mcpconf.render.view import Standing
    from mcpconf.view import CheckView

    Report = Mapping[str, Any]
    Gate = Mapping[str, Any]
    Said = Mapping[CheckIdentity, Standing]

#: GitHub takes 1 MiB a step.
LIMIT_BYTES = 1_000_000
#: Verdict, client and pass rates always fit in this.
SMALLEST_BYTES = 8_000
_MANY = 20
_TITLES = {
    "newFailures": "New failures",
    "changedFailures": "Changed failures",
    "missingChecks": "Missing checks",
    "flaky": "Flaky",
    "fixedChecks": "Fixed: take these out of the baseline",
}


def render(
    report: Report, gate: Gate | None = None, *, limit_bytes: int = LIMIT_BYTES
) -> str:
    """
    The page, at most `limit_bytes` of UTF-8; a cut page says what it leaves out.

    :raises UsageError: a limit below `SMALLEST_BYTES`.
    """
    if limit_bytes < SMALLEST_BYTES:
        raise UsageError(f"limit {limit_bytes}: take {SMALLEST_BYTES} bytes or more")
    said = {} if gate is None else standings(gate)
    sections = [] if gate is None else list(_gate_sections(gate))
    sections += _verdict_sections(report)
    sections += _folds(report, said)
    return fitted(_head(report, gate), sections, limit_bytes)


# -- what is always there --------------------------------------------------------------


def _head(report: Report, gate: Gate | None) -> str:
    lines = []
    if gate is not None:
        partial = ", over a part of the baseline" if gate["scope"] != "whole" else ""
        lines += [f"# MCP conformance: gate {gate['verdict']}{partial}", ""]
        counts = [
            f"{len(gate[group])} {what}" for group, what in _COUNTED if gate[group]
        ]
        lines += [f"{', '.join(counts) or 'Nothing got worse'}.", ""]
        lines += [f"Verdict of the run by itself: **{report['verdict']}**", ""]
    else:
        lines += [f"# MCP conformance: {report['verdict']}", ""]
    if not report["complete"]:
        lines += ["**Incomplete: not every case has run; this is no verdict.**", ""]
    client, suite = report["client"], report["officialConformance"]["suite"]
    name = f"{client['title']}, {client['version']} ({client['source']})"
    lines.append(f"* {role_word(report).capitalize()}: {code(name, 200)}")
    name = f"{suite['package'] or 'unknown package'} {suite['version'] or '?'}"
    lines.append(
        f"* Suite: {code(name, 200)}, {report['officialConformance']['scope']}"
    )
    auth = "strict" if report["automaticAuthRequired"] else "assisted"
    lines.append(f"* Auth: {auth} mode; warnings: {report['policy']['warnings']}")
    headers, rows = rates(report)
    return "\n".join(lines) + "\n\n" + table(headers, rows)


_COUNTED = (
    ("newFailures", "new"),
    ("changedFailures", "changed"),
    ("missingChecks", "missing"),
    ("knownFailures", "expected"),
    ("fixedChecks", "fixed"),
    ("flaky", "flaky"),
    ("warnings", "allowed to warn"),
)


# -- what the gate and the verdict say -------------------------------------------------


def _gate_sections(gate: Gate) -> Iterator[Section]:
    yield _list("Not green, because", trouble(gate))
    for group in (*RED_GROUPS, "flaky", "fixedChecks"):
        title, findings = _TITLES[group], gate[group]
        yield Section(
            opening=f"\n## {title} ({len(findings)})\n\n",
            items=tuple(map(_findings, by_case(findings))),
            noun=f"scenarios under “{title}”",
        )
    unsaid = [f"no reviewed reason: {each}" for each in gate["unreasoned"]]
    left = [f"not compared: {each}" for each in gate["notCompared"]]
    yield _list("To know", [*left, *unsaid])


def _list(title: str, lines: Iterable[str]) -> Section:
    items = tuple(f"* {code(line, 600)}\n" for line in lines)
    return Section(opening=f"\n## {title}\n\n", items=items, noun=title.lower())


def _findings(findings: list[Mapping[str, Any]]) -> str:
    """What a gate finds in one scenario, and the line that runs it again."""
    where = identity_in(findings[0])
    lines = [f"* {code(f'{where.leg} / {where.scenario}')}"]
    for each in findings[:_MANY]:
        because = f", expected because {code(each['reason'])}" if each["reason"] else ""
        lines.append(f"  * {code(each['check_id'])}: {code(each['detail'])}{because}")
    if findings[_MANY:]:
        lines.append(f"  * and {len(findings) - _MANY} more checks")
    pages = dict.fromkeys(page for each in findings for page in each["pages"])
    lines += [f"  * page: {address(page)}" for page in pages]
    again = dict.fromkeys(each["reproduce"] for each in findings if each["reproduce"])
    lines += [f"  * again: {command(line)}" for line in again]
    return "\n".join(lines) + "\n"


def _verdict_sections(report: Report) -> Iterator[Section]:
    holes = [line.strip() for line in failure.no_verdict(report)]
    yield _list("No verdict, because", holes)
    left = [line.strip() for line in failure.unclosed(report)]
    yield _list("Left behind, and faults of the run", left)
    if report["policy"]["warnings"] == "warn":
        warned = [
            f"{view.leg} / {view.identity.ref}: {failure.clip(view.check['detail'])}"
            for case in report["cases"]
            for view in filter(warns, views(case))
        ]
        yield _list("Warnings", warned)


# -- a fold for each revision ----------------------------------------------------------


def _folds(report: Report, said: Said) -> Iterator[Section]:
    for revision in dict.fromkeys(case["mode"] for case in report["cases"]):
        cases = [case for case in report["cases"] if case["mode"] == revision]
        alike = [each for case in cases for each in failure.by_scenario(case, "FAIL")]
        checks = sum(map(len, alike))
        if not alike:
            continue
        title = f"{revision}: {checks} failed in {len(alike)} scenarios"
        yield Section(
            opening=f"\n<details><summary>{title}</summary>\n\n",
            items=tuple(_scenario(report, each, said) for each in alike),
            closing="\n</details>\n",
            noun=f"failing scenarios of {revision}",
        )


def _scenario(report: Report, alike: list[CheckView], said: Said) -> str:
    first, scenario = alike[0].check, alike[0].scenario
    variant = f" ({scenario['variant']})" if scenario["variant"] else ""
    name = f"{alike[0].leg} / {scenario['scenario']}{variant}"
    lines = [f"* {code(name)}: {scenario['outcome']}, {failure.whose(report, first)}"]
    lines += _checks(alike, said)
    lines += [
        f"  * run again, alone: {code(failure.rerun(each))}"
        for each in scenario["reruns"]
    ]
    if scenario["outcome"] in failure.JUDGED:  # else no page is about what happened
        pages = failure.pages_of([view.check for view in alike])
        lines += [f"  * page: {address(page)}" for page in pages]
    lines.append(f"  * evidence: {code(evidence_of(report, scenario))}")
    lines.append(f"  * again: {command(first['reproduce'])}")
    return "\n".join(lines) + "\n"


def _checks(alike: list[CheckView], said: Said) -> Iterator[str]:
    """A line a check; those that wait in vain for the same thing share one."""
    never: dict[str, list[str]] = {}
    found = []
    for view in alike:
        missing = failure.missing_of(view.check)
        if missing is None:
            found.append(view)
        else:
            never.setdefault(_note(view, said), []).append(code(missing))
    for note, names in never.items():
        yield f"  * never reached{note}: {', '.join(names)}"
    for view in found[:_MANY]:
        check = view.check
        label = check["name"].removeprefix(f"{check['source']}/{check['scenario']}/")
        detail = code(failure.clip(check["detail"]))
        yield f"  * {code(label)}{_note(view, said)}: {detail}"
    if found[_MANY:]:
        yield f"  * and {len(found) - _MANY} more checks"


def _note(view: CheckView, said: Said) -> str:
    """That a failed check only warns, and what the gate says of it."""
    notes = ["warning"] if view.is_warning else []
    standing = said.get(view.identity)
    if standing is not None:
        reason = standing.finding["reason"]
        because = f" because {code(reason)}" if reason else ""
        notes.append(f"{GROUPS[standing.group]}{because}")
    return f" ({', '.join(notes)})" if notes else ""
