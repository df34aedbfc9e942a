"""
Every check of ours is seen to pass, and seen to fail for its own reason alone.

The good client and every broken one are real programs on the real fixture server. They
are run once, several at a time, before the first test; each then reads the results.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from supplemental_case import CLIENTS, run_case

from mcpconf.record import CaseKey, Outcome, Source
from mcpconf.revision import Revision
from mcpconf.supplemental.plan import planned, select_supplemental
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcpconf.record import ScenarioResult
    from mcpconf.supplemental.plan import SupplementalCase

    Results = Mapping[tuple[str, str], ScenarioResult]

ALL_CASES = select_supplemental(tuple(Revision), tuple(Transport))
#: One revision of each era: the handshake ones differ in what the good client shows.
_ERAS = (Revision.V2025_11_25, Revision.V2026_07_28)
_FINE = {Outcome.PASSED, Outcome.NOT_APPLICABLE, Outcome.UNSUPPORTED}


def _broken_runs() -> list[tuple[str, SupplementalCase]]:
    """Each broken client, at one revision of each era, over each transport."""
    runs: dict[tuple[str, CaseKey], SupplementalCase] = {}
    for name, scenario in SCENARIOS.items():
        for check in scenario.checks:
            revisions = scenario.revisions & check.revisions
            legs = [each for each in _ERAS if each in revisions] or [max(revisions)]
            for transport in scenario.transports & check.transports:
                for revision in legs:
                    key = CaseKey(
                        revision=revision,
                        scenario=name,
                        source=Source.SUPPLEMENTAL,
                        transport=transport,
                    )
                    case = planned(key)
                    assert case is not None, key
                    runs |= {(client, key): case for client in check.broken}
    return [(client, case) for (client, _), case in runs.items()]


BROKEN_RUNS = _broken_runs()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Every run of this module, by client and case."""
    place = tmp_path_factory.mktemp("runs")
    runs = [*(("good", case) for case in ALL_CASES), *BROKEN_RUNS]

    def one(number: int, client: str, case: SupplementalCase) -> ScenarioResult:
        run_dir: Path = place / str(number)
        run_dir.mkdir()
        return run_case(client, case, run_dir)

    together = [run for run in runs if not run[1].timing_sensitive]
    alone = [run for run in runs if run[1].timing_sensitive]
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:  # they wait a lot
        futures = {
            (client, str(case.key)): pool.submit(one, number, client, case)
            for number, (client, case) in enumerate(together)
        }
    found = {name: future.result() for name, future in futures.items()}
    for number, (client, case) in enumerate(alone, start=len(together)):
        found[client, str(case.key)] = one(number, client, case)
    return found


def test_there_are_checks_for_every_leg() -> None:
    legs = {(case.key.transport, case.key.revision) for case in ALL_CASES}
    assert legs == {(each, revision) for each in Transport for revision in Revision}


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: str(case.key))
def test_the_good_client_passes(case: SupplementalCase, results: Results) -> None:
    result = results["good", str(case.key)]
    problems = {
        check.check_id: check.error
        for check in result.checks
        if check.outcome is not Outcome.PASSED
    }
    assert not problems, problems
    assert not [each for each in result.harness_checks if each[1]]
    assert result.outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("client", "case"), BROKEN_RUNS, ids=lambda each: getattr(each, "key", each)
)
def test_a_broken_client_fails_for_its_own_reason(
    client: str, case: SupplementalCase, results: Results
) -> None:
    result = results[client, str(case.key)]
    meant = {each.id for each in case.checks if client in each.broken}
    failed = {
        each.check_id: each.error for each in result.checks if each.outcome not in _FINE
    }
    assert set(failed) == meant, failed
    assert {each.outcome for each in result.checks if each.check_id in meant} == {
        Outcome.FAILED
    }, failed


def test_every_broken_client_is_named_by_a_check() -> None:
    named = {
        client
        for scenario in SCENARIOS.values()
        for check in scenario.checks
        for client in check.broken
    }
    written = {
        path.stem
        for path in CLIENTS.glob("*.py")
        if "reference" in path.read_text(encoding="utf-8") and path.stem != "good"
    }
    assert named == written


def test_check_ids_are_unique_in_a_case_and_steps_exist() -> None:
    for case in ALL_CASES:
        ids = [check.id for check in case.checks]
        assert len(ids) == len(set(ids)), case.key
    for scenario in SCENARIOS.values():
        steps = {step.id for step in scenario.steps}
        assert len(steps) == len(scenario.steps), scenario.name
        for check in scenario.checks:
            assert set(check.needs) <= steps, (scenario.name, check.id)
            assert set(check.provoked_by) <= set(scenario.profiles), check.id
            assert check.broken, check.id
