"""Which checks a run can have, and what is said of the others."""

from __future__ import annotations

import pytest
from make import (
    MIDDLE,
    NEW,
    OLD,
    make_case,
    make_evidence,
    make_exchange,
    make_log,
    make_opening,
)
from make_baseline import CATALOGUE

from mcpconf.baseline.known import KnownChecks, known_checks, warning_refs
from mcpconf.identity import CheckIdentity, Leg
from mcpconf.judge import (
    EXPECTED_REFUSAL,
    REFUSAL_REACHED,
    REQUIRED_CHECK,
    REVISION_NAMED,
    judge,
)
from mcpconf.record import Policy
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.suite.rejection import REJECTIONS

SUITES = Leg("official-http", NEW)
MEANT = "; did you mean tools_call?"
#: A scenario that is driven in other ways as well.
OFFLINE = "auth/offline-access-scope"
PINNED = load_catalogue()


@pytest.mark.parametrize(
    ("leg", "scenario", "source", "ids"),
    [
        (SUITES, "tools_call", "official", {"required-a", "required-b", "silent"}),
        (
            SUITES,
            "tools_call",
            "harness",
            {
                "harness/tools_call/codex-adapter",
                "harness/tools_call/wire-schema",
                "harness/tools_call/required-check",
                "harness/tools_call/revision-named",
                "harness/tools_call/official-runner",
            },
        ),
        (SUITES, "tools_call", "supplemental", set()),
        (
            SUITES,
            "auth/offline-access-scope",
            "supplemental",
            {"auto_cimd", "forced_cimd"},
        ),
        (
            Leg("official-http", MIDDLE),
            "auth/offline-access-scope",
            "supplemental",
            set(),
        ),
        (SUITES, "nothing", "official", set()),
        (SUITES, "nothing", "harness", set()),
        (
            Leg("http", OLD),
            "basics",
            "harness",
            {"harness/basics/codex-adapter", "harness/basics/wire-schema"},
        ),
        (Leg("stdio", OLD), "basics", "official", set()),
        (Leg("stdio", OLD), "nothing", "supplemental", set()),
        (Leg("stdio", OLD), "nothing", "harness", set()),
        # A scenario of HTTP alone.
        (Leg("stdio", OLD), "http-ack-200", "supplemental", set()),
        (Leg("http", OLD), "http-ack-200", "supplemental", {"http-ack-200"}),
    ],
)
def test_a_scenario_has_these_checks_in_this_leg(
    leg: Leg, scenario: str, source: str, ids: set[str]
) -> None:
    assert known_checks(CATALOGUE, leg, scenario, source, client="codex") == ids


def test_another_client_has_no_variants_and_its_own_drivers_check() -> None:
    of = {
        client: known_checks(PINNED, SUITES, OFFLINE, "harness", client=client)
        for client in ("python-sdk", "a program of mine")
    }
    assert f"harness/{OFFLINE}/python-sdk-adapter" in of["python-sdk"]
    assert f"harness/{OFFLINE}/command-adapter" in of["a program of mine"]
    for client in of:
        ids = known_checks(PINNED, SUITES, OFFLINE, "supplemental", client=client)
        assert ids == frozenset()


def test_a_refusal_is_stated_only_where_one_is_expected() -> None:
    labels = {
        scenario: {
            each.removeprefix(f"harness/{scenario}/")
            for each in known_checks(PINNED, SUITES, scenario, "harness")
        }
        for scenario in (*REJECTIONS, OFFLINE)
    }
    refusing = {name for name in REJECTIONS if PINNED.entry(NEW, name)}
    assert "auth/iss-wrong-issuer" in refusing
    ending = {name for name in refusing if REJECTIONS[name].forbidden}
    assert ending < refusing
    for label, wanted in ((REFUSAL_REACHED, refusing), (EXPECTED_REFUSAL, ending)):
        assert {name for name, each in labels.items() if label in each} == wanted
    for label in (REQUIRED_CHECK, REVISION_NAMED):
        has = {name for name, each in labels.items() if label in each}
        assert has == {*refusing, OFFLINE}


