"""
Invoke tasks: one call into the library each.

``inv --list`` shows them; ``inv --help <task>`` explains one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invoke.collection import Collection
from invoke.exceptions import Exit
from invoke.tasks import task

from mcpconf.errors import ExitCode, McpconfError

if TYPE_CHECKING:
    from collections.abc import Callable

    from invoke.context import Context


def _refusing(action: Callable[[], Any]) -> Any:  # noqa: ANN401 (passes a result on)
    """The result of `action`; a refusal becomes one line and its exit code."""
    try:
        return action()
    except McpconfError as error:
        raise Exit(f"mcpconf: error: {error}", code=int(error.exit_code)) from None


def _print(text: str) -> None:
    """Print to a reader who may stop reading: that is no error."""
    try:
        print(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered is written when the interpreter ends; not to the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@task(
    name="install",
    auto_shortflags=False,
)
def suite_install(_: Context) -> None:
    """Put the pinned suite into the cache and say what it is."""
    from mcpconf.storage import json_bytes  # noqa: PLC0415
    from mcpconf.suite.install import install_suite  # noqa: PLC0415

    suite = _refusing(install_suite)
    sys.stdout.write(json_bytes(suite.provenance.to_json()).decode())


@task(
    name="scenarios",
    help={"revision": "Only this dated revision."},
    auto_shortflags=False,
)
def suite_scenarios(_: Context, revision: str = "") -> None:
    """List the client scenarios of every revision, scored or not."""
    from mcpconf.render.listing import scenarios  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    print(_refusing(lambda: scenarios(load_catalogue(), revision)))


@task(
    name="catalogue",
    help={
        "out": "Where to write it (default: into the package).",
        "conformance-cli": "Survey this build of the suite instead of the pinned one.",
        "jobs": "Cases at a time.",
    },
    auto_shortflags=False,
)
def suite_catalogue(
    _: Context, out: str = "", conformance_cli: str = "", jobs: int = 2
) -> None:
    """Generate the catalogue by running every scenario; takes minutes."""
    from mcpconf.survey import generate  # noqa: PLC0415

    path = _refusing(
        lambda: generate.write_catalogue(
            Path(out) if out else None,
            cli=Path(conformance_cli) if conformance_cli else None,
            jobs=jobs,
        )
    )
    print(f"Catalogue: {path}")


@task(
    name="drift",
    help={
        "old": "A catalogue file (default: the committed one).",
        "new": "A catalogue file (default: survey the installed suite now).",
        "conformance-cli": "Survey this build of the suite as the new one.",
    },
    auto_shortflags=False,
)
def suite_drift(
    _: Context, old: str = "", new: str = "", conformance_cli: str = ""
) -> None:
    """Show what a suite adds, removes or renames: exit 1 if anything; takes minutes."""
    from mcpconf.survey import generate  # noqa: PLC0415

    differences = _refusing(
        lambda: generate.drift(
            Path(old) if old else None,
            Path(new) if new else None,
            cli=Path(conformance_cli) if conformance_cli else None,
        )
    )
    for difference in differences:
        print(difference)
    print(f"{len(differences)} differences")
    if differences:
        raise Exit(code=1)


@task(name="list", auto_shortflags=False)
def client_list(_: Context) -> None:
    """List the clients `--client` takes."""
    from mcpconf.render.listing import clients  # noqa: PLC0415

    print(clients())


@task(
    name="show",
    help={"client": "Its name.", "binary": "Another binary of it."},
    auto_shortflags=False,
)
def client_show(_: Context, client: str = "codex", binary: str = "") -> None:
    """Obtain a client and say which program it is: version, digest, source."""
    from mcpconf.client.subject import resolve_subject  # noqa: PLC0415
    from mcpconf.storage import json_bytes  # noqa: PLC0415

    subject = _refusing(
        lambda: resolve_subject(client, binary=Path(binary) if binary else None)
    )
    sys.stdout.write(json_bytes(subject.to_json()).decode())


@task(
    name="rejudge",
    positional=["run"],
    help={
        "run": "The run's folder, .mcpconf/runs/<id>.",
        "out": "Write the report here instead of to standard output.",
    },
    auto_shortflags=False,
)
def report_rejudge(_: Context, run: str, out: str = "") -> None:
    """
    Derive a stored run's report again from its evidence: identical bytes.

    The exit code is the report's; 3 if another one is stored.
    """
    from mcpconf.rejudge import rejudge  # noqa: PLC0415
    from mcpconf.storage import json_bytes, write_json  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    run_dir = Path(run)
    report = _refusing(lambda: rejudge(run_dir, load_catalogue()))
    content = json_bytes(report.value)
    if out:
        _refusing(lambda: write_json(Path(out), report.value))
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    stored, code = run_dir / "report.json", report.exit_code
    how = "the stored report, byte for byte"
    if not stored.is_file():
        how = "no report was stored"
    elif stored.read_bytes() != content:
        how, code = "NOT the stored report", ExitCode.HARNESS
    print(f"{report.verdict.value}: {how}", file=sys.stderr)
    raise Exit(code=int(code))


@task(
    name="table",
    positional=["report"],
    help={
        "report": "A stored report, .mcpconf/report.json for the latest, or a run.",
        "matrix": "Also every test.",
    },
    auto_shortflags=False,
)
def report_table(_: Context, report: str, *, matrix: bool = False) -> None:
    """Print a stored report as tables."""
    from mcpconf.render import table  # noqa: PLC0415
    from mcpconf.report_schema import load_report  # noqa: PLC0415

    path = Path(report)
    path = path / "report.json" if path.is_dir() else path
    value = _refusing(lambda: load_report(path))
    _print(table.render(value, full=matrix))


@task(name="list", auto_shortflags=False)
def supplemental_list(_: Context) -> None:
    """List our own scenarios."""
    from mcpconf.render.supplemental import scenarios  # noqa: PLC0415

    print(scenarios())


@task(
    name="document",
    help={"out": "Where to write it."},
    auto_shortflags=False,
)
def supplemental_document(_: Context, out: str = "docs/supplemental.md") -> None:
    """Write the table of our checks: page, profile, and the client that fails it."""
    from mcpconf.render.supplemental import document  # noqa: PLC0415
    from mcpconf.storage import write_whole  # noqa: PLC0415

    _refusing(lambda: write_whole(Path(out), document().encode()))
    print(f"Document: {out}")


def _namespace(*tasks: Any) -> Collection:  # noqa: ANN401 (invoke is untyped here)
    collection = Collection()
    for each in tasks:
        collection.add_task(each)
    return collection


namespace = Collection()
namespace.add_collection(
    _namespace(suite_install, suite_scenarios, suite_catalogue, suite_drift), "suite"
)
namespace.add_collection(_namespace(client_list, client_show), "client")
namespace.add_collection(_namespace(report_rejudge, report_table), "report")
namespace.add_collection(
    _namespace(supplemental_list, supplemental_document), "supplemental"
)
