"""
The command line: ``python -m mcpconf``.

Options are checked, everything is resolved, and only then something is started. Every
refusal is one line on stderr with exit code 2; see `mcpconf.errors.ExitCode`.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import mcpconf
from mcpconf.client.manifest import MANIFESTS
from mcpconf.errors import ExitCode, McpconfError, UsageError
from mcpconf.record import AuthMode, Policy, RevisionPolicy, Source, WarningPolicy
from mcpconf.revision import Revision
from mcpconf.storage import json_bytes
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.gate_record import GatePolicy, GateResult
    from mcpconf.gating import Gate
    from mcpconf.setup import RunOptions, Setup


class _Parser(argparse.ArgumentParser):
    """A parser whose refusals look like all the others: one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse; `--help` has the usage."""
        self.exit(int(ExitCode.BAD_INPUT), f"mcpconf: error: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="mcpconf",
        description="Does this MCP client do what the dated revision says?",
        epilog="exit codes: 0 conformant, 1 not conformant, 2 usage or bad input, "
        "3 incomplete or a fault of the harness",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=mcpconf.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run", help="run the official client scenarios and ours", allow_abbrev=False
    )
    _add_subject(run)
    _add_selection(run)
    _add_gate(run)
    _add_output(run)
    commands.add_parser("canaries", help="run the clients that do next to nothing")
    commands.add_parser("bench", help="measure speed, as ratios in one run")
    return parser


def _add_subject(run: argparse.ArgumentParser) -> None:
    subject = run.add_argument_group("the client under test")
    which = subject.add_mutually_exclusive_group()
    which.add_argument(
        "--client",
        choices=sorted(MANIFESTS),
        default="codex",
        help="a client mcpconf knows (default: codex)",
    )
    which.add_argument(
        "--client-command",
        metavar="COMMAND",
        help="any program that follows docs/launch.md; no shell is involved",
    )
    subject.add_argument(
        "--binary", type=Path, help="run this Codex binary instead of the pinned one"
    )
    subject.add_argument(
        "--client-version",
        help="another published version of Codex, or the one --binary must be",
    )
    subject.add_argument(
        "--require-automatic-auth",
        action="store_true",
        help="strict mode: one login, everything after it is the client's own",
    )


def _add_selection(run: argparse.ArgumentParser) -> None:
    what = run.add_argument_group("what to run")
    what.add_argument(
        "--revision",
        action="append",
        choices=[revision.value for revision in Revision],
        help="a dated revision; repeat for more (default: all)",
    )
    what.add_argument(
        "--official-scenario",
        action="append",
        default=[],
        metavar="NAME",
        help="only this scenario of the suite; repeat for more",
    )
    what.add_argument(
        "--supplemental-scenario",
        action="append",
        default=[],
        metavar="NAME",
        help="only this scenario of ours; repeat for more",
    )
    what.add_argument(
        "--only",
        choices=[each.value for each in Source],
        help="the suite's scenarios or ours alone (default: both)",
    )
    what.add_argument(
        "--transport",
        choices=[*(each.value for each in Transport), "all"],
        default="all",
        help="one transport (the suite's scenarios are all HTTP; default: all)",
    )
    what.add_argument(
        "--auth",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="include the authorization scenarios (default: yes)",
    )
    what.add_argument(
        "--shard",
        metavar="I/N",
        help="only every N-th case, from the I-th on; `invoke report.merge` joins them",
    )
    what.add_argument(
        "--conformance-cli",
        type=Path,
        metavar="PATH",
        help="run this build of the suite instead of the pinned one",
    )
    what.add_argument(
        "--warnings",
        choices=[each.value for each in WarningPolicy],
        help="whether a WARNING (a SHOULD not followed) fails (default: as the "
        "baseline says, else fail)",
    )
    what.add_argument(
        "--revision-policy",
        choices=[each.value for each in RevisionPolicy],
        default=RevisionPolicy.SAME_ERA.value,
        help="whether a leg counts that agreed on another handshake revision "
        "(default: same-era, it does and the report says so)",
    )


def _add_gate(run: argparse.ArgumentParser) -> None:
    gate = run.add_argument_group("what must not get worse")
    gate.add_argument(
        "--baseline",
        type=Path,
        metavar="PATH",
        help="hold the run to this baseline: exit 0 only if nothing got worse",
    )
    gate.add_argument(
        "--ratchet",
        action="store_true",
        help="a check that is fixed must be taken out of the baseline",
    )
    gate.add_argument(
        "--flaky-budget",
        type=int,
        metavar="N",
        help="cases that may pass only when run again, alone (default: 2)",
    )


def _add_output(run: argparse.ArgumentParser) -> None:
    how = run.add_argument_group("how, and what is kept")
    how.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="cases of the suite at a time, and twice as many of ours, which wait "
        "for half of their time (default: number of cores)",
    )
    how.add_argument(
        "--timeout",
        type=float,
        default=45.0,
        metavar="SECONDS",
        help="limit of one scenario's drive (default: 45)",
    )
    how.add_argument("--report", type=Path, help="also write the report to this path")
    how.add_argument(
        "--json", action="store_true", help="print the report instead of tables"
    )
    how.add_argument(
        "--matrix", action="store_true", help="also print every test of every scenario"
    )
    how.add_argument(
        "--artifact-parent",
        type=Path,
        metavar="DIR",
        help="make the private directories of the cases here",
    )
    how.add_argument(
        "--keep-artifacts",
        action="store_true",
        help="keep homes and logs, cleared of secrets, with the run",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code of `mcpconf.errors.ExitCode`."""
    options = _parser().parse_args(arguments)
    # Fetching takes its time, once: say so, on stderr.
    logging.basicConfig(format="mcpconf: %(message)s", level=logging.INFO)
    command = {"run": _run, "canaries": _canaries, "bench": _bench}[options.command]
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
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    policy, gate = _gate_policy(options), None
    if policy is not None:  # what is wrong with it is said before anything is fetched
        gate = gating.load_gate(options.baseline, policy, load_catalogue())
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

    strict = options.require_automatic_auth
    warnings = "fail" if gate is None else gate.baseline.warnings.default
    return RunOptions(
        client=options.client,
        binary=options.binary,
        client_version=options.client_version,
        client_command=options.client_command,
        auth_mode=AuthMode.STRICT if strict else AuthMode.ASSISTED,
        revisions=tuple(
            revision
            for revision in Revision
            if not options.revision or revision.value in options.revision
        ),
        scenarios=tuple(options.official_scenario),
        supplemental=tuple(options.supplemental_scenario),
        transports=tuple(
            each for each in Transport if options.transport in {each.value, "all"}
        ),
        only=Source(options.only) if options.only else None,
        include_auth=options.auth,
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

    from mcpconf.canaries import run_canaries  # noqa: PLC0415
    from mcpconf.render.progress import LineProgress  # noqa: PLC0415
    from mcpconf.setup import OUTPUT  # noqa: PLC0415

    results = run_canaries(OUTPUT / "canaries", LineProgress)
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
