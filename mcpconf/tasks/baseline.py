"""``baseline.*``: what a client is known to fail, from reports; nothing is run."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.tasks import task

from mcpconf.tasks.base import (
    LATEST,
    check_apart,
    number,
    refusing,
    report_path,
    say,
    stored_report,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from invoke.context import Context

    from mcpconf.baseline.entry import Baseline
    from mcpconf.baseline.extract import Extraction


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


def _baseline(path: Path, *, is_forerunner: bool = False) -> Baseline:
    from mcpconf.baseline.decode import load_baseline  # noqa: PLC0415

    return load_baseline(path, today=_today(), is_forerunner=is_forerunner)


def _shipping(text: str) -> tuple[str, ...] | None:
    from mcpconf.errors import UsageError  # noqa: PLC0415
    from mcpconf.revision import Revision  # noqa: PLC0415

    if not text:
        return None
    names = () if text == "none" else tuple(text.split(","))
    unknown = [name for name in names if name not in set(Revision)]
    if unknown:
        known = ", ".join(Revision)
        raise UsageError(f"--shipping {text}: {unknown[0]} is not one of {known}")
    return names


def _extracted(
    report: str,
    out: Path,
    version: int,
    *,
    shipping: tuple[str, ...] | None = None,
    then: Callable[[Baseline], Baseline] = lambda made: made,
) -> Extraction:
    """Extract over what is at `out`, and write what `then` makes of it, in one lock."""
    from mcpconf.baseline.extract import extract  # noqa: PLC0415
    from mcpconf.baseline.store import update  # noqa: PLC0415
    from mcpconf.observed import load_observed  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    made = []
    run = load_observed(report_path(report))
    catalogue = load_catalogue(role=run.scope.role)

    def make(older: Baseline | None) -> Baseline:
        extraction = extract(
            run,
            version=version,
            older=older,
            catalogue=catalogue,
            today=_today(),
            shipping=shipping,
        )
        made.append(extraction)
        return then(extraction.baseline)

    def load(older: Path) -> Baseline:
        return _baseline(older, is_forerunner=True)

    update(out, make, load=load)
    return made[0]


@task(
    name="extract",
    help={
        "out": "Where to write it; reasons are carried over from what is there.",
        "report": "A stored report (default: the latest, .mcpconf/report.json).",
        "format-version": "2, with reasons; or 1, the original harness's.",
        "shipping": "Revisions whose official scenarios must be green, with commas "
        "between, or none (default: as it was; at first 2025-06-18).",
    },
    auto_shortflags=False,
)
def baseline_extract(
    _: Context,
    out: str,
    report: str = LATEST,
    format_version: str = "2",
    shipping: str = "",
) -> None:
    """Make a baseline of a report: compact, deterministic; nothing is run."""
    from mcpconf.errors import UsageError  # noqa: PLC0415
    from mcpconf.render.baseline import render_extraction  # noqa: PLC0415

    def made() -> Extraction:
        version = number("--format-version", format_version)
        if version not in {1, 2}:
            raise UsageError(f"--format-version {format_version}: 1 or 2")
        return _extracted(report, Path(out), version, shipping=_shipping(shipping))

    say(render_extraction(refusing(made)))
    say(f"Baseline: {out}")


@task(
    name="diff",
    positional=["baseline", "report"],
    help={
        "baseline": "A baseline.",
        "report": "A stored report, .mcpconf/report.json for the latest, or a run.",
    },
    auto_shortflags=False,
)
def baseline_diff(_: Context, baseline: str, report: str) -> None:
    """Show what a report has that a baseline does not: new, fixed, missing, changed."""
    from mcpconf.baseline.diff import diff  # noqa: PLC0415
    from mcpconf.observed import load_observed  # noqa: PLC0415
    from mcpconf.render.baseline import render_diff  # noqa: PLC0415

    def shown() -> str:
        known = _baseline(Path(baseline))
        return render_diff(diff(known, load_observed(report_path(report))))

    say(refusing(shown))


@task(
    name="migrate",
    positional=["baseline"],
    help={
        "baseline": "A baseline of version 1.",
        "out": "Where to write version 2.",
        "client": "The client it is about.",
        "client-version": "Its version, as a report says it.",
    },
    auto_shortflags=False,
)
def baseline_migrate(
    _: Context, baseline: str, out: str, client_version: str, client: str = "codex"
) -> None:
    """Make a version 2 baseline of a version 1 one; every entry waits for a reason."""
    from mcpconf.baseline.migrate import migrate  # noqa: PLC0415
    from mcpconf.baseline.store import write_baseline  # noqa: PLC0415
    from mcpconf.errors import UsageError  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    def made() -> int:
        catalogue = load_catalogue()
        if Path(out).exists() or Path(out).is_symlink():
            raise UsageError(f"--out {out}: is there already; its reasons would go")
        migrated = migrate(
            _baseline(Path(baseline)),
            client=client,
            client_version=client_version,
            catalogue=catalogue,
            today=_today(),
        )
        write_baseline(Path(out), migrated)
        return len(migrated.failing)

    say(f"Baseline: {out}: {refusing(made)} entries wait for a reason")


@task(
    name="explain",
    positional=["check"],
    help={
        "check": "A check, as scenario:check-id.",
        "report": "A stored report (default: the latest, where there is one).",
        "baseline": "A baseline that may say why it fails.",
    },
    auto_shortflags=False,
)
def baseline_explain(
    _: Context, check: str, report: str = "", baseline: str = ""
) -> None:
    """Say what a check asks, by which page, what was seen, and how to run it."""
    from mcpconf.baseline.explain import explain  # noqa: PLC0415
    from mcpconf.decode import Reader  # noqa: PLC0415
    from mcpconf.errors import UsageError  # noqa: PLC0415
    from mcpconf.origin import role_of  # noqa: PLC0415
    from mcpconf.render.explain import render_explained  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    def shown() -> str:
        known = _baseline(Path(baseline)) if baseline else None
        seen = report or (LATEST if Path(LATEST).is_file() else "")
        value = stored_report(seen)[1] if seen else None
        role = role_of(Reader(value or {}, seen))
        if known is not None and value is not None and known.scope.role is not role:
            raise UsageError(
                f"--baseline {baseline}: is of a {known.scope.role}, and {seen} of a "
                f"{role}"
            )
        role = known.scope.role if known else role
        return render_explained(
            explain(
                check,
                catalogue=load_catalogue(role=role),
                baseline=known,
                report=value,
            )
        )

    say(refusing(shown))


@task(
    name="export-expected-failures",
    positional=["baseline"],
    help={
        "baseline": "A baseline.",
        "out": "Where to write the suite's YAML file.",
        "revision": "For runs of this revision alone, which is exact; default: all.",
    },
    auto_shortflags=False,
)
def baseline_export(_: Context, baseline: str, out: str, revision: str = "") -> None:
    """Write the official suite's expected-failures file of a baseline."""
    from mcpconf.render.expected_failures import export  # noqa: PLC0415
    from mcpconf.storage import write_whole  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    def left_out() -> tuple[str, ...]:
        check_apart(out, baseline)
        known = _baseline(Path(baseline))
        catalogue = load_catalogue(role=known.scope.role)
        exported = export(known, catalogue, revision or None)
        write_whole(Path(out), exported.text.encode())
        return exported.left_out

    for each in refusing(left_out):
        say(f"not in it: {each}")
    say(f"Expected failures: {out}")


