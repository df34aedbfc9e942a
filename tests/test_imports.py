"""
The arrows between the rooms: who may import whom.

Imports for types alone do not count; they are gone at run time. Imports inside
functions count for the arrows and not for cycles: they are how a cycle is avoided.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
PACKAGE = "mcpconf"

#: Room → its modules, by longest matching prefix. A module that has no room is a fault.
ROOMS = {
    "package": ("mcpconf",),
    "errors": ("mcpconf.errors",),
    "revision": ("mcpconf.revision",),
    "transport": ("mcpconf.transport",),
    "decode": ("mcpconf.decode",),
    "storage": ("mcpconf.storage",),
    "redaction": ("mcpconf.redaction",),
    "process": (
        "mcpconf.process",
        "mcpconf.process_record",
        "mcpconf.process_sweep",
        "mcpconf.process_windows",
    ),
    "supervisor": (
        "mcpconf.supervisor",
        "mcpconf.supervisor_launch",
        "mcpconf.supervisor_tree",
    ),
    "environment": ("mcpconf.environment",),
    "launcher": ("mcpconf.launcher",),
    "drain": ("mcpconf.drain",),
    "record": ("mcpconf.record",),
    "wire": (
        "mcpconf.sse",
        "mcpconf.wire",
        "mcpconf.wire_envelope",
        "mcpconf.wire_log",
        "mcpconf.wire_message",
        "mcpconf.wire_rule",
        "mcpconf.wire_schema",
    ),
    "provision": (
        "mcpconf.cache",
        "mcpconf.npm",
        "mcpconf.provision",
        "mcpconf.stamp",
    ),
    # What is known of the suite, and what it said: pure.
    "suite": (
        "mcpconf.suite",
        "mcpconf.suite.catalogue",
        "mcpconf.suite.checks",
        "mcpconf.suite.defect",
        "mcpconf.suite.drift",
        "mcpconf.suite.rejection",
    ),
    "suite-install": ("mcpconf.suite.install", "mcpconf.suite.node"),
    # The suite asked what it holds: a run of its own.
    "survey": ("mcpconf.survey",),
    "driver": (
        "mcpconf.client",
        "mcpconf.client.browser",
        "mcpconf.client.codex",
        "mcpconf.client.command",
        "mcpconf.client.entry",
        "mcpconf.client.job",
        "mcpconf.client.program",
        "mcpconf.client.residue",
        "mcpconf.client.steps",
    ),
    "canary": ("mcpconf.client.canary",),
    "python-sdk": ("mcpconf.client.python_sdk",),
    "reference": ("mcpconf.client.reference",),
    "client": (
        "mcpconf.client.install",
        "mcpconf.client.manifest",
        "mcpconf.client.subject",
    ),
    "plan": ("mcpconf.plan",),
    # Our scenarios of either role, by name.
    "ours": ("mcpconf.ours",),
    "selection": ("mcpconf.selection",),
    # Our own MCP server; started by clients too, so it knows nothing of a run.
    "fixture-server": ("mcpconf.fixture_server",),
    # What our scenarios are and what they find: pure.
    "supplemental": ("mcpconf.supplemental",),
    "supplemental-evidence": ("mcpconf.supplemental.evidence",),
    "ruling": ("mcpconf.ruling",),
    "supplemental-judge": ("mcpconf.supplemental.judge",),
    "supplemental-launch": ("mcpconf.supplemental.launch",),
    "supplemental-verdict": ("mcpconf.supplemental.verdict",),
    # A server under test: named, reached, recorded.
    "server": (
        "mcpconf.server",
        "mcpconf.server.choice",
        "mcpconf.server.era",
        "mcpconf.server.exchange",
        "mcpconf.server.watched",
    ),
    "server-http": (
        "mcpconf.server.asking",
        "mcpconf.server.flight",
        "mcpconf.server.http",
        "mcpconf.server.identity",
        "mcpconf.server.line",
        "mcpconf.server.sse",
    ),
    # Started for a run, and gone afterwards.
    "server-host": (
        "mcpconf.server.host",
        "mcpconf.server.hosts",
        "mcpconf.server.local",
        "mcpconf.server.pidfile",
        "mcpconf.server.port",
        "mcpconf.server.subject",
    ),
    "server-canary": ("mcpconf.server.canary",),
    "server-canaries": ("mcpconf.server.canaries",),
    "server-evidence": ("mcpconf.server.evidence",),
    "server-judge": ("mcpconf.server.heard", "mcpconf.server.judge"),
    "server-case": ("mcpconf.server.case",),
    "server-launching": ("mcpconf.server.launching",),
    # What our checks of a server's tasks are and what they find: pure but for drives.
    "tasks-extension": ("mcpconf.tasks_extension",),
    "tasks-extension-evidence": ("mcpconf.tasks_extension.evidence",),
    "tasks-extension-judge": (
        "mcpconf.tasks_extension.judge",
        "mcpconf.tasks_extension.verdict",
    ),
    "tasks-extension-launch": (
        "mcpconf.tasks_extension.launch",
        "mcpconf.tasks_extension.probe",
    ),
    "evidence": ("mcpconf.evidence",),
    "retention": ("mcpconf.retention",),
    "case": ("mcpconf.case",),
    "judge": ("mcpconf.judge", "mcpconf.judge_rule"),
    # Either role's, by kind of case.
    "judging": ("mcpconf.judging",),
    "launching": ("mcpconf.launching",),
    "runrecord": ("mcpconf.runrecord",),
    "summary": ("mcpconf.summary",),
    "report": (
        "mcpconf.report",
        "mcpconf.report_assembly",
        "mcpconf.report_check",
        "mcpconf.report_schema",
    ),
    "merge": ("mcpconf.merge",),
    # What makes two checks the same, what is known to fail, what was seen: pure.
    "identity": ("mcpconf.identity",),
    "origin": ("mcpconf.origin",),
    "view": ("mcpconf.view",),
    "baseline-entry": ("mcpconf.baseline", "mcpconf.baseline.entry"),
    "observed": (
        "mcpconf.observed",
        "mcpconf.observed_check",
        "mcpconf.observed_piece",
    ),
    "baseline": (
        "mcpconf.baseline.decode",
        "mcpconf.baseline.decode_v1",
        "mcpconf.baseline.decode_v2",
        "mcpconf.baseline.decode_v2_checks",
        "mcpconf.baseline.diff",
        "mcpconf.baseline.encode",
        "mcpconf.baseline.explain",
        "mcpconf.baseline.extract",
        "mcpconf.baseline.field",
        "mcpconf.baseline.fit",
        "mcpconf.baseline.known",
        "mcpconf.baseline.legs",
        "mcpconf.baseline.migrate",
        "mcpconf.baseline.problem",
        "mcpconf.baseline.rule",
        "mcpconf.baseline.store",
    ),
    # Decides, and starts nothing.
    "gate": (
        "mcpconf.gate",
        "mcpconf.gate_compare",
        "mcpconf.gate_config",
        "mcpconf.gate_hole",
        "mcpconf.gate_record",
        "mcpconf.gate_scope",
    ),
    "gating": ("mcpconf.gating",),
    "flake": ("mcpconf.flake",),
    "ledger": ("mcpconf.ledger",),
    "rerun": ("mcpconf.rerun",),
    "strict-yaml": ("mcpconf.strict_yaml",),
    "expected-failures": ("mcpconf.expected_failures",),
    "hygiene": ("mcpconf.hygiene",),
    "pool": ("mcpconf.pool",),
    "run": ("mcpconf.run",),
    "rejudge": ("mcpconf.rejudge",),
    "setup": ("mcpconf.setup",),
    "canaries": ("mcpconf.canaries",),
    "bench": (
        "mcpconf.bench",
        "mcpconf.bench_fixture",
        "mcpconf.bench_gate",
        "mcpconf.bench_html",
    ),
    "render": ("mcpconf.render",),
    # The same sessions and tasks for other repositories.
    "adopt": ("mcpconf.adopt",),
    "nox": ("mcpconf.nox", "mcpconf.adopt.noxfile"),
    "tasks": ("mcpconf.tasks",),
    "cli": ("mcpconf.__main__", "mcpconf.cli", "mcpconf.cli_arguments"),
}

#: Room → the rooms it may import, itself apart; no more than it does. Whoever adds an
#: arrow says so here, and why in the change.
ALLOWED: Mapping[str, set[str]] = {
    "package": set(),
    "errors": set(),
    "revision": set(),
    "transport": set(),
    "decode": {"errors"},
    "storage": {"errors"},
    "redaction": set(),
    "process": {"decode", "errors", "supervisor"},
    "supervisor": set(),
    "environment": {"errors"},
    "launcher": {"errors", "storage"},
    "drain": set(),
    "record": {"errors", "transport"},
    "wire": {"decode", "errors", "redaction", "revision"},
    "provision": {"decode", "errors", "process", "redaction", "storage"},
    "suite": {"decode", "errors", "origin", "record", "revision", "storage"},
    "suite-install": {"decode", "errors", "provision", "storage"},
    "survey": {
        "case",
        "client",
        "decode",
        "errors",
        "evidence",
        "fixture-server",
        "plan",
        "process",
        "record",
        "revision",
        "server-case",
        "server-evidence",
        "server-host",
        "server-judge",
        "storage",
        "suite",
        "suite-install",
        "tasks-extension",
        "transport",
    },
    # Under -I -S: the standard library and each other.
    "driver": {"redaction", "supervisor"},
    "canary": set(),
    "python-sdk": set(),
    "client": {
        "decode",
        "driver",
        "environment",
        "errors",
        "plan",
        "process",
        "provision",
        "record",
        "redaction",
        "revision",
        "storage",
        "suite-install",
    },
    "plan": {"errors", "record", "revision"},
    "fixture-server": {"errors", "redaction", "revision", "transport"},
    "supplemental": {
        "decode",
        "errors",
        "fixture-server",
        "record",
        "redaction",
        "revision",
        "transport",
        "wire",
    },
    "supplemental-evidence": {
        "decode",
        "evidence",
        "process",
        "storage",
        "supplemental",
    },
    # Like the other judge: reads evidence, starts nothing.
    "supplemental-judge": {
        "driver",
        "process",
        "record",
        "revision",
        "ruling",
        "supplemental",
    },
    "supplemental-verdict": {"errors", "supplemental-evidence", "supplemental-judge"},
    "supplemental-launch": {
        "client",
        "drain",
        "environment",
        "errors",
        "evidence",
        "fixture-server",
        "process",
        "retention",
        "supplemental-evidence",
        "transport",
    },
    "evidence": {"decode", "driver", "errors", "process", "storage", "suite", "wire"},
    "retention": {"redaction", "storage"},
    "case": {
        "client",
        "drain",
        "environment",
        "errors",
        "evidence",
        "launcher",
        "process",
        "provision",
        "retention",
        "suite",
    },
    # Reads evidence, starts nothing: no room that launches, installs or writes a run.
    "judge": {"driver", "process", "record", "revision", "suite", "wire"},
    "runrecord": {
        "client",
        "decode",
        "errors",
        "ours",
        "plan",
        "record",
        "revision",
        "selection",
        "transport",
    },
    "summary": {"record"},
    "report": {
        "client",
        "decode",
        "errors",
        "judge",
        "judging",
        "origin",
        "plan",
        "record",
        "summary",
        "transport",
    },
    "selection": {"errors", "ours", "plan", "record", "revision", "transport"},
    "merge": {
        "client",
        "decode",
        "errors",
        "identity",
        "record",
        "report",
        "selection",
    },
    "identity": set(),
    "baseline-entry": {"record"},
    "observed": {
        "baseline-entry",
        "decode",
        "errors",
        "identity",
        "origin",
        "record",
        "revision",
        "selection",
    },
    "baseline": {
        "baseline-entry",
        "client",
        "decode",
        "errors",
        "identity",
        "origin",
        "ours",
        "record",
        "revision",
        "storage",
        "suite",
        "transport",
        "view",
    },
    "gate": {
        "baseline",
        "baseline-entry",
        "client",
        "errors",
        "identity",
        "record",
        "revision",
        "selection",
    },
    "gating": {
        "baseline",
        "decode",
        "errors",
        "gate",
        "observed",
        "rerun",
        "run",
        "storage",
        "suite",
    },
    "flake": {"record"},
    "ledger": {"decode", "errors", "identity", "record", "storage"},
    "rerun": {"decode", "evidence", "flake", "identity", "report"},
    "strict-yaml": {"errors"},
    "expected-failures": {
        "baseline",
        "baseline-entry",
        "decode",
        "errors",
        "identity",
        "record",
        "revision",
        "strict-yaml",
    },
    "adopt": {
        "client",
        "decode",
        "errors",
        "gate",
        "record",
        "report",
        "revision",
        "storage",
    },
    "nox": {"adopt", "errors"},
    "tasks": {
        "baseline",
        "client",
        "decode",
        "errors",
        "expected-failures",
        "gate",
        "gating",
        "merge",
        "observed",
        "origin",
        "record",
        "rejudge",
        "render",
        "report",
        "revision",
        "storage",
        "suite",
        "suite-install",
        "survey",
    },
    "origin": {"record"},
    "view": {"identity"},
    "reference": {"driver", "python-sdk", "wire"},
    "ours": {
        "errors",
        "plan",
        "record",
        "supplemental",
        "tasks-extension",
        "transport",
    },
    "server": {"process", "redaction", "revision", "wire"},
    "server-http": {
        "decode",
        "errors",
        "package",
        "redaction",
        "revision",
        "server",
        "wire",
    },
    "server-host": {
        "client",
        "environment",
        "errors",
        "process",
        "redaction",
        "server",
        "server-http",
        "storage",
    },
    "server-canary": set(),
    "server-canaries": {
        "judging",
        "plan",
        "record",
        "server-case",
        "server-host",
        "tasks-extension-launch",
    },
    "server-evidence": {"decode", "evidence", "process", "server"},
    "server-judge": {"judge", "process", "record", "revision", "server", "wire"},
    "server-case": {
        "case",
        "environment",
        "evidence",
        "retention",
        "server",
        "server-evidence",
    },
    "server-launching": {
        "plan",
        "server",
        "server-case",
        "server-host",
        "supplemental",
        "tasks-extension-launch",
    },
    "tasks-extension": {
        "decode",
        "errors",
        "fixture-server",
        "package",
        "record",
        "redaction",
        "revision",
        "server",
        "server-http",
        "supplemental",
        "transport",
    },
    "tasks-extension-evidence": {
        "decode",
        "errors",
        "evidence",
        "process",
        "server",
        "storage",
        "tasks-extension",
    },
    "tasks-extension-judge": {
        "errors",
        "process",
        "record",
        "ruling",
        "server",
        "tasks-extension",
        "tasks-extension-evidence",
    },
    "tasks-extension-launch": {
        "decode",
        "drain",
        "environment",
        "errors",
        "evidence",
        "process",
        "retention",
        "server",
        "tasks-extension",
        "tasks-extension-evidence",
    },
    "judging": {
        "evidence",
        "judge",
        "plan",
        "record",
        "server-evidence",
        "server-judge",
        "supplemental",
        "supplemental-judge",
        "supplemental-verdict",
        "tasks-extension-judge",
    },
    "launching": {"case", "plan", "supplemental", "supplemental-launch"},
    "ruling": {"record", "supplemental"},
    "hygiene": set(),
    "pool": {
        "case",
        "errors",
        "judging",
        "launching",
        "plan",
        "redaction",
        "server-host",
        "server-launching",
    },
    "run": {
        "errors",
        "evidence",
        "flake",
        "hygiene",
        "ledger",
        "pool",
        "report",
        "rerun",
        "runrecord",
        "storage",
    },
    # Derives a verdict again: it starts nothing, and knows no room that does.
    "rejudge": {
        "errors",
        "evidence",
        "judging",
        "package",
        "report",
        "rerun",
        "runrecord",
        "suite",
    },
    "setup": {
        "client",
        "errors",
        "package",
        "plan",
        "record",
        "redaction",
        "report",
        "revision",
        "runrecord",
        "selection",
        "server-host",
        "suite",
        "suite-install",
        "transport",
    },
    "canaries": {
        "plan",
        "record",
        "report",
        "revision",
        "run",
        "server-canaries",
        "server-host",
        "setup",
        "suite",
        "suite-install",
        "tasks-extension",
    },
    "bench": {
        "baseline",
        "case",
        "decode",
        "errors",
        "evidence",
        "gate",
        "observed",
        "process",
        "record",
        "render",
        "revision",
        "run",
        "setup",
        "storage",
        "suite",
        "suite-install",
    },
    # Shows what it is given; it knows nothing that runs.
    "render": {
        "baseline-entry",
        "client",
        "decode",
        "errors",
        "evidence",
        "fixture-server",
        "gate",
        "identity",
        "record",
        "revision",
        "server",
        "storage",
        "supplemental",
        "tasks-extension",
        "tasks-extension-evidence",
        "transport",
        "view",
        "wire",
    },
    "cli": {
        "bench",
        "canaries",
        "client",
        "errors",
        "gate",
        "gating",
        "ours",
        "package",
        "record",
        "render",
        "report",
        "revision",
        "run",
        "selection",
        "server",
        "setup",
        "storage",
        "transport",
    },
}

#: What a room may take from outside the standard library.
THIRD_PARTY: Mapping[str, set[str]] = {
    "bench": {"playwright", "tabulate"},
    # Started as files: a sibling is imported by its bare name.
    "canary": {"initialize_only"},
    "cli": {"tabulate"},
    "fixture-server": {"h11"},
    "hygiene": {"psutil"},
    "process": {"psutil"},
    "provision": {"filelock", "platformdirs"},
    "python-sdk": {
        "anyio",
        "assignment",
        "connection",
        "failure",
        "group",
        "httpx2",
        "link",
        "mcp",
        "pydantic",
        "step",
        "supplemental",
    },
    "render": {"jinja2", "junitparser", "markupsafe", "rich", "tabulate"},
    "report": {"jsonschema_rs"},
    "survey": {"yaml"},
    "wire": {"mcp_types", "pydantic"},
    "baseline": {"filelock"},
    "ledger": {"filelock"},
    "strict-yaml": {"yaml"},
    "expected-failures": {"yaml"},
    "nox": {"nox"},
    "tasks": {"invoke"},
    "reference": {"joserfc", "requests"},
    "server-http": {"requests", "urllib3"},
}


@dataclass(frozen=True, slots=True)
class Import:
    """One import that happens at run time."""

    importer: str
    imported: str
    #: At the top of the module, not inside a function.
    is_early: bool


def _module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _run_time(node: ast.AST, *, is_early: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """The import statements below a node that are run, and whether at once."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield node, is_early
    inner = is_early and not isinstance(
        node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    )
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.If) and _is_typing(node):
        children = list(node.orelse)
    for child in children:
        yield from _run_time(child, is_early=inner)


