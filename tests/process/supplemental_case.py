"""One supplemental case with a client of ``fixtures/clients``: launched and judged."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.case import Launch
from mcpconf.client.manifest import COMMAND
from mcpconf.client.subject import Subject
from mcpconf.record import CaseKey, Policy, Source
from mcpconf.supplemental import evidence, judge, launch
from mcpconf.supplemental.plan import planned

if TYPE_CHECKING:
    from mcpconf.record import ScenarioResult
    from mcpconf.revision import Revision
    from mcpconf.supplemental.observation import Observation
    from mcpconf.supplemental.plan import SupplementalCase
    from mcpconf.transport import Transport

CLIENTS = Path(__file__).parents[2] / "fixtures" / "clients"


def case_of(
    scenario: str, revision: Revision, transport: Transport
) -> SupplementalCase:
    """The case, which must exist."""
    key = CaseKey(
        revision=revision,
        scenario=scenario,
        source=Source.SUPPLEMENTAL,
        transport=transport,
    )
    case = planned(key)
    assert case is not None, key
    return case


def run_case(
    client: str, case: SupplementalCase, run_dir: Path, *, timeout_s: float = 20.0
) -> ScenarioResult:
    """Run `client` (a file's name without ``.py``) through one case."""
    program = CLIENTS / f"{client}.py"
    assert program.is_file(), program
    subject = Subject(
        manifest=COMMAND,
        argv=(sys.executable, "-E", "-s", "-S", str(program)),
        binary=program,
        sha256="0" * 64,
        version=client,
        source="given",
    )
    how = Launch(
        subject=subject,
        run_dir=run_dir,
        parent=run_dir,
        keep_artifacts=False,
        timeout_s=timeout_s,
        auth="assisted",
        environment=dict(os.environ),
    )
    launch.launch_case(how, case, lambda _running: None)
    return judge.judge(case, evidence.read(run_dir, case.key), Policy())


def observed(case: SupplementalCase, run_dir: Path) -> Observation:
    """What the checks of a case that was run saw."""
    found = evidence.read(run_dir, case.key)
    assert found is not None
    return judge.observe(case, found)
