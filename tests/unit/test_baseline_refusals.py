"""What is wrong in a baseline file, one spoilt file at a time."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from make import MIDDLE, NEW, OLD
from make_baseline import CATALOGUE, SHIPPING, TODAY, make_file

from mcpconf.baseline.decode import from_json
from mcpconf.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[Any], object]


def _decode(value: Any) -> object:
    return from_json(value, "codex.json", catalogue=CATALOGUE, today=TODAY)


def _refusal(value: Any) -> str:
    with pytest.raises(DecodeError) as caught:
        _decode(value)
    return str(caught.value)


def _failing(**changes: Any) -> Change:
    """Change the first failing entry."""
    return lambda value: value["checks"]["failing"][0].update(changes)


PASSING = "official-http 2026-07-28"
FIRST = "checks.failing[0]"


V2: list[tuple[str, Change, str]] = [
    # -- members
    ("unknown key", lambda v: v.update(owner="me"), "owner: unknown key"),
    ("missing", lambda v: v.pop("shipping"), "shipping: is missing"),
    ("client", lambda v: v["client"].update(name=" "), "client.name: is empty"),
    ("client key", lambda v: v["client"].update(x=1), "client: unknown key x"),
    ("suite", lambda v: v["suite"].update(gitRef=1), "suite.gitRef: expected a string"),
    (
        "catalogue",
        lambda v: v["suite"].update(catalogue=None),
        "suite.catalogue: expected a string, got null",
    ),
    (
        "auth",
        lambda v: v.update(automaticAuthRequired="no"),
        "automaticAuthRequired: expected a boolean",
    ),
    (
        "modern",
        lambda v: v.update(modernFeatureEnablement=False),
        "modernFeatureEnablement: must be true",
    ),
    (
        "modern is no number",
        lambda v: v.update(modernFeatureEnablement=1),
        "modernFeatureEnablement: must be true",
    ),
    (
        "policy",
        lambda v: v.update(revisionPolicy="any"),
        "revisionPolicy: unknown word 'any'; known: same-era, exact",
    ),
    (
        "warning policy",
        lambda v: v["warnings"].update(default="ignore"),
        "warnings.default: unknown word 'ignore'; known: fail, warn",
    ),
    (
        "warning of an unknown check",
        lambda v: v["warnings"]["checks"].update({"tools_call:required": "warn"}),
        "did you mean tools_call:required-",
    ),
    (
        "shipping",
        lambda v: v.update(shipping=["2025-06-19"]),
        "shipping[0]: unknown word '2025-06-19'",
    ),
    (
        "shipping twice",
        lambda v: v.update(shipping=[OLD, OLD]),
        "shipping: lists a word twice",
    ),
    # -- scope
    (
        "no revisions",
        lambda v: v["scope"].update(revisions=[]),
        "scope.revisions: is empty",
    ),
    (
        "order",
        lambda v: v["scope"].update(revisions=[NEW, MIDDLE, OLD]),
        "scope.revisions: is out of order",
    ),
    (
        "http twice",
        lambda v: v["scope"].update(transports=["http", "official-http"]),
        "scope.transports: http holds official-http already",
    ),
    (
        "no leg",
        lambda v: v["scope"].update(transports=["stdio"], sources=["official"]),
        "scope: holds no leg",
    ),
    (
        "leg outside",
        lambda v: v["scope"].update(revisions=[MIDDLE, NEW]),
        "the leg http 2025-06-18 is outside of the baseline's scope",
    ),
    (
        "auth outside",
        lambda v: v["scope"].update(authentication=False),
        "does not have the scenario 'auth/basic-cimd'",
    ),
    # -- entries
    (
        "passing leg",
        lambda v: v["checks"]["passing"].update({"stdio-2025-06-18": {}}),
        "checks.passing.stdio-2025-06-18: is no leg",
    ),
    (
        "passing leg twice over",
        lambda v: v["checks"]["passing"].update({"stdio 2025-06-18 ": {}}),
        "is no leg",
    ),
    (
        "passing form",
        lambda v: v["checks"]["passing"][PASSING]["tools_call"].append("required-c"),
        "'required-c' is not of the form <source>:<check id>",
    ),
    (
        "passing number",
        lambda v: v["checks"]["passing"][PASSING]["tools_call"].append(3),
        "3 is not of the form",
    ),
    (
        "passing no list",
        lambda v: v["checks"]["passing"][PASSING].update(tools_call={}),
        "checks.passing.official-http 2026-07-28.tools_call: expected an array",
    ),
    (
        "passing twice",
        lambda v: v["checks"]["passing"][PASSING]["tools_call"].append(
            "official:required-a"
        ),
        "tools_call:required-a is listed already, at checks.passing",
    ),
    (
        "unknown check",
        lambda v: v["checks"]["passing"][PASSING]["tools_call"].append(
            "official:required-z"
        ),
        "'tools_call' has no official check 'required-z' here; did you mean required-",
    ),
    (
        "unknown scenario",
        lambda v: v["checks"]["passing"][PASSING].update(tool_call=["official:x"]),
        "is called 'tool_call'; did you mean tools_call?",
    ),
    (
        "unknown scenario of ours",
        lambda v: v["checks"]["passing"]["stdio 2025-06-18"].update(
            basic=["supplemental:identity"]
        ),
        "no scenario of ours is called 'basic'; did you mean basics?",
    ),
    (
        "another client's check",
        lambda v: v["checks"]["passing"][PASSING]["tools_call"].append(
            "harness:harness/tools_call/null-adapter"
        ),
        "has no harness check 'harness/tools_call/null-adapter' here",
    ),
    (
        "failing twice",
        lambda v: v["checks"]["failing"].append(dict(v["checks"]["failing"][0])),
        "failing[2]: stdio 2025-11-25 / basics:identity is listed already, at checks.",
    ),
    (
        "no object",
        lambda v: v["checks"]["failing"].append(7),
        "failing[2]: expected an",
    ),
    ("no list", lambda v: v["checks"].update(failing={}), "failing: expected an array"),
    ("no lists", lambda v: v.update(checks=[]), "checks: expected an object"),
    ("check key", lambda v: v["checks"].update(skip=[]), "checks.skip: unknown key"),
    ("entry key", _failing(owner="me"), f"{FIRST}.owner: unknown key"),
    ("mode", _failing(mode="2024-11-05"), f"{FIRST}.mode: unknown word '2024-11-05'"),
    ("transport", _failing(transport="sse"), f"{FIRST}.transport: unknown word 'sse'"),
    ("source", _failing(source="suite"), f"{FIRST}.source: unknown word 'suite'"),
    ("id", _failing(check_id=""), f"{FIRST}.check_id: is empty"),
    ("status", _failing(status="FAILED"), f"{FIRST}.status: unknown word 'FAILED'"),
    ("status skip", _failing(status="SKIP"), f"{FIRST}.status: unknown word 'SKIP'"),
    ("outcome", _failing(outcome="bad"), f"{FIRST}.outcome: unknown word 'bad'"),
    ("crash", _failing(outcome="crashed"), f"{FIRST}.outcome: 'crashed' is never"),
    ("time-out", _failing(outcome="timed-out"), "'timed-out' is never expected"),
    ("flaky", _failing(outcome="flaky"), "'flaky' is never expected"),
    ("pass", _failing(status="FAIL", outcome="passed"), "'passed' is never expected"),
    # -- explanations
    ("reason", _failing(reason=" \n"), f"{FIRST}.reason: is empty"),
    ("no reason", _failing(reason=None), f"{FIRST}.reason: expected a string"),
    ("class", _failing(**{"class": "bug"}), f"{FIRST}.class: unknown word 'bug'"),
    (
        "link",
        _failing(link="javascript:a()"),
        f"{FIRST}.link: expected an address",
    ),
    ("link spaces", _failing(link="https://x y"), f"{FIRST}.link: expected an address"),
    ("since", _failing(since="30.11.2026"), f"{FIRST}.since: '30.11.2026' is no date"),
    ("since day", _failing(since="2026-02-30"), "'2026-02-30' is no date"),
    ("since form", _failing(since="20261130"), "'20261130' is no date"),
    (
        "future",
        _failing(since="2026-12-01"),
        f"{FIRST}.since: 2026-12-01 is in the fut",
    ),
    ("expired", _failing(expires="2026-11-30"), f"{FIRST}.expires: expired on 2026-11"),
    ("expires", _failing(expires="never"), f"{FIRST}.expires: 'never' is no date"),
    # -- what must hold between entries
    (
        "shipping failure",
        lambda v: v.update(shipping=[OLD, NEW]),
        "auth/basic-cimd:required-a fails at 2026-07-28, which ships",
    ),
    (
        "missing scenario",
        lambda v: v["checks"]["passing"][PASSING].pop("tools_call"),
        "checks: official-http 2026-07-28 has no check of tools_call",
    ),
    (
        "missing leg",
        lambda v: v["checks"]["passing"].pop("http 2025-06-18"),
        "checks: the leg http 2025-06-18 has no check",
    ),
]


@pytest.mark.parametrize(
    ("change", "said"), [pytest.param(*each[1:], id=each[0]) for each in V2]
)
def test_a_spoilt_version_2_file_is_refused_by_name(change: Change, said: str) -> None:
    value = make_file()
    _decode(copy.deepcopy(value))
    change(value)
    refusal = _refusal(value)
    assert refusal.startswith("codex.json: ")
    assert said in refusal


V1: list[tuple[str, Change, str]] = [
    ("unknown key", lambda v: v.update(client="x"), "client: unknown key"),
    ("schema", lambda v: v.update(schemaVersion=5), "schemaVersion: must be 4"),
    (
        "modes",
        lambda v: v["requiredModes"].pop(),
        "requiredModes: must be ['2025-06-18', '2025-11-25', '2026-07-28']",
    ),
    (
        "transports",
        lambda v: v.update(transports=["stdio", "http"]),
        "transports: must be ['stdio', 'official-http']",
    ),
    (
        "version check",
        lambda v: v.update(versionCheck={"success": False}),
        "versionCheck: must be {'success': True}",
    ),
    ("modern", lambda v: v.update(modernFeatureEnablement=False), "must be True"),
    (
        "auth",
        lambda v: v.pop("automaticAuthRequired"),
        "automaticAuthRequired: is ",
    ),
    (
        "no auth",
        lambda v: v["officialConformance"].update(authenticationIncluded=False),
        "officialConformance.authenticationIncluded: must be true",
    ),
    (
        "official key",
        lambda v: v["officialConformance"].update(scope="all"),
        "officialConformance: unknown key scope",
    ),
    (
        "order of scenarios",
        lambda v: v["officialConformance"]["scenarios"][NEW].reverse(),
        "scenarios.2026-07-28: is not the whole catalogue, in the suite's order",
    ),
    (
        "a revision without scenarios",
        lambda v: v["officialConformance"]["scenarios"].pop(NEW),
        "officialConformance.scenarios.2026-07-28: is missing",
    ),
    (
        "http",
        lambda v: v["checks"]["passing"][0].update(transport="http"),
        "is outside of the baseline's scope",
    ),
    (
        "reason",
        lambda v: v["checks"]["failing"][0].update(reason="x"),
        "checks.failing[0].reason: unknown key",
    ),
    (
        "malformed",
        lambda v: v["checks"]["passing"][0].update(scenario=None),
        "checks.passing[0].scenario: expected a string",
    ),
    (
        "duplicate",
        lambda v: v["checks"]["passing"].append(dict(v["checks"]["passing"][0])),
        "is listed already, at checks.passing[0]",
    ),
    (
        "unknown check",
        lambda v: v["checks"]["failing"][0].update(check_id="identitty"),
        "has no supplemental check 'identitty' here; did you mean identity?",
    ),
    (
        "shipping",
        lambda v: v["checks"]["failing"].append(SHIPPING.to_json()),
        "fails at 2025-06-18, which ships",
    ),
    (
        "scenario not observed",
        lambda v: v["checks"].update(
            passing=[
                each
                for each in v["checks"]["passing"]
                if (each["mode"], each["scenario"]) != (NEW, "tools_call")
            ]
        ),
        "official-http 2026-07-28 has no check of tools_call",
    ),
    ("no lists", lambda v: v.update(checks=3), "checks: expected an object"),
    ("one list", lambda v: v["checks"].pop("failing"), "checks.failing: is missing"),
]


@pytest.mark.parametrize(
    ("change", "said"), [pytest.param(*each[1:], id=each[0]) for each in V1]
)
def test_a_spoilt_version_1_file_is_refused_by_name(change: Change, said: str) -> None:
    value = make_file(version=1)
    _decode(copy.deepcopy(value))
    change(value)
    assert said in _refusal(value)
