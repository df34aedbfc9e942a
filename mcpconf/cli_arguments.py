"""
The options of the command line, in groups that the commands share.

What they mean is in `mcpconf.setup`; here is how they are written.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NoReturn

import mcpconf
from mcpconf.client.manifest import MANIFESTS
from mcpconf.errors import ExitCode
from mcpconf.record import RevisionPolicy, Source, WarningPolicy
from mcpconf.revision import Revision
from mcpconf.server.choice import ENDPOINT
from mcpconf.transport import Transport


class _Parser(argparse.ArgumentParser):
    """A parser whose refusals look like all the others: one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse; `--help` has the usage."""
        self.exit(int(ExitCode.BAD_INPUT), f"mcpconf: error: {message}\n")


def parser() -> argparse.ArgumentParser:
    """Everything that may stand on the command line."""
    whole = _Parser(
        prog="mcpconf",
        description="Does this MCP client or server do what the dated revision says?",
        epilog="exit codes: 0 conformant, 1 not conformant, 2 usage or bad input, "
        "3 incomplete or a fault of the harness",
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=mcpconf.__version__)
    commands = whole.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run", help="run the official client scenarios and ours", allow_abbrev=False
    )
    _add_subject(run)
    _add_client_selection(_add_selection(run))
    _add_gate(run)
    _add_output(run)
    server = commands.add_parser(
        "server",
        help="run the official server scenarios, and ours of the tasks extension",
        allow_abbrev=False,
    )
    _add_server(server)
    _add_selection(server)
    _add_gate(server)
    _add_output(server)
    commands.add_parser("canaries", help="run the clients that do next to nothing")
    commands.add_parser("bench", help="measure speed, as ratios in one run")
    return whole


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


def _add_server(server: argparse.ArgumentParser) -> None:
    subject = server.add_argument_group("the server under test (default: our fixture)")
    which = subject.add_mutually_exclusive_group()
    which.add_argument("--url", help="a server that runs: its MCP endpoint")
    which.add_argument(
        "--server-command",
        metavar="COMMAND",
        help="start it: {port} stands for the port it is to listen on, {revision} for "
        "the dated revision; no shell is involved",
    )
    subject.add_argument(
        "--path",
        default=ENDPOINT,
        help=f"where the endpoint of --server-command is (default: {ENDPOINT})",
    )


def _add_selection(run: argparse.ArgumentParser) -> argparse._ArgumentGroup:
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
    return what


def _add_client_selection(what: argparse._ArgumentGroup) -> None:
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