@pytest.mark.parametrize(
    "paths", [(), ("/authorize",), ("/authorize", "/token"), ("/token",)]
)
def test_whatever_is_stated_of_a_refusal_may_stand_in_a_baseline(
    paths: tuple[str, ...],
) -> None:
    case = make_case("auth/iss-wrong-issuer", NEW)
    steps = [
        make_exchange(number, "POST", path) for number, path in enumerate(paths, 2)
    ]
    evidence = make_evidence(case, wire=make_log(make_opening(NEW), *steps))
    stated = {name for name, _ in judge(case, evidence, Policy()).harness_checks}
    assert {REQUIRED_CHECK, REVISION_NAMED, REFUSAL_REACHED} < stated
    known = known_checks(PINNED, SUITES, case.key.scenario, "harness")
    prefix = f"harness/{case.key.scenario}/"
    assert {f"{prefix}{name}" for name in stated - {"adapter"}} <= known


def test_a_statement_that_is_gone_is_no_check() -> None:
    known = KnownChecks(catalogue=CATALOGUE, client="codex")
    label = "harness/tools_call/evidence"
    gone = CheckIdentity(NEW, "official-http", "harness", "tools_call", label)
    assert f"no harness check {label!r} here" in str(known.problem(gone))
    named = gone._replace(check_id="harness/tools_call/revision-named")
    assert known.problem(named) is None


def test_any_client_is_meant_where_none_is_named() -> None:
    ids = known_checks(PINNED, SUITES, "tools_call", "harness")
    labels = {each.rpartition("/")[2] for each in ids}
    assert {"codex-adapter", "python-sdk-adapter", "command-adapter"} <= labels


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        (
            CheckIdentity(NEW, "official-http", "official", "tools_call", "silen"),
            "'tools_call' has no official check 'silen' here; did you mean silent?",
        ),
        (
            CheckIdentity(NEW, "official-http", "official", "tools-call", "silent"),
            f"no client scenario of suite 9.9.9 is called 'tools-call'{MEANT}",
        ),
        (
            CheckIdentity(NEW, "stdio", "official", "tools_call", "silent"),
            "the suite's scenarios run over official-http, never stdio 2026-07-28",
        ),
        (
            CheckIdentity(NEW, "stdio", "supplemental", "http-ack-200", "http-ack-200"),
            "the scenario 'http-ack-200' does not run in the leg stdio 2026-07-28",
        ),
        (
            CheckIdentity(NEW, "stdio", "supplemental", "xyz", "a"),
            "no scenario of ours is called 'xyz'",
        ),
    ],
)
def test_a_check_that_cannot_be_is_told_from_one_that_can(
    identity: CheckIdentity, said: str
) -> None:
    known = KnownChecks(catalogue=CATALOGUE, client="codex")
    good = CheckIdentity(NEW, "official-http", "official", "tools_call", "silent")
    assert known.problem(good) is None
    assert known.problem(identity) == said


def test_a_scenario_of_other_revisions_is_told_where_it_is() -> None:
    known = KnownChecks(catalogue=PINNED, client="codex")
    identity = CheckIdentity(
        NEW, "official-http", "official", "sse-retry", "client-sse-retry-timing"
    )
    said = "'sse-retry' is only in 2025-11-25, not in 2026-07-28"
    assert known.problem(identity) == said
    entry = PINNED.entry(NEW, "auth/dpop")
    assert entry is not None
    apart = identity._replace(scenario="auth/dpop", check_id=entry.checks[0])
    assert "runs without counting at 2026-07-28 (extension)" in str(
        known.problem(apart)
    )


def test_only_the_transports_that_are_asked_for_are_judged() -> None:
    known = KnownChecks(catalogue=CATALOGUE, client=None, transports=("stdio",))
    strange = CheckIdentity(NEW, "official-http", "official", "strange", "x")
    assert known.problem(strange) is None
    assert known.scenario_problem(strange.leg, "strange", "official") is None


def test_whatever_may_warn_has_a_reference() -> None:
    refs = warning_refs(PINNED)
    assert "sse-retry:client-sse-retry-timing" in refs
    assert "basics:identity" in refs
    assert not any(each.startswith("auth/dpop:") for each in refs)