@functools.cache
def imports_of(root: Path) -> tuple[Import, ...]:
    """Every import at run time of the package below `root`."""
    paths = sorted((root / PACKAGE).rglob("*.py"))
    modules = {_module_name(path, root) for path in paths}
    found = []
    for path in paths:
        name = _module_name(path, root)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node, is_early in _run_time(ast.parse(path.read_bytes()), is_early=True):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            else:
                assert isinstance(node, ast.ImportFrom)
                base = node.module or ""
                if node.level:
                    above = package.split(".")[
                        : len(package.split(".")) - node.level + 1
                    ]
                    base = ".".join([*above, *([base] if base else [])])
                targets = [
                    f"{base}.{alias.name}"
                    if f"{base}.{alias.name}" in modules
                    else base
                    for alias in node.names
                ]
            found += [Import(name, target, is_early) for target in targets]
    return tuple(dict.fromkeys(found))


def room_of(module: str) -> str | None:
    """The room of a module: the longest name that is it, or above it."""
    homes = {name: room for room, names in ROOMS.items() for name in names}
    while module:
        # Only a package is a home for what is below it.
        if module in homes and homes[module] != "package":
            return homes[module]
        if module == PACKAGE:
            return None
        module = module.rpartition(".")[0]
    return None


def faults_of(root: Path) -> list[str]:
    """What the package below `root` imports, and may not."""
    faults = []
    for each in imports_of(root):
        here = "package" if each.importer == PACKAGE else room_of(each.importer)
        if here is None:
            faults.append(f"{each.importer} is in no room")
        elif each.imported.partition(".")[0] != PACKAGE:
            top = each.imported.partition(".")[0]
            known = sys.stdlib_module_names | THIRD_PARTY.get(here, set())
            if top not in known:
                faults.append(f"{each.importer} ({here}) imports {top}")
        else:
            there = "package" if each.imported == PACKAGE else room_of(each.imported)
            if there is None:
                faults.append(f"{each.imported} is in no room")
            elif there not in ALLOWED[here] | {here}:
                faults.append(
                    f"{each.importer} ({here}) imports {each.imported} ({there})"
                )
    return faults


