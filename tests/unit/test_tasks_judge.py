"""Evidence of a case of the tasks extension becomes outcomes; no bad end passes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import make_ended
from tasks_scene import fixture

from mcpconf.errors import DecodeError, UsageError
from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    CheckStatus,
    Outcome,
    Policy,
    WarningPolicy,
)
from mcpconf.retention import Retention
from mcpconf.server.exchange import Exchange, Form, How
from mcpconf.server.watched import ServerSeen
from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
    unsupported,
)
from mcpconf.tasks_extension import evidence
from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario
from mcpconf.tasks_extension.drive import run_scenario
from mcpconf.tasks_extension.evidence import Evidence, RawEvidence, parse_exchanges
from mcpconf.tasks_extension.judge import judge, unreadable
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.plan import TasksCase, key_of, planned, select_tasks
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.verdict import judged

if TYPE_CHECKING:
    from pathlib import Path

_MISSING = make_ended(EndKind.EXITED, exit_code=70)


@pytest.fixture(scope="module")
def recorded() -> tuple[Exchange, ...]:
    """A whole drive of a good server."""
    exchanges: list[Exchange] = []
    with fixture("tasks") as url:
        run_scenario(SCENARIOS["tasks/discovery"], url, exchanges.append)
    return tuple(exchanges)


def _case(*checks: tuple[str, Level, Finding | Exception]) -> TasksCase:
    def look_of(finding: Finding | Exception) -> Any:
        def look(_: Observation) -> Finding:
            if isinstance(finding, Exception):
                raise finding
            return finding

        return look

    scenario = TaskScenario(
        name="tasks/discovery",
        title="made up",
        drive=lambda _: None,
        checks=tuple(
            TaskCheck(
                id=name,
                sentence=f"{name} is asked for.",
                page="https://example.org/page",
                level=level,
                looks_for="nothing",
                look=look_of(finding),
                broken=("none",),
            )
            for name, level, finding in checks
        ),
    )
    return TasksCase(key=key_of(scenario.name), scenario=scenario)


def _evidence(recorded: tuple[Exchange, ...], **changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "ended": make_ended(),
        "observation": Observation(exchanges=recorded),
        "is_whole": True,
        "server": ServerSeen(url=""),
    }
    return Evidence(**{**values, **changes})


_GOOD = _case(("one", Level.MUST, holds("seen")))


def test_a_case_that_was_never_launched_was_not_run() -> None:
    result = judge(_GOOD, None, Policy())
    assert (result.outcome, result.attribution) == (Outcome.NOT_RUN, None)
    assert result.checks[0].status is CheckStatus.SKIPPED


@pytest.mark.parametrize(
    ("finding", "outcome", "status"),
    [
        (holds("x"), Outcome.PASSED, CheckStatus.SUCCESS),
        (broken("x"), Outcome.FAILED, CheckStatus.FAILURE),
        (unobserved("x"), Outcome.UNOBSERVED, CheckStatus.FAILURE),
        (unsupported("x"), Outcome.UNSUPPORTED, CheckStatus.SKIPPED),
        (not_applicable("x"), Outcome.NOT_APPLICABLE, CheckStatus.SKIPPED),
        (ValueError("x"), Outcome.HARNESS_ERROR, CheckStatus.FAILURE),
    ],
    ids=lambda each: getattr(each, "kind", str(each)),
)
def test_what_a_check_finds_is_its_outcome(
    recorded: tuple[Exchange, ...],
    finding: Finding | Exception,
    outcome: Outcome,
    status: CheckStatus,
) -> None:
    """A check that breaks is our fault, and none of the server's."""
    result = judge(_case(("one", Level.MUST, finding)), _evidence(recorded), Policy())
    assert (result.outcome, result.checks[0].status) == (outcome, status)
    assert (result.agreed, result.offered) == (("2026-07-28",), ("2026-07-28",))


@pytest.mark.parametrize(
    ("level", "finding", "status"),
    [
        (Level.MUST, broken("x"), CheckStatus.FAILURE),
        (Level.SHOULD, broken("x"), CheckStatus.WARNING),
        (Level.SHOULD, unobserved("x"), CheckStatus.FAILURE),
        (Level.POLICY, broken("x"), CheckStatus.WARNING),
        (Level.POLICY, unobserved("x"), CheckStatus.WARNING),
    ],
)
def test_what_is_not_demanded_is_a_warning(
    recorded: tuple[Exchange, ...], level: Level, finding: Finding, status: CheckStatus
) -> None:
    """And one that only the suite asks for is one where nothing was seen, too."""
    case = _case(("one", level, finding))
    check = judge(case, _evidence(recorded), Policy()).checks[0]
    assert check.status is status
    assert (check.level, check.demand) == (level.value, "one is asked for.")


