"""
The command line: ``python -m mcpconf``.

Options are checked, everything is resolved, and only then something is started. Every
refusal is one line on stderr with exit code 2; see `mcpconf.errors.ExitCode`.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpconf.cli_arguments import parser
from mcpconf.errors import ExitCode, McpconfError, UsageError
from mcpconf.record import AuthMode, Policy, RevisionPolicy, Role, Source, WarningPolicy
from mcpconf.revision import Revision
from mcpconf.storage import json_bytes
from mcpconf.transport import Transport

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from mcpconf.gate_record import GatePolicy, GateResult
    from mcpconf.gating import Gate
    from mcpconf.setup import RunOptions, Setup


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code of `mcpconf.errors.ExitCode`."""
    options = parser().parse_args(arguments)
    # Fetching takes its time, once: say so, on stderr.
    logging.basicConfig(format="mcpconf: %(message)s", level=logging.INFO)
    commands = {"run": _run, "server": _run, "canaries": _canaries, "bench": _bench}
    command = commands[options.command]
    try:
        return int(command(options))
    except McpconfError as error:
        print(f"mcpconf: error: {error}", file=sys.stderr)
        return int(error.exit_code)
    except Exception:  # a bug of ours is no verdict, and 1 would be one
        logging.getLogger(__name__).exception("a bug of mcpconf; please report it")
        return int(ExitCode.HARNESS)
    except KeyboardInterrupt:  # outside the cases, which end in good order
        print("mcpconf: stopped; there is no verdict", file=sys.stderr)
        return int(ExitCode.HARNESS)


def run() -> None:
    """The console script."""
    sys.exit(main())


def _run(options: argparse.Namespace) -> ExitCode:
    from mcpconf import gating, report  # noqa: PLC0415 (--help stays fast)
    from mcpconf import run as runs  # noqa: PLC0415
    from mcpconf.render.progress import progress_for  # noqa: PLC0415
    from mcpconf.setup import resolve  # noqa: PLC0415

    policy, gate = _gate_policy(options), None
    if policy is not None:  # what is wrong with it is said before anything is fetched
        gate = gating.load_gate(options.baseline, policy)
    setup = resolve(_run_options(options, gate))
    if gate is not None:
        empty = report.build(setup.record, setup.cases, {}, setup.catalogue, None)
        gate.check_before(empty.value)
        gate.check_apart(setup.output_dir / runs.REPORT, setup.report_path)
    # Whatever comes of this run, an older answer is not about it.
    (setup.output_dir / gating.GATE).unlink(missing_ok=True)
    with progress_for(len(setup.launched)) as progress:
        built = runs.perform(setup, progress, gate.reruns() if gate else None)
    stored = setup.output_dir / runs.RUNS / setup.record.run_id / runs.REPORT
    # As short as a line that is to be copied can name it.
    answer = gate.decide(Path(os.path.relpath(stored))) if gate else None
    _show(options, setup, built.value, answer)
    if answer is not None:
        gating.write_answer(answer, setup.output_dir, setup.record.run_id)
    return built.exit_code if answer is None else answer.verdict.exit_code


def _gate_policy(options: argparse.Namespace) -> GatePolicy | None:
    """What the options demand of a gate; None where there is no baseline."""
    from mcpconf.gate_record import GatePolicy  # noqa: PLC0415

    budget = options.flaky_budget
    if options.baseline is None:
        for name, is_given in (
            ("--ratchet", options.ratchet),
            ("--flaky-budget", budget is not None),
        ):
            if is_given:
                raise UsageError(f"{name}: is about a baseline; add --baseline PATH")
        return None
    if budget is None:
        return GatePolicy(ratchet=options.ratchet)
    if budget < 0:
        raise UsageError(f"--flaky-budget {budget}: at least 0")
    return GatePolicy(ratchet=options.ratchet, flaky_budget=budget)