def cycle_of(root: Path) -> list[str]:
    """One cycle of imports at module level, or nothing."""
    arrows: dict[str, set[str]] = {}
    for each in imports_of(root):
        if each.is_early and each.imported.startswith(f"{PACKAGE}."):
            arrows.setdefault(each.importer, set()).add(each.imported)
    done: set[str] = set()

    def visit(module: str, above: list[str]) -> list[str]:
        if module in above:
            return [*above[above.index(module) :], module]
        if module in done:
            return []
        done.add(module)
        for target in sorted(arrows.get(module, ())):
            if target != module and (cycle := visit(target, [*above, module])):
                return cycle
        return []

    for module in sorted(arrows):
        if cycle := visit(module, []):
            return cycle
    return []


def test_no_module_imports_a_room_it_may_not() -> None:
    assert faults_of(ROOT) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycle_of(ROOT) == []


def test_every_module_has_a_room_and_every_room_its_modules() -> None:
    paths = (ROOT / PACKAGE).rglob("*.py")
    modules = {_module_name(path, ROOT) for path in paths} - {PACKAGE}
    assert {name for name in modules if room_of(name) is None} == set()
    listed = {name for names in ROOMS.values() for name in names}
    assert {name for name in listed if name not in {*modules, PACKAGE}} == set()
    assert set(ALLOWED) == set(ROOMS)
    assert set().union(*ALLOWED.values(), THIRD_PARTY) <= set(ROOMS)