@task(
    name="import-expected-failures",
    positional=["file"],
    help={
        "file": "The official suite's expected-failures file.",
        "out": "The baseline to write, or to add reasons to.",
        "report": "A stored report (default: the latest, .mcpconf/report.json).",
    },
    auto_shortflags=False,
)
def baseline_import(_: Context, file: str, out: str, report: str = LATEST) -> None:
    """Make a baseline of a report, with what such a file says of its failures."""
    from mcpconf import expected_failures  # noqa: PLC0415
    from mcpconf.decode import Reader  # noqa: PLC0415
    from mcpconf.origin import role_of  # noqa: PLC0415
    from mcpconf.render.baseline import render_extraction  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    def imported() -> tuple[str, ...]:
        path, value = stored_report(report)
        read = expected_failures.load(
            Path(file),
            catalogue=load_catalogue(role=role_of(Reader(value, path))),
            revisions=value["selection"]["revisions"],
        )
        both: list[expected_failures.Import] = []

        def explained(made: Baseline) -> Baseline:
            both.append(expected_failures.merge_into(made, read))
            return both[0].baseline

        extraction = _extracted(report, Path(out), 2, then=explained)
        (merged,) = both
        return (
            render_extraction(replace(extraction, baseline=merged.baseline)),
            *read.remarks,
            *(f"stale: {each} passes; take it out" for each in merged.stale),
            *(f"unseen: {each} neither failed nor passed" for each in merged.unseen),
            *(f"not in the file: {each} fails" for each in merged.unnamed),
            *(f"beyond the file: {each} fails" for each in merged.beyond),
        )

    for line in refusing(imported):
        say(line)
    say(f"Baseline: {out}")


TASKS = (
    baseline_extract,
    baseline_diff,
    baseline_migrate,
    baseline_explain,
    baseline_export,
    baseline_import,
)