def _run_options(options: argparse.Namespace, gate: Gate | None) -> RunOptions:
    from mcpconf.selection import Shard  # noqa: PLC0415
    from mcpconf.setup import RunOptions  # noqa: PLC0415

    warnings = "fail" if gate is None else gate.baseline.warnings.default
    return RunOptions(
        **(_client(options) if options.command == "run" else _server(options)),
        revisions=tuple(
            revision
            for revision in Revision
            if not options.revision or revision.value in options.revision
        ),
        scenarios=tuple(options.official_scenario),
        supplemental=tuple(options.supplemental_scenario),
        only=Source(options.only) if options.only else None,
        shard=Shard.parse(options.shard) if options.shard else None,
        conformance_cli=options.conformance_cli,
        policy=Policy(
            warnings=WarningPolicy(options.warnings or warnings),
            revision=RevisionPolicy(options.revision_policy),
        ),
        jobs=options.jobs,
        timeout_s=options.timeout,
        report=options.report,
        artifact_parent=options.artifact_parent,
        keep_artifacts=options.keep_artifacts,
    )


def _client(options: argparse.Namespace) -> dict[str, Any]:
    """What only a client's run is asked."""
    strict = options.require_automatic_auth
    return {
        "client": options.client,
        "binary": options.binary,
        "client_version": options.client_version,
        "client_command": options.client_command,
        "auth_mode": AuthMode.STRICT if strict else AuthMode.ASSISTED,
        "transports": tuple(
            each for each in Transport if options.transport in {each.value, "all"}
        ),
        "include_auth": options.auth,
    }


def _server(options: argparse.Namespace) -> dict[str, Any]:
    """What only a server's run is asked."""
    from mcpconf import ours  # noqa: PLC0415
    from mcpconf.server.choice import ENDPOINT, ServerChoice  # noqa: PLC0415

    if not options.path.startswith("/"):
        raise UsageError(f"--path {options.path}: begins with a slash, as /mcp does")
    if options.path != ENDPOINT and options.server_command is None:
        raise UsageError("--path: is where the endpoint of --server-command is")
    choice = ServerChoice(
        url=options.url, command=options.server_command, path=options.path
    )
    return {"server": choice, "transports": ours.transports(Role.SERVER)}


def _show(
    options: argparse.Namespace,
    setup: Setup,
    report: Mapping[str, Any],
    answer: GateResult | None,
) -> None:
    """Print the report, and where things are; the gate's answer comes last."""
    from mcpconf.render import gate, table  # noqa: PLC0415
    from mcpconf.render.text import terminal_width  # noqa: PLC0415
    from mcpconf.run import REPORT, RUNS  # noqa: PLC0415

    width = terminal_width()
    if options.json:
        sys.stdout.buffer.write(json_bytes(dict(report)))
        sys.stdout.buffer.flush()
    else:
        print(table.render(report, full=options.matrix, width=width))
        print(f"Report:   {setup.output_dir / REPORT}")
        print(f"Evidence: {setup.output_dir / RUNS / setup.record.run_id}")
    if answer is not None:
        where = sys.stderr if options.json else sys.stdout
        print(f"\n{gate.render(answer, width=width)}", file=where)


def _canaries(_options: argparse.Namespace) -> ExitCode:
    from tabulate import tabulate  # noqa: PLC0415

    from mcpconf.canaries import run_canaries, run_server_canaries  # noqa: PLC0415
    from mcpconf.render.progress import LineProgress  # noqa: PLC0415
    from mcpconf.setup import OUTPUT  # noqa: PLC0415

    results = run_canaries(OUTPUT / "canaries", LineProgress)
    results += run_server_canaries(LineProgress)
    rows = [
        [
            each.canary,
            each.leg,
            f"{len(each.passed)} of {each.cases}",
            ", ".join(each.passed) or "-",
            "-" if each.floor is None else str(each.floor),
        ]
        for each in results
    ]
    headers = ["Canary", "Leg", "Passed", "Which", "By the suite's own count"]
    print(tabulate(rows, headers, tablefmt="simple", disable_numparse=True))
    problems = [each.problem for each in results if each.problem is not None]
    for problem in problems:
        print(f"mcpconf: error: {problem}", file=sys.stderr)
    return ExitCode.HARNESS if problems else ExitCode.CONFORMANT


def _bench(_options: argparse.Namespace) -> ExitCode:
    from mcpconf.bench import run_bench  # noqa: PLC0415

    return run_bench()