def test_the_allowed_arrows_themselves_make_no_circle() -> None:
    """A table with a circle in it would allow the modules to make one."""
    done: set[str] = set()

    def visit(room: str, above: tuple[str, ...]) -> None:
        assert room not in above, " → ".join((*above, room))
        if room not in done:
            for target in ALLOWED[room]:
                visit(target, (*above, room))
            done.add(room)

    for room in ALLOWED:
        visit(room, ())


# -- the table fails when it should ------------------------------------------------


def _tree(root: Path, **modules: str) -> Path:
    """A package of `name=content`, with `__` for the dot."""
    for name, content in modules.items():
        path = (root / PACKAGE).joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    for folder in {path.parent for path in (root / PACKAGE).rglob("*.py")}:
        (folder / "__init__.py").touch()
    return root


@pytest.mark.parametrize(
    ("modules", "fault"),
    [
        (
            {"judge": "from mcpconf.case import launch", "case": ""},
            "mcpconf.judge (judge) imports mcpconf.case (case)",
        ),
        (
            {"judge": "from mcpconf import case", "case": ""},
            "mcpconf.judge (judge) imports mcpconf.case (case)",
        ),
        (
            {"judge": "def late():\n    import mcpconf.case", "case": ""},
            "mcpconf.judge (judge) imports mcpconf.case (case)",
        ),
        (
            {"judge": "from .case import launch", "case": ""},
            "mcpconf.judge (judge) imports mcpconf.case (case)",
        ),
        (
            {"judge": "if x:\n    pass\nelse:\n    import mcpconf.run", "run": ""},
            "mcpconf.judge (judge) imports mcpconf.run (run)",
        ),
        (
            {"client__job": "from mcpconf.errors import X", "errors": ""},
            "mcpconf.client.job (driver) imports mcpconf.errors (errors)",
        ),
        (
            {"client__codex__plain": "import psutil"},
            "mcpconf.client.codex.plain (driver) imports psutil",
        ),
        (
            {
                "client__canary__null": "from mcpconf.client import job",
                "client__job": "",
            },
            "mcpconf.client.canary.null (canary) imports mcpconf.client.job (driver)",
        ),
        (
            {"client__python_sdk__x": "import mcpconf.errors", "errors": ""},
            "mcpconf.client.python_sdk.x (python-sdk) imports mcpconf.errors (errors)",
        ),
        (
            {
                "supervisor": "try:\n    import mcpconf.decode\nfinally: pass",
                "decode": "",
            },
            "mcpconf.supervisor (supervisor) imports mcpconf.decode (decode)",
        ),
        (
            {"errors": "import mcpconf.revision", "revision": ""},
            "mcpconf.errors (errors) imports mcpconf.revision (revision)",
        ),
        ({"newcomer": "import json"}, "mcpconf.newcomer is in no room"),
        ({"errors": "import requests"}, "mcpconf.errors (errors) imports requests"),
        (
            {
                "judge": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
                "    pass\nelse:\n    from mcpconf import run",
                "run": "",
            },
            "mcpconf.judge (judge) imports mcpconf.run (run)",
        ),
    ],
)
def test_a_forbidden_import_is_found(
    tmp_path: Path, modules: dict[str, str], fault: str
) -> None:
    assert faults_of(_tree(tmp_path, **modules)) == [fault]


