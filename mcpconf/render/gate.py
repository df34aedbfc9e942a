"""The gate's answer on a terminal: the verdict, what got worse, what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from mcpconf.gate_record import GateVerdict
from mcpconf.render.text import one_line, printable, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpconf.gate_record import GateFinding, GateResult

#: Findings of one group that are shown; the rest is in ``gate.json``.
_SHOWN = 40
#: Of a message of a client.
_DETAIL = 400
_AGAIN = "    again: "
_DIFF = "invoke baseline.diff"
_EXTRACT = "invoke baseline.extract"


def render(result: GateResult, *, width: int | None = None, full: bool = False) -> str:
    """
    The answer, for people; `full` also lists what is known, new and warned of.

    No line is wider than `width`, where it is given, but for words that are.
    """
    lines = [_headline(result)]
    lines += [f"  not compared: {each}" for each in result.not_compared]
    for title, sentences in (
        ("Cannot be compared", result.configuration_errors),
        ("Not known", result.holes),
        ("Demanded", result.demands),
    ):
        lines += _listed(title, sentences, full=full)
    if result.verdict is GateVerdict.REFUSED:  # of nothing else can anything be said
        lines += _next(result)
        return _page(lines, width)
    for title, findings, is_shown in (
        ("New failures", result.new_failures, True),
        ("Changed failures", result.changed_failures, True),
        ("Missing", result.missing_checks, True),
        ("Flaky", result.flaky, True),
        ("Fixed", result.fixed_checks, True),
        ("Warnings", result.warnings, full),
        ("Known failures", result.known_failures, full),
        ("New checks", result.new_checks, full),
    ):
        lines += _group(title, findings, full=full) if is_shown else ()
    if full:
        lines += _listed("Known to be unsupported", result.known_unsupported, full=full)
    lines += _listed("Without a reviewed reason", result.unreasoned, full=full)
    lines += _next(result)
    return _page(lines, width)


def _page(lines: Sequence[str], width: int | None) -> str:
    return "\n".join(_line(each, width) for each in lines) + "\n"


def _line(line: str, width: int | None) -> str:
    """One line, whoever wrote what is in it; what is to be copied stays whole."""
    flat = printable(line.replace("\n", " "))
    return flat if width is None or line.startswith(_AGAIN) else wrapped(flat, width)


def _headline(result: GateResult) -> str:
    if result.verdict is GateVerdict.REFUSED:
        number = len(result.configuration_errors)
        return f"Gate: REFUSED: {_count(number, 'reason')} not to compare"
    counts = [
        _count(len(result.new_failures), "new failure"),
        f"{len(result.missing_checks)} missing",
        f"{len(result.known_failures)} known{_classes(result.known_failures)}",
        f"{len(result.fixed_checks)} fixed",
    ]
    if result.changed_failures:
        counts.insert(1, f"{len(result.changed_failures)} changed")
    if result.flaky:
        counts.append(f"{len(result.flaky)} flaky")
    if result.warnings:
        counts.append(_count(len(result.warnings), "forgiven warning"))
    if result.holes:
        counts.insert(0, _count(len(result.holes), "hole"))
    if result.known_unsupported:
        counts.append(f"{len(result.known_unsupported)} unsupported")
    partial = " (partial)" if result.scope == "partial" else ""
    return f"Gate: {result.verdict.value}: {', '.join(counts)}{partial}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _classes(findings: Sequence[GateFinding]) -> str:
    """Whose doing the known failures are, as far as anybody has said."""
    found = Counter(each.failure_class for each in findings if each.failure_class)
    parts = [f"{number} {name}" for name, number in sorted(found.items())]
    return f" ({', '.join(parts)})" if parts else ""


def _listed(title: str, sentences: Sequence[str], *, full: bool) -> Iterator[str]:
    if not sentences:
        return
    yield ""
    yield f"{title} ({len(sentences)})"
    shown = sentences if full else sentences[:_SHOWN]
    yield from (f"  {one_line(each, _DETAIL)}" for each in shown)
    yield from _rest(len(sentences) - len(shown))


def _group(title: str, findings: Sequence[GateFinding], *, full: bool) -> Iterator[str]:
    if not findings:
        return
    yield ""
    yield f"{title} ({len(findings)})"
    shown = findings if full else findings[:_SHOWN]
    for each in shown:
        yield f"  {each.identity}"
        blame = (
            "" if each.attribution in {None, "subject"} else f" [{each.attribution}]"
        )
        yield f"    {one_line(each.detail, _DETAIL)}{blame}"
        if each.reason is not None:
            said = one_line(each.reason, _DETAIL)
            yield f"    expected: {said}" + (
                f" [{each.failure_class}]" if each.failure_class else ""
            )
        yield from (f"    page: {page}" for page in each.pages)
        if each.reproduce is not None:
            yield f"{_AGAIN}{each.reproduce}"
    yield from _rest(len(findings) - len(shown))


def _rest(number: int) -> Iterator[str]:
    if number:
        yield f"  and {number} more, in gate.json"


def _next(result: GateResult) -> Iterator[str]:
    """What to do about it; nothing where nothing is to be done."""
    steps = []
    baseline = shlex.quote(result.inputs.get("baseline", "BASELINE"))
    report = shlex.quote(result.inputs.get("report", "REPORT"))
    extract = f"`{_EXTRACT} --report {report} --out {baseline}`"
    if result.verdict is GateVerdict.REFUSED:
        steps.append("make both sides comparable, as said above; nothing else counts")
    elif result.verdict is GateVerdict.INCOMPLETE:
        steps.append("mend what is not known and run again; it is no regression yet")
    elif result.new_failures or result.missing_checks or result.changed_failures:
        steps += [
            "run one again with its line above, and mend it",
            f"see all of it as a table: `{_DIFF} {baseline} {report}`",
            f"meant? {extract}, and give it a reason",
        ]
    if result.fixed_checks and result.verdict is not GateVerdict.REFUSED:
        steps.append(f"take what is fixed out of the baseline: {extract}")
    if steps:
        yield ""
        yield "Next"
        yield from (f"  {each}" for each in steps)
