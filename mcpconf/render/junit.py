"""
A report as JUnit XML: a testsuite for each leg, a testcase for each check that counts.

Without a gate a testcase is red where its check failed: a ``failure`` where that is the
client's doing, an ``error`` where it is not, or where the check was never held. With a
gate it is red where the gate is: what is known is skipped, as an expected failure is in
pytest, and where the gate is green no testcase is red. One more testsuite says what no
check can: that a run is incomplete, what a gate refuses, which checks are missing.

A scenario's time stands at its first testcase; the others take none.
"""

# mypy: untyped-calls-exclude=junitparser
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree as ET

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from mcpconf.render import failure
from mcpconf.render.text import one_line, printable
from mcpconf.render.view import GROUPS, RED_GROUPS, identity_in, standings, trouble
from mcpconf.view import evidence_of, leg_of, role_word, views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.identity import CheckIdentity
    from mcpconf.render.view import Standing
    from mcpconf.view import CheckView

    Report = Mapping[str, Any]
    Gate = Mapping[str, Any]
    #: A testcase passes where it has none.
    Result = Failure | Error | Skipped | None

_R = TypeVar("_R", Failure, Error, Skipped)
_MESSAGE, _DETAIL = 300, 8_000
#: Scenarios that were not held, and by no choice of the client's.
_NEVER_HELD = frozenset({"not-run", "harness-error", "suite-defect"})
_RUN = "run"


def render(report: Report, gate: Gate | None = None) -> bytes:
    """The XML document, UTF-8; equal reports and gates give equal bytes."""
    said = {} if gate is None else standings(gate)
    document = JUnitXml(name="mcpconf")
    document.append(_run_suite(report, gate))
    for case in report["cases"]:
        suite = TestSuite(name=_clean(str(leg_of(case))))
        suite.timestamp = _timestamp(report)
        for testcase in _testcases(report, case, gate, said):
            suite.append(testcase)
        document.append(_counted(suite))
    document.update_statistics()
    return _bytes(document)


def _bytes(document: JUnitXml) -> bytes:
    # junitparser writes with lxml where that is installed, and then otherwise.
    root = ET.fromstring(document.tostring())  # noqa: S314 (written just above)
    for element in root.iter():
        # The common schema counts skipped testcases in a testsuite alone.
        if element.tag == "testsuites":
            element.attrib.pop("skipped", None)
        if "time" in element.attrib:
            element.set("time", f"{float(element.attrib['time']):.3f}")
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _clean(text: str, limit: int = _MESSAGE) -> str:
    """What XML can hold, and nothing that reorders text for its reader."""
    head = text if len(text) <= limit else f"{text[:limit]}…"
    return printable(head.replace("\r\n", "\n").replace("\t", " "))


def _timestamp(report: Report) -> str:
    """To the second: the schema knows no fractions, and no offset from UTC."""
    return _clean(report["startedAt"][:19])


def _counted(suite: TestSuite) -> TestSuite:
    suite.update_statistics()
    return suite


# -- the checks ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Told:
    """Why a testcase is not passed."""

    message: str
    text: str


def _testcases(
    report: Report,
    case: Mapping[str, Any],
    gate: Gate | None,
    said: Mapping[CheckIdentity, Standing],
) -> Iterator[TestCase]:
    timed: set[str] = set()
    for view in views(case):
        testcase = TestCase(
            name=_clean(view.check["name"]),
            classname=_clean(f"{view.leg}.{view.scenario['scenario']}"),
            time=0.0,
        )
        if view.scenario["evidence"] not in timed:
            timed.add(view.scenario["evidence"])
            testcase.time = float(view.scenario["duration_seconds"])
        told = _Told(
            message=failure.clip(view.check["detail"]), text=_text(report, view)
        )
        result = _plain(view, told)
        if gate is not None:
            result = _gated(result, gate, said.get(view.identity), told)
        if result is not None:
            testcase.result = result
        yield testcase


def _text(report: Report, view: CheckView) -> str:
    """All that is known of a check; what a client wrote is at the end of it."""
    check, scenario = view.check, view.scenario
    lines = [f"{view.leg} / {view.identity.ref}: {view.outcome}"]
    if "attribution" in check:
        lines[0] += f", {failure.whose(report, check)}"
    if check.get("demand"):
        lines.append(f"{check['level']}: {check['demand']}")
    lines += [f"page: {page}" for page in failure.pages_of([check])]
    lines += [f"run again, alone: {failure.rerun(each)}" for each in scenario["reruns"]]
    lines.append(f"evidence: {evidence_of(report, scenario)}")
    lines.append(f"again: {check.get('reproduce', scenario['reproduce'])}")
    return "\n".join([*lines, "", check["detail"]])


def _result(kind: type[_R], type_: str, message: str, text: str) -> _R:
    result = kind(_clean(message), _clean(type_))
    result.text = _clean(text, _DETAIL)
    return result


def _failure(type_: str, told: _Told) -> Failure:
    return _result(Failure, type_, told.message, told.text)