@pytest.mark.parametrize(
    "content",
    [
        "from mcpconf.record import Check",
        "from mcpconf import record",
        "import json",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import mcpconf.run",
    ],
)
def test_an_allowed_import_is_none(tmp_path: Path, content: str) -> None:
    assert faults_of(_tree(tmp_path, judge=content, record="", run="")) == []


@pytest.mark.parametrize(
    ("modules", "cycle"),
    [
        ({"errors": "import mcpconf.errors"}, []),
        (
            {"decode": "import mcpconf.errors", "errors": "import mcpconf.decode"},
            ["mcpconf.decode", "mcpconf.errors", "mcpconf.decode"],
        ),
        (
            {
                "decode": "import mcpconf.errors",
                "errors": "def late():\n    import mcpconf.decode",
            },
            [],
        ),
        (
            {
                "a": "from mcpconf import b",
                "b": "from mcpconf.c import x",
                "c": "class X:\n    import mcpconf.a",
            },
            ["mcpconf.a", "mcpconf.b", "mcpconf.c", "mcpconf.a"],
        ),
    ],
)
def test_a_circle_is_found(
    tmp_path: Path, modules: dict[str, str], cycle: list[str]
) -> None:
    assert cycle_of(_tree(tmp_path, **modules)) == cycle


# -- what runs without site-packages -----------------------------------------------