def test_a_warning_is_forgiven_by_the_policy_alone(
    recorded: tuple[Exchange, ...],
) -> None:
    case = _case(
        ("one", Level.MUST, holds("seen")), ("two", Level.SHOULD, broken("not so"))
    )
    seen = _evidence(recorded)
    assert judge(case, seen, Policy()).outcome is Outcome.FAILED
    lenient = judge(case, seen, Policy(warnings=WarningPolicy.WARN))
    assert lenient.outcome is Outcome.PASSED
    assert lenient.standing == "passed with 1 warning"


@pytest.mark.parametrize(
    ("changes", "outcome", "attribution"),
    [
        pytest.param(
            {"ended": make_ended(EndKind.STOPPED)}, Outcome.NOT_RUN, None, id="stopped"
        ),
        pytest.param(
            {"ended": make_ended(EndKind.FAILED_TO_START), "is_whole": False},
            Outcome.HARNESS_ERROR,
            Attribution.HARNESS,
            id="never-started",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.SIGNALLED), "is_whole": False},
            Outcome.HARNESS_ERROR,
            Attribution.HARNESS,
            id="killed",
        ),
        pytest.param(
            {"ended": _MISSING, "probe_stderr": "Traceback"},
            Outcome.HARNESS_ERROR,
            Attribution.HARNESS,
            id="exit-70",
        ),
        pytest.param(
            {"is_whole": False},
            Outcome.HARNESS_ERROR,
            Attribution.HARNESS,
            id="cut-short",
        ),
        pytest.param(
            {"observation": Observation(exchanges=(), driver_error="KeyError")},
            Outcome.HARNESS_ERROR,
            Attribution.HARNESS,
            id="drive-broke",
        ),
        pytest.param(
            {"observation": Observation(exchanges=()), "is_whole": True},
            Outcome.UNOBSERVED,
            Attribution.SUBJECT,
            id="nothing-sent",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.TIMED_OUT), "is_whole": False},
            Outcome.TIMED_OUT,
            Attribution.SUBJECT,
            id="outlived-its-limit-by-a-slow-server",
        ),
        pytest.param(
            {
                "ended": make_ended(EndKind.TIMED_OUT),
                "observation": Observation(exchanges=()),
                "is_whole": False,
            },
            Outcome.TIMED_OUT,
            Attribution.HARNESS,
            id="outlived-its-limit-by-itself",
        ),
    ],
)
def test_a_bad_end_decides_for_every_check(
    recorded: tuple[Exchange, ...],
    changes: dict[str, Any],
    outcome: Outcome,
    attribution: Attribution | None,
) -> None:
    result = judge(_GOOD, _evidence(recorded, **changes), Policy())
    assert (result.outcome, result.attribution) == (outcome, attribution)
    assert result.checks[0].outcome is outcome
    assert result.reason


def test_a_silent_server_is_who_a_drive_timed_out_by(
    recorded: tuple[Exchange, ...],
) -> None:
    """Also where all the other time was ours."""
    silent = replace(
        recorded[-1],
        label="get-3",
        status=None,
        form=Form.NONE,
        how=How.TIMED_OUT,
        received=(),
    )
    late = replace(recorded[0], label="last", t0_ms=90_000.0, t1_ms=90_001.0)
    seen = Observation(exchanges=(*recorded, late), out_of_time="get-4")
    ours = judge(_GOOD, _evidence((), observation=seen), Policy())
    assert (ours.outcome, ours.attribution) == (
        Outcome.TIMED_OUT,
        Attribution.HARNESS,
    )
    seen = replace(seen, exchanges=(*seen.exchanges, silent))
    theirs = judge(_GOOD, _evidence((), observation=seen), Policy())
    assert theirs.attribution is Attribution.SUBJECT
    assert "get-3" in theirs.reason
    assert "get-4" in theirs.reason


def test_one_reason_for_all_is_told_once(recorded: tuple[Exchange, ...]) -> None:
    case = _case(*((each, Level.MUST, unobserved("no answer")) for each in "ab"))
    assert judge(case, _evidence(recorded), Policy()).reason == "no answer"
    case = _case(("a", Level.MUST, broken("x")), ("b", Level.MUST, broken("y")))
    assert judge(case, _evidence(recorded), Policy()).reason == "a: x (and 1 more)"


