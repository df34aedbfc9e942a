"""Where an expected refusal shows on the wire, and where it does not."""

from __future__ import annotations

import pytest
from make import make_exchange, make_log

from mcpconf.suite.rejection import REJECTIONS, Stage, rejection_problem, stage_of


@pytest.mark.parametrize(
    ("method", "url", "status", "stage"),
    [
        (
            "GET",
            "/.well-known/oauth-protected-resource",
            200,
            Stage.RESOURCE_METADATA,
        ),
        (
            "GET",
            "/.well-known/oauth-protected-resource/mcp?x=1",
            200,
            Stage.RESOURCE_METADATA,
        ),
        ("GET", "/.well-known/oauth-protected-resource", 404, None),
        ("GET", "/.well-known/oauth-protected-resource", None, None),
        ("GET", "/.well-known/oauth-authorization-server", 200, Stage.SERVER_METADATA),
        (
            "GET",
            "/tenant1/.well-known/openid-configuration",
            200,
            Stage.SERVER_METADATA,
        ),
        ("GET", "/.well-known/oauth-authorization-server", 404, None),
        ("GET", "/authorize?response_type=code", 302, Stage.AUTHORIZATION),
        ("GET", "/tenant1/authorize", 400, Stage.AUTHORIZATION),
        ("POST", "/token", 400, Stage.TOKEN),
        ("POST", "/tenant1/token?x", None, Stage.TOKEN),
        ("GET", "/token", 404, None),
        ("POST", "/mcp", 200, None),
        ("POST", "/register", 201, None),
        ("GET", "/mcp?next=/authorize", 200, None),
    ],
)
def test_an_exchange_belongs_to_one_stage(
    method: str, url: str, status: int | None, stage: Stage | None
) -> None:
    assert stage_of(make_exchange(1, method, url, status=status)) is stage


def test_a_scenario_that_expects_no_refusal_has_no_problem() -> None:
    token = make_exchange(1, "POST", "/token")
    for log in (make_log(), make_log(token), make_log(truncated=True)):
        assert rejection_problem("auth/basic-cimd", log) == (None, False)


@pytest.mark.parametrize(
    "scenario", [name for name, each in REJECTIONS.items() if each.forbidden]
)
def test_going_too_far_is_the_clients_and_decides_before_a_short_log(
    scenario: str,
) -> None:
    log = make_log(make_exchange(1, "POST", "/token"), truncated=True)
    problem, is_subjects = rejection_problem(scenario, log)
    assert problem is not None
    assert is_subjects


@pytest.mark.parametrize("scenario", REJECTIONS)
def test_nothing_at_all_is_no_refusal(scenario: str) -> None:
    problem, is_subjects = rejection_problem(scenario, make_log())
    assert problem is not None
    assert "nothing was refused" in problem
    assert not is_subjects