def _error(type_: str, told: _Told) -> Error:
    return _result(Error, type_, told.message, told.text)


def _skipped(type_: str, message: str, told: _Told) -> Skipped:
    return _result(Skipped, type_, message, told.text)


def _plain(view: CheckView, told: _Told) -> Result:
    """What a check is by itself."""
    kind = "warning" if view.is_warning else view.outcome
    if view.check["status"] == "PASS":
        return None
    if view.check["status"] == "SKIP":
        if view.outcome in _NEVER_HELD:
            return _error(view.outcome, told)
        kind = "skipped" if kind == "passed" else kind
        return _skipped(kind, f"{kind}: {told.message}", told)
    if view.outcome == "flaky":
        return _failure(view.outcome, told)
    if view.check["attribution"] != "subject":
        return _error(f"{view.outcome} ({view.check['attribution']})", told)
    return _failure(kind, told)


def _gated(plain: Result, gate: Gate, standing: Standing | None, told: _Told) -> Result:
    """What a check is to a gate: as red as the gate is, and never greener."""
    if plain is None:
        return None  # of several with one identity, this is one that passed
    if standing is not None:
        said = _said(plain, standing, told)
        if said is not None:
            return said
    if gate["success"] and isinstance(plain, Failure | Error):
        why = "flaky, within the budget" if standing else "not compared"
        return _skipped(why, f"{why}: {told.message}", told)
    return plain


def _said(plain: Result, standing: Standing, told: _Told) -> Result:
    """What a gate makes of a check that did not pass; None: nothing else than it is."""
    what, finding = GROUPS[standing.group], standing.finding
    if standing.group in RED_GROUPS:
        detail = finding["detail"]
        whole = _Told(message=failure.clip(detail), text=f"{detail}\n{told.text}")
        is_error = isinstance(plain, Error)
        return _error(what, whole) if is_error else _failure(what, whole)
    if standing.group == "knownFailures":
        reason = finding["reason"] or "no reason is written down"
        return _skipped(what, f"{what}: {reason}", told)
    if standing.group == "warnings":
        return _skipped(what, f"{what}: {told.message}", told)
    return None


# -- the run as a whole --------------------------------------------------------------


def _run_suite(report: Report, gate: Gate | None) -> TestSuite:
    """What no check says: no verdict, what a gate refuses, what is not there at all."""
    suite = TestSuite(name=_RUN)
    suite.timestamp = _timestamp(report)
    client, suites = report["client"], report["officialConformance"]["suite"]
    suite.add_property(
        role_word(report), _clean(f"{client['title']} {client['version']}")
    )
    suite.add_property(
        "suite", _clean(f"{suites['package'] or '?'} {suites['version'] or '?'}")
    )
    suite.add_property("run", _clean(report["run"]["id"]))
    suite.add_property("verdict", report["verdict"])
    verdict = TestCase(name="verdict", classname=_RUN, time=0.0)
    result = _ungated(report) if gate is None else _of_gate(gate)
    if result is not None:
        verdict.result = result
    suite.append(verdict)
    for testcase in () if gate is None else _absent(report, gate):
        suite.append(testcase)
    return _counted(suite)


def _ungated(report: Report) -> Result:
    if report["verdict"] != "INCONCLUSIVE":
        return None  # what failed is a testcase of its own
    lines = [line.strip() for line in failure.no_verdict(report)]
    lines += [line.strip() for line in failure.unclosed(report)]
    if not report["complete"]:
        lines.insert(0, "not every case has run")
    message = f"the run is inconclusive: {one_line('; '.join(lines), _MESSAGE)}"
    return _error("inconclusive", _Told(message=message, text="\n".join(lines)))


def _of_gate(gate: Gate) -> Result:
    if gate["success"]:
        return None
    counts = [f"{len(gate[name])} {what}(s)" for name, what in GROUPS.items()]
    lines = [*trouble(gate), ", ".join(counts[: len(RED_GROUPS)])]
    told = _Told(message=f"the gate is {gate['verdict']}", text="\n".join(lines))
    if gate["verdict"] == "REGRESSED":
        return _failure("gate", told)
    return _error("gate", told)


def _absent(report: Report, gate: Gate) -> Iterator[TestCase]:
    """What a gate misses and no leg of the report has a testcase for."""
    present = {view.identity for case in report["cases"] for view in views(case)}
    for finding in gate["missingChecks"]:
        identity = identity_in(finding)
        if identity not in present:
            testcase = TestCase(
                name=_clean(f"{identity.source}/{identity.ref}"),
                classname=_clean(f"{identity.leg}.{identity.scenario}"),
                time=0.0,
            )
            again = finding["reproduce"] or "its leg or scenario did not run"
            told = _Told(
                message=failure.clip(finding["detail"]),
                text=f"{finding['detail']}\nagain: {again}",
            )
            testcase.result = _failure(GROUPS["missingChecks"], told)
            yield testcase