def _lone_modules() -> list[str]:
    paths = sorted((ROOT / PACKAGE).rglob("*.py"))
    names = [_module_name(path, ROOT) for path in paths]
    return [name for name in names if room_of(name) in {"driver", "supervisor"}]


def test_drivers_and_supervisor_import_without_site_packages() -> None:
    """They run under ``-I -S``, where nothing that was installed is there."""
    modules = _lone_modules()
    assert {"mcpconf.client.entry", "mcpconf.supervisor"} <= set(modules)
    program = (
        "import importlib, sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        "ours = sorted(n for n in sys.modules if n.startswith('mcpconf'))\n"
        "places = {getattr(m, '__file__', None) or '' for m in sys.modules.values()}\n"
        "assert not [p for p in places if 'site-packages' in p]\n"
        "print(*ours)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    others = set(done.stdout.split()) - set(modules) - {PACKAGE}
    assert others == set(), "they pull in more than each other"


def test_canaries_and_the_sdk_program_import_nothing_of_ours() -> None:
    for each in imports_of(ROOT):
        if room_of(each.importer) in {"canary", "python-sdk"}:
            assert not each.imported.startswith(PACKAGE) or room_of(
                each.imported
            ) == room_of(each.importer)


def test_the_noxfile_imports_nothing_of_ours() -> None:
    """Nox runs it in an environment of its own."""
    tree = ast.parse((ROOT / "noxfile.py").read_bytes())
    names = [
        name
        for node, _ in _run_time(tree, is_early=True)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [getattr(node, "module", None) or ""]
        )
    ]
    assert "nox" in names
    assert [name for name in names if name.partition(".")[0] == PACKAGE] == []
