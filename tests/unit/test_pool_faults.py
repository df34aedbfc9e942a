"""One case that breaks costs that case, and the run its verdict; the others go on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.errors import FixtureError
from mcpconf.pool import Pool
from mcpconf.record import Attribution, Outcome, Policy, Role, ScenarioResult
from mcpconf.revision import Revision
from mcpconf.selection import Selection
from mcpconf.supplemental import launch
from mcpconf.supplemental.plan import SupplementalCase, select_supplemental
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CASES = select_supplemental(
    (Revision.V2026_07_28,), (Transport.STDIO,), requested=("basics", "metadata")
)


class Quiet:
    """Progress that tells nobody."""

    def started(self, case: object) -> None:
        pass

    def finished(self, result: ScenarioResult) -> None:
        pass


@pytest.mark.parametrize(
    "problem", [FixtureError("the fixture server broke"), RecursionError("too deep")]
)
def test_a_case_that_breaks_leaves_the_others(
    problem: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def launched(_launch: object, case: SupplementalCase, _started: Any) -> None:
        if case.key.scenario == "basics":
            raise problem

    def judged(
        _role: Role, _dir: Path, case: SupplementalCase, _policy: Policy, **_: Any
    ) -> ScenarioResult:
        return ScenarioResult(
            key=case.key,
            outcome=Outcome.FAILED,
            attribution=Attribution.SUBJECT,
            reason="as it was",
        )

    monkeypatch.setattr(launch, "launch_case", launched)
    monkeypatch.setattr("mcpconf.pool.judged", judged)
    record = SimpleNamespace(
        auth_mode=SimpleNamespace(value="assisted"),
        policy=Policy(),
        selection=Selection(),
    )
    setup: Any = SimpleNamespace(
        suite=None,
        subject=None,
        keep_artifacts=False,
        timeout_s=1.0,
        record=record,
        launched=CASES,
        jobs=1,
    )
    publish: Callable[[object], None] = lambda _results: None  # noqa: E731
    pool = Pool(setup, tmp_path, tmp_path, Quiet(), publish)
    pool.run()
    assert set(pool.results) == {"2026-07-28/stdio/metadata"}
    (fault,) = pool.faults
    assert fault.startswith("2026-07-28/stdio/basics: ")
    assert str(problem) in fault
    assert not list(tmp_path.iterdir())