def test_stored_evidence_is_judged_as_it_was_written(
    tmp_path: Path, recorded: tuple[Exchange, ...]
) -> None:
    case = select_tasks(requested=["tasks/discovery"])[0]
    assert judged(tmp_path, case, Policy()) is None
    _store(tmp_path, case, _log(recorded))
    result = judged(tmp_path, case, Policy())
    assert result is not None
    assert (result.outcome, result.reason) == (Outcome.PASSED, "passed")
    assert judged(tmp_path, case, Policy()) == result


def test_redaction_leaves_a_good_drive_as_good(
    tmp_path: Path, recorded: tuple[Exchange, ...]
) -> None:
    """Nothing that a check needs is taken for a secret."""
    case = select_tasks(requested=["tasks/discovery"])[0]
    log = _log(recorded)
    kept = Retention.of(wire=log, texts=(), checks=None).wire()
    assert kept == log
    _store(tmp_path, case, kept)
    result = judged(tmp_path, case, Policy())
    assert result is not None
    assert result.outcome is Outcome.PASSED


@pytest.mark.parametrize(
    "log",
    [
        '{"exchange":{}}\n',
        '{"end":{"error":null,"out_of_time":null}}\n{"exchange":{}}\n',
        '{"other":{}}\n',
        "[]\n",
        "{\n",
    ],
)
def test_evidence_that_is_not_ours_is_a_fault_of_the_harness(
    tmp_path: Path, log: str
) -> None:
    case = select_tasks(requested=["tasks/discovery"])[0]
    _store(tmp_path, case, log)
    result = judged(tmp_path, case, Policy())
    assert result is not None
    assert result.outcome is Outcome.HARNESS_ERROR
    assert "exchanges.jsonl" in result.reason or "line" in result.reason
    with pytest.raises(DecodeError):
        parse_exchanges(log.encode(), "log")


def test_a_torn_end_is_no_whole_record(recorded: tuple[Exchange, ...]) -> None:
    """A log that was cut may hold all exchanges and their end but for a byte."""
    whole = _log(recorded)
    assert parse_exchanges(whole.encode(), "log")[1] is True
    for torn in (whole[:-1], whole[:-20], whole + "{", ""):
        assert parse_exchanges(torn.encode(), "log")[1] is False


def test_unreadable_evidence_says_what_is_wrong() -> None:
    result = unreadable(_GOOD, "evidence: line 3: is missing")
    assert (result.outcome, result.attribution) == (
        Outcome.HARNESS_ERROR,
        Attribution.HARNESS,
    )
    assert result.reason == "evidence: line 3: is missing"


def test_every_scenario_has_a_key_that_leads_back_to_it() -> None:
    for case in select_tasks():
        assert planned(case.key) == case
        assert case.is_scored
        assert case.checks
    paths = [case.key.path for case in select_tasks()]
    assert len(paths) == len(set(paths))
    assert planned(replace(key_of("tasks/discovery"), variant="x")) is None
    assert planned(key_of("tasks/nothing")) is None


def test_a_misspelt_name_is_refused_with_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean tasks/creation"):
        select_tasks(requested=["tasks/creatoin"])


def _log(recorded: tuple[Exchange, ...]) -> str:
    lines = [json.dumps({"exchange": each.to_json()}) for each in recorded]
    lines.append(json.dumps({"end": {"error": None, "out_of_time": None}}))
    return "\n".join(lines) + "\n"


def _store(run_dir: Path, case: TasksCase, log: str) -> None:
    raw = RawEvidence(
        ended=make_ended(), exchanges=log, probe_stderr=None, server=ServerSeen(url="")
    )
    evidence.write(run_dir, case.key, raw)


def test_a_server_that_died_has_crashed_whatever_was_recorded() -> None:
    dead = ServerSeen(url="", ended=make_ended(exit_code=3), stderr="out of memory")

    judged = judge(_GOOD, _evidence((), server=dead), Policy())

    assert judged.outcome is Outcome.CRASHED
    assert judged.attribution is Attribution.SUBJECT
    assert judged.reason.endswith("exited with 3 during this scenario: out of memory")
    assert {each.outcome for each in judged.checks} == {Outcome.CRASHED}
