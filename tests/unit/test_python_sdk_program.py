"""What the SDK's program decides before, and beside, the SDK."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.revision import KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

PROGRAM = Path(__file__).parents[2] / "mcpconf/client/python_sdk/program.py"
OWN_MODULES = ("program", "assignment", "connection", "features", "authorized")


def run_without_sdk(
    scenario: str, revision: str = "2025-11-25", arguments: tuple[str, ...] = ("url",)
) -> subprocess.CompletedProcess[str]:
    """Without site-packages: whoever reaches for the SDK fails."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM), *arguments],
        env={
            **os.environ,
            "MCP_CONFORMANCE_SCENARIO": scenario,
            "MCP_CONFORMANCE_PROTOCOL_VERSION": revision,
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The program's modules as it sees them itself, beside the SDK."""
    pytest.importorskip("mcp", reason="the SDK under test is not installed here")
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    yield {name: importlib.import_module(name) for name in OWN_MODULES}
    for name in OWN_MODULES:
        del sys.modules[name]


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(uuid.uuid4().hex, id="random"),
        pytest.param("auth/" + uuid.uuid4().hex, id="random-auth"),
        pytest.param("", id="none"),
    ],
)
def test_program_never_guesses_a_scenario_it_has_no_part_for(scenario: str) -> None:
    result = run_without_sdk(scenario)
    assert result.returncode == 69
    assert (
        result.stderr == f"unsupported: no part is written for scenario {scenario!r}\n"
    )


@pytest.mark.parametrize(
    "scenario", ["auth/dpop", "auth/dpop-nonce", "auth/wif-jwt-bearer"]
)
def test_program_says_what_the_sdk_lacks_for_a_scenario(scenario: str) -> None:
    result = run_without_sdk(scenario)
    assert result.returncode == 69
    assert result.stderr.startswith("unsupported: the SDK's ")


def test_program_imports_the_sdk_only_for_a_scenario_it_plays() -> None:
    result = run_without_sdk("tools_call")
    assert result.returncode == 1
    assert result.stderr.startswith("failed: ModuleNotFoundError: ")


@pytest.mark.parametrize("revision", ["2024-11-05", "2027-01-01", ""])
def test_program_knows_no_other_revision(revision: str) -> None:
    result = run_without_sdk("tools_call", revision)
    assert result.returncode == 69
    assert result.stderr.startswith("unsupported: revision ")


@pytest.mark.parametrize("arguments", [(), ("one", "two")])
def test_program_wants_exactly_one_url(arguments: tuple[str, ...]) -> None:
    assert run_without_sdk("tools_call", arguments=arguments).returncode == 64


def test_program_knows_the_revisions_of_mcpconf(own: dict[str, ModuleType]) -> None:
    assert tuple(each.value for each in KNOWN) == own["assignment"].REVISIONS


def test_program_has_a_part_behind_every_name(own: dict[str, ModuleType]) -> None:
    assert own["program"].PARTS
    for scenario in own["program"].PARTS:
        assert asyncio.iscoroutinefunction(own["program"].load_part(scenario))


@pytest.mark.parametrize("context", ["[]", "1", '"text"'])
def test_program_refuses_a_context_that_is_not_an_object(
    own: dict[str, ModuleType], context: str
) -> None:
    environment = {
        "MCP_CONFORMANCE_PROTOCOL_VERSION": "2025-11-25",
        "MCP_CONFORMANCE_CONTEXT": context,
    }
    with pytest.raises(ValueError, match="not a JSON object"):
        own["assignment"].parse_assignment("url", environment)


def test_program_names_every_error_of_a_group(own: dict[str, ModuleType]) -> None:
    inner = ExceptionGroup("inner", [ValueError("a\nb"), KeyError("c")])
    found = own["program"].leaves(ExceptionGroup("outer", [inner, OSError("d")]))
    assert [own["program"].describe(each) for each in found] == [
        "failed: ValueError: a b",
        "failed: KeyError: 'c'",
        "failed: OSError: d",
    ]


def test_host_fills_in_exactly_the_defaults_of_a_form(
    own: dict[str, ModuleType],
) -> None:
    from mcp.types import ElicitRequestFormParams  # noqa: PLC0415 (may be absent)

    properties: dict[str, Any] = {
        "name": {"type": "string", "default": "Ann"},
        "off": {"type": "boolean", "default": False},
        "free": {"type": "string"},
    }
    form = ElicitRequestFormParams(
        message="?", requested_schema={"type": "object", "properties": properties}
    )
    answer = asyncio.run(own["connection"].fill_defaults(None, form))
    assert (answer.action, answer.content) == ("accept", {"name": "Ann", "off": False})


def test_host_declines_to_open_a_web_page(own: dict[str, ModuleType]) -> None:
    from mcp.types import ElicitRequestURLParams  # noqa: PLC0415 (may be absent)

    page = ElicitRequestURLParams(
        message="?", url="http://localhost/", elicitation_id="1"
    )
    assert asyncio.run(own["connection"].fill_defaults(None, page)).action == "decline"


@pytest.mark.parametrize(
    "url",
    ["http://192.0.2.1/authorize", "https://localhost/authorize", "file:///etc/passwd"],
)
def test_browser_never_leaves_the_loopback(
    own: dict[str, ModuleType], url: str
) -> None:
    with pytest.raises(own["authorized"].HostError, match="not on the loopback"):
        asyncio.run(own["authorized"].Browser().open(url))


def answered(own: dict[str, ModuleType], location: str) -> Any:
    browser = own["authorized"].Browser()
    browser._redirects.append(location)
    return asyncio.run(browser.callback())


@pytest.mark.parametrize(
    ("query", "state", "iss"),
    [
        ("code=c&state=s&iss=http%3A%2F%2Fevil%2F", "s", "http://evil/"),
        ("code=c&state=s", "s", None),
        ("code=c", None, None),
    ],
)
def test_browser_hands_over_what_the_redirect_says_and_judges_nothing(
    own: dict[str, ModuleType], query: str, state: str | None, iss: str | None
) -> None:
    result = answered(own, f"{own['authorized'].REDIRECT_URI}?{query}")
    assert (result.code, result.state, result.iss) == ("c", state, iss)


@pytest.mark.parametrize(
    "location", ["http://localhost:33418/elsewhere?code=c", "http://evil/?code=c", ""]
)
def test_browser_refuses_a_redirect_to_somebody_else(
    own: dict[str, ModuleType], location: str
) -> None:
    with pytest.raises(own["authorized"].HostError, match="does not lead back"):
        answered(own, location)


def test_browser_reports_an_authorization_that_failed(
    own: dict[str, ModuleType],
) -> None:
    location = f"{own['authorized'].REDIRECT_URI}?error=access_denied"
    with pytest.raises(own["authorized"].HostError, match="access_denied"):
        answered(own, location)
