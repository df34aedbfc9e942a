"""
What the official scenarios of the tasks extension see of each fault of ours.

Every fault profile is served, and the suite's scenarios are run against it until one
fails. The good server comes first: it fails none, or nothing that follows means
anything.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.errors import FixtureError, ProvisionError
from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.plan import select_cases
from mcpconf.record import CheckStatus, Role
from mcpconf.revision import Revision
from mcpconf.server.case import ServerLaunch, launch_case
from mcpconf.server.evidence import read_case
from mcpconf.storage import write_json
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.suite.install import install_suite
from mcpconf.tasks_extension.traceability import checks_failed_by, fault_names
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.decode import Json
    from mcpconf.plan import PlannedCase
    from mcpconf.suite.install import Suite

_REVISION = Revision.V2026_07_28
#: The good server.
_GOOD = "tasks"
_TIMEOUT_S = 30.0
#: A tool's second, so that the suite's slow tools do not take a minute.
_SECOND_S = 0.2


def write_kills(out: Path, *, jobs: int, tell: Callable[[str], None]) -> int:
    """
    Run the scenarios against every fault, and write which checks failed; how many did.

    :raises McpconfError: the suite cannot be had, evidence cannot be kept, or a
        scenario fails on the good server.
    """
    suite, catalogue = install_suite(), load_catalogue(role=Role.SERVER)
    names = [
        entry.scenario
        for entry in catalogue.revisions[_REVISION]
        if entry.scenario.startswith("tasks-") and any(entry.required)
    ]
    cases = select_cases(catalogue, (_REVISION,), requested=names)
    good = _failed(suite, cases, _GOOD)
    if good:
        raise FixtureError(f"the suite fails the good server: {', '.join(good)}")
    with ThreadPoolExecutor(jobs) as executor:
        one = partial(_told, suite, cases, tell)
        found: dict[str, Json] = dict(executor.map(one, fault_names()))
    write_json(out, {"suite": catalogue.suite_version, "faults": found})
    return sum(bool(each) for each in found.values())


def _told(
    suite: Suite,
    cases: tuple[PlannedCase, ...],
    tell: Callable[[str], None],
    fault: str,
) -> tuple[str, Json]:
    # The scenario that looks at the same comes first, and is mostly the last.
    looked = {each for _, check in checks_failed_by(fault) for each in check.official}
    ordered = sorted(cases, key=lambda case: not looked & {*case.entry.checks})
    failed = _failed(suite, tuple(ordered), fault)
    tell(f"{fault}: {', '.join(failed) or 'not seen'}")
    return fault, [*failed]


def _failed(
    suite: Suite, cases: tuple[PlannedCase, ...], profile: str
) -> tuple[str, ...]:
    """The checks that fail, of the first scenario in which any does."""
    options = Options(
        revision=_REVISION,
        transport=Transport.HTTP,
        profiles=(profile,),
        limits=Limits(task_second_s=_SECOND_S),
    )
    with tempfile.TemporaryDirectory(prefix="mcpconf-kills-") as name:
        for case in cases:
            with serving(options) as running:  # some faults remember
                launch = ServerLaunch(
                    suite=suite,
                    url=running.url,
                    run_dir=Path(name),
                    parent=None,
                    keep_artifacts=False,
                    timeout_s=_TIMEOUT_S,
                    environment=dict(os.environ),
                )
                launch_case(launch, case, lambda _: None)
            stored = read_case(launch.run_dir, case.key)
            if stored is None:
                raise ProvisionError(f"{case.key}: no evidence")
            failed = [
                check.check_id
                for check in stored.checks
                if check.status is CheckStatus.FAILURE
            ]
            if stored.checks_fault is not None:
                failed.append(f"{case.key.scenario} (breaks)")
            if failed:
                return tuple(dict.fromkeys(failed))
    return ()
