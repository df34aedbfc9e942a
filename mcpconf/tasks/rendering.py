"""``report.*`` again: the renderers, and shards joined; nothing is run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invoke.exceptions import Exit
from invoke.tasks import task

from mcpconf.tasks.base import (
    Several,
    check_apart,
    refusing,
    report_path,
    say,
    stored_report,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from invoke.context import Context

_REPORT = "A stored report, .mcpconf/report.json for the latest, or a run."
_GATE = "The gate's answer about it (default: gate.json beside it, where it is its)."
_OUT = "Write it here instead of to standard output."


def _rendered(
    report: str, gate: str, out: str, render: Callable[[Any, Any, Path], bytes]
) -> None:
    """Render a stored report and what the gate said of it, whole, into `out`."""
    from mcpconf import gating  # noqa: PLC0415
    from mcpconf.storage import write_whole  # noqa: PLC0415

    def content() -> bytes:
        check_apart(out, report, *([gate] if gate else []))
        path, value = stored_report(report)
        beside = path.parent / gating.GATE
        answer = gating.load_answer(
            Path(gate) if gate else beside, path, named=bool(gate)
        )
        made = render(value, answer, path)
        if out:
            write_whole(Path(out), made)
        return made

    made = refusing(content)
    if out:
        say(f"Written: {out}")
    else:
        sys.stdout.buffer.write(made)
        sys.stdout.buffer.flush()


@task(
    name="html",
    positional=["report"],
    help={"report": _REPORT, "gate": _GATE, "out": "Where (default: beside it)."},
    auto_shortflags=False,
)
def report_html(_: Context, report: str, gate: str = "", out: str = "") -> None:
    """Write a report as one HTML file, with the wire logs of its run."""
    from mcpconf.render.html.load import load_transcripts  # noqa: PLC0415
    from mcpconf.render.html.page import render  # noqa: PLC0415

    def page(value: Any, answer: Any, path: Path) -> bytes:  # noqa: ANN401
        # The report in a run's own folder names its evidence as the latest one does.
        is_runs = path.parent.name == value["run"]["id"]
        place = path.parent.parent.parent if is_runs else path.parent
        transcripts = load_transcripts(value, place)
        return render(value, transcripts, answer).encode()

    beside = report_path(report).with_suffix(".html")
    _rendered(report, gate, out or str(beside), page)


@task(
    name="markdown",
    positional=["report"],
    help={"report": _REPORT, "gate": _GATE, "out": _OUT},
    auto_shortflags=False,
)
def report_markdown(_: Context, report: str, gate: str = "", out: str = "") -> None:
    """Render a report as Markdown: the summary of a CI job."""
    from mcpconf.render import markdown  # noqa: PLC0415

    _rendered(report, gate, out, lambda v, a, _: markdown.render(v, a).encode())


@task(
    name="junit",
    positional=["report"],
    help={"report": _REPORT, "gate": _GATE, "out": _OUT},
    auto_shortflags=False,
)
def report_junit(_: Context, report: str, gate: str = "", out: str = "") -> None:
    """Render a report as JUnit XML; what is expected to fail is skipped in it."""
    from mcpconf.render import junit  # noqa: PLC0415

    _rendered(report, gate, out, lambda v, a, _: junit.render(v, a))


@task(
    name="annotations",
    positional=["report"],
    help={"report": _REPORT, "gate": _GATE, "out": _OUT},
    auto_shortflags=False,
)
def report_annotations(_: Context, report: str, gate: str = "", out: str = "") -> None:
    """Render what matters of a report as workflow commands of GitHub."""
    from mcpconf.render import annotation  # noqa: PLC0415

    _rendered(report, gate, out, lambda v, a, _: annotation.render(v, a).encode())


@task(
    name="badge",
    positional=["report"],
    help={
        "report": _REPORT,
        "gate": _GATE,
        "out": _OUT,
        "revision": "One revision (default: all of the report).",
    },
    auto_shortflags=False,
)
def report_badge(
    _: Context, report: str, gate: str = "", out: str = "", revision: str = ""
) -> None:
    """Render a report as the JSON that a shields badge is made of."""
    from mcpconf.render import badge  # noqa: PLC0415

    def made(value: Any, answer: Any, _: Path) -> bytes:  # noqa: ANN401
        return badge.render(value, answer, revision=revision or None)

    _rendered(report, gate, out, made)


@task(
    name="merge",
    klass=Several,
    positional=["report"],
    help={
        "report": "The reports of all shards, as words: 1.json 2.json 3.json.",
        "out": "Where to write the one report (default: merged.json).",
    },
    auto_shortflags=False,
)
def report_merge(
    _: Context, report: str, out: str = "merged.json", **more: str
) -> None:
    """Make one report of the shards of a run; the exit code is the report's."""
    from mcpconf.decode import Reader  # noqa: PLC0415
    from mcpconf.merge import merge  # noqa: PLC0415
    from mcpconf.origin import role_of  # noqa: PLC0415
    from mcpconf.storage import write_json  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    def merged() -> Any:  # noqa: ANN401
        check_apart(out, report, *more.values())
        parts = [stored_report(each) for each in (report, *more.values())]
        role = role_of(Reader(parts[0][1], parts[0][0]))
        named = [(str(path), value) for path, value in parts]
        built = merge(named, load_catalogue(role=role))
        write_json(Path(out), built.value)
        return built

    built = refusing(merged)
    say(f"{built.verdict.value}: {1 + len(more)} shards: {out}")
    raise Exit(code=int(built.exit_code))


TASKS = (
    report_html,
    report_markdown,
    report_junit,
    report_annotations,
    report_badge,
    report_merge,
)
