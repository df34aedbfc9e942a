"""What the checks of lists and versions make of things that no client of ours does."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from fixture_call import Fixture

from mcpconf.fixture_server.profile.discovery import GIVEN_UP, PLANTED
from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Kind
from mcpconf.supplemental.observation import (
    Observation,
    ServerView,
    StepResult,
    StepState,
    parse_log,
)
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

_NEW = "2026-07-28"
_META = {"_meta": {"io.modelcontextprotocol/protocolVersion": _NEW}}
_TOOL = {"items": [{"name": "a"}]}


def _log(*rows: dict[str, Any]) -> ServerView:
    clock = itertools.count(1)
    common = {"pid": 1, "connection": 1, "bytes": 1, "sha256": "0", "cut": False}
    lines = [json.dumps({"t": next(clock), **common, **row}) + "\n" for row in rows]
    return parse_log("".join(lines).encode(), "log")


def _got(method: str, number: int = 1, **params: object) -> dict[str, Any]:
    message = {"id": number, "method": method, "params": {**_META, **params}}
    return {"type": "received", "message": message}


def _sent(number: int = 1, **members: object) -> dict[str, Any]:
    return {"type": "sent", "message": {"id": number, **members}}


def _fault(profile: str, detail: str) -> dict[str, Any]:
    return {"type": "fault", "profile": profile, "detail": detail}


def _ok(name: str, value: object) -> StepResult:
    return StepResult(id=name, verb="list", state=StepState.OK, value=value)


def _failed(name: str, kind: str = "refused") -> StepResult:
    state = StepState.ERROR
    return StepResult(id=name, verb="list", state=state, error_kind=kind, message="x")


def _kind(
    scenario: str,
    view: ServerView,
    *steps: StepResult,
    check_id: str = "",
    transport: Transport = Transport.HTTP,
    revision: Revision = Revision.V2026_07_28,
) -> Kind:
    seen = Observation(
        revision=revision,
        transport=transport,
        subject=view,
        control=ServerView(),
        steps={step.id: step for step in steps},
    )
    checks = SCENARIOS[scenario].checks
    named = [each for each in checks if each.id == check_id] or checks
    return named[0].look(seen).kind


def test_a_client_need_not_discover() -> None:
    steps = (_ok("connect", {}), _ok("list", _TOOL))
    view = _log(_got("tools/list"))
    assert _kind("discovery-other-id", view, *steps) is Kind.NOT_APPLICABLE


def test_going_on_without_discovery_shows_nothing() -> None:
    fault = _fault("opening-other-id", "answered")
    view = _log(_got("server/discover"), fault, _got("tools/list", 2))
    steps = (_ok("connect", {}), _ok("list", _TOOL))
    assert _kind("discovery-other-id", view, *steps) is Kind.UNSUPPORTED
    told = _ok("connect", {"instructions": PLANTED})
    assert _kind("discovery-other-id", view, told, steps[1]) is Kind.BROKEN


def test_going_on_without_a_handshake_shows_that_the_answer_was_taken() -> None:
    fault = _fault("opening-other-id", "answered")
    view = _log(_got("initialize"), fault, _got("tools/list", 2))
    steps = (_ok("connect", {}), _ok("list", _TOOL))
    revision = Revision.V2025_11_25
    assert _kind("discovery-other-id", view, *steps, revision=revision) is Kind.BROKEN


def test_on_stdio_it_must_be_seen_which_answer_was_taken() -> None:
    view = _log(_got("server/discover"), _fault("opening-other-id", "answered"))
    stdio = Transport.STDIO
    for value, kind in (({}, Kind.UNSUPPORTED), ({"serverInfo": {"a": 1}}, Kind.HOLDS)):
        steps = (_ok("connect", value), _ok("list", _TOOL))
        assert _kind("discovery-other-id", view, *steps, transport=stdio) is kind


def test_an_empty_list_is_not_the_report_of_an_error() -> None:
    view = _log(_got("tools/list"), _fault("list-other-id", "answered"))
    steps = (_ok("connect", {}), _ok("list", {"items": []}))
    assert _kind("tools-list-other-id", view, *steps) is Kind.BROKEN


@pytest.mark.parametrize(
    ("said", "listed", "kind"),
    [
        pytest.param("whole: …", _ok("list", _TOOL), Kind.HOLDS, id="followed"),
        pytest.param("whole: …", _failed("list"), Kind.HOLDS, id="then-failed"),
        pytest.param("altered: …", _failed("list"), Kind.BROKEN, id="cut"),
        pytest.param("served: …", _failed("list"), Kind.HOLDS, id="refused"),
        pytest.param("served: …", _ok("list", _TOOL), Kind.UNOBSERVED, id="unpaged"),
        pytest.param(
            "served: …", _failed("list", "timeout"), Kind.UNOBSERVED, id="waited"
        ),
    ],
)
def test_a_long_cursor_is_followed_or_refused_but_never_cut(
    said: str, listed: StepResult, kind: Kind
) -> None:
    view = _log(_got("tools/list"), _fault("long-cursor", said))
    steps = (_ok("connect", {}), listed)
    assert _kind("pagination-long-cursor", view, *steps) is kind


@pytest.mark.parametrize(
    ("counts", "listed", "kind"),
    [
        pytest.param(["1024 tools, last"], _failed("list"), Kind.HOLDS, id="refused"),
        pytest.param(
            ["512 tools, more"], _ok("list", _TOOL), Kind.BROKEN, id="stopped-short"
        ),
        pytest.param(
            ["1024 tools, last"], _failed("list", "timeout"), Kind.UNOBSERVED, id="slow"
        ),
    ],
)
def test_a_catalogue_is_whole_or_refused(
    counts: list[str], listed: StepResult, kind: Kind
) -> None:
    view = _log(*(_fault("counted-catalogue", each) for each in counts))
    steps = (_ok("connect", {}), listed)
    assert _kind("catalogue-1024", view, *steps) is kind


@pytest.mark.parametrize("scenario", ["pagination-endless", "pagination-bad-cursor"])
def test_a_time_out_is_no_end_of_pages(scenario: str) -> None:
    error = {"code": -32602, "message": "x"}
    view = _log(_got("tools/list"), _got("tools/list", 2, cursor="page-2"))
    late = _log(_got("tools/list"), _sent(error=error))
    steps = (_ok("connect", {}), _failed("list", "timeout"))
    is_endless = scenario == "pagination-endless"
    kind = Kind.UNOBSERVED if is_endless else Kind.BROKEN
    assert _kind(scenario, view if is_endless else late, *steps) is kind


def test_a_version_refused_offline_is_not_used() -> None:
    assert _kind("negotiation-wrong-offer", _log(), _failed("connect")) is Kind.HOLDS
    driven = _ok("connect", {"protocolVersion": _NEW})
    unsaid = _log(_got("server/discover"))
    assert _kind("negotiation-wrong-offer", unsaid, driven) is Kind.UNOBSERVED


def test_a_handshake_refused_may_be_followed_by_requests_without_one() -> None:
    error = {"code": -32601, "message": "x"}
    view = _log(_got("initialize"), _sent(error=error), _got("tools/list", 2))
    steps = (_ok("connect", {}), _ok("list", _TOOL))
    assert _kind("negotiation-modern-server", view, *steps) is Kind.HOLDS
    view = _log(_got("initialize"), _sent(error=error))
    assert _kind("negotiation-modern-server", view, *steps) is Kind.BROKEN


@pytest.mark.parametrize(
    ("told", "error", "kind"),
    [
        pytest.param((), "refused", Kind.NOT_APPLICABLE, id="left"),
        pytest.param((), "timeout", Kind.BROKEN, id="waited"),
        pytest.param(
            ("notifications/initialized",), "refused", Kind.BROKEN, id="lost-it"
        ),
    ],
)
def test_who_falls_back_may_leave_before_it_is_initialized(
    told: tuple[str, ...], error: str, kind: Kind
) -> None:
    opening = _got("initialize", protocolVersion="2025-06-18")
    notes = [{"type": "received", "message": {"method": each}} for each in told]
    steps = (_ok("connect", {}), _failed("list", error))
    check_id = "fallback-offers-handshake-version"
    view = _log(opening, *notes)
    assert _kind("negotiation-old-server", view, *steps, check_id=check_id) is kind


def test_an_error_told_instead_of_a_wrong_answer_used_never_fails() -> None:
    """However often the client asked, and whatever it tried afterwards."""
    fault = _fault("opening-other-id", "answered")
    openings = [_got("initialize", each) for each in range(30)]
    view = _log(openings[0], fault, *openings[1:], _got("tools/list", 99))
    steps = (_failed("connect"), _failed("list"))
    revision = Revision.V2025_11_25
    assert _kind("discovery-other-id", view, *steps, revision=revision) is Kind.HOLDS
    note = {"type": "received", "message": {"method": "notifications/initialized"}}
    used = _log(openings[0], fault, note)
    assert _kind("discovery-other-id", used, *steps, revision=revision) is Kind.BROKEN


@pytest.mark.parametrize(
    ("scenario", "fault", "step"),
    [
        ("malformed-answers", "malformed-answers", "result_is_text"),
        ("output-schema", "broken-promise", "promise"),
        ("basics", "", "unknown"),
    ],
)
def test_an_error_result_tells_of_an_error(
    scenario: str, fault: str, step: str
) -> None:
    tool = {"unknown": "no_such_tool"}.get(step, step)
    view = _log(
        _got("tools/call", name=tool), _fault(fault, step), _sent(result={"a": 1})
    )
    check_id = "protocol-error-is-an-error" if scenario == "basics" else ""
    for is_error, kind in ((True, Kind.HOLDS), (False, Kind.BROKEN)):
        told = _ok(step, {"result": {"content": [], "isError": is_error}})
        assert _kind(scenario, view, told, check_id=check_id) is kind


@pytest.mark.parametrize(
    ("got", "kind"), [(1, Kind.HOLDS), (1.0, Kind.HOLDS), (True, Kind.BROKEN)]
)
def test_a_whole_float_may_reach_the_host_as_an_integer(
    got: object, kind: Kind
) -> None:
    content = {"structuredContent": {"edges": [1.0]}}
    view = _log(_got("tools/call", name="numbers"), _sent(result=content))
    shown = _ok("numbers", {"result": {"structuredContent": {"edges": [got]}}})
    assert _kind("numbers", view, shown, check_id="floats-received-exactly") is kind
    integers = "integers-received-exactly"
    sent = {"structuredContent": {"edges": [1]}}
    view = _log(_got("tools/call", name="numbers"), _sent(result=sent))
    exact = Kind.HOLDS if type(got) is int else Kind.BROKEN
    assert _kind("numbers", view, shown, check_id=integers) is exact


def test_an_empty_cursor_counts_only_where_it_was_given() -> None:
    fault = _fault("empty-cursor", "a page")
    sent = _got("resources/list", 2, cursor="")
    step = _ok("list-resources", _TOOL)
    check_id = "empty-cursor-is-no-end"
    for view, kind in (
        (_log(fault, sent), Kind.HOLDS),
        (_log(sent, fault), Kind.BROKEN),
    ):
        assert _kind("pagination-empty", view, step, check_id=check_id) is kind


def test_a_list_without_an_end_ends_at_its_limit() -> None:
    fixture = Fixture(profiles=("endless-cursor",), pages=3)
    cursor: str | None = None
    for expected in ("page-2", "page-3", None):
        params = {} if cursor is None else {"cursor": cursor}
        cursor = fixture.ask("tools/list", params)["result"].get("nextCursor")
        assert cursor == expected
    assert fixture.refused("tools/list", {"cursor": "other"}) == (-32602, 200)


def test_pages_of_a_fault_are_not_to_be_kept() -> None:
    fixture = Fixture(profiles=("repeated-cursor",))
    assert fixture.ask("tools/list")["result"]["ttlMs"] == 0
    assert fixture.ask("resources/list")["result"]["ttlMs"]


def test_a_list_begun_anew_meets_the_repeated_cursor_as_often() -> None:
    fixture = Fixture(profiles=("repeated-cursor",), pages=3)
    for _ in range(2):
        cursors = [fixture.ask("tools/list")["result"].get("nextCursor")]
        while cursors[-1] is not None:
            result = fixture.ask("tools/list", {"cursor": cursors[-1]})["result"]
            cursors.append(result.get("nextCursor"))
        assert cursors == ["again", "again", "again", None]


@pytest.mark.parametrize(
    ("repeats", "kind"), [((60, 60), Kind.HOLDS), ((0, 101), Kind.BROKEN)]
)
def test_a_repeated_cursor_is_counted_in_one_list(
    repeats: tuple[int, int], kind: Kind
) -> None:
    rows = [
        row
        for count in repeats
        for row in (_got("tools/list"), *[_got("tools/list", cursor="again")] * count)
    ]
    steps = (_ok("connect", {}), _failed("list"))
    assert _kind("pagination-repeated-cursor", _log(*rows), *steps) is kind


def test_a_list_walked_to_its_end_once_has_no_bound() -> None:
    """However short the next one was."""
    walked = (_got("tools/list", 1), _sent(1, result={"tools": []}))
    short = (_got("tools/list", 2), _sent(2, result={"nextCursor": "page-2"}))
    steps = (_ok("connect", {}), _failed("list"))
    assert _kind("pagination-endless", _log(*walked, *short), *steps) is Kind.BROKEN


def test_two_parts_of_a_catalogue_are_no_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = Fixture(profiles=("counted-catalogue",), page_size=7)
    details: list[str] = []
    (profile,) = fixture.server.profiles
    monkeypatch.setattr(profile, "fault", lambda detail, _: details.append(detail))
    fixture.ask("tools/list")
    count = sum(map(len, fixture.listed("tools/list", "tools")))
    assert details[:2] == ["7 tools, more"] * 2
    assert details[-1] == f"{count} tools, last"
    rows = [_fault("counted-catalogue", each) for each in ["512 tools, more"] * 2]
    steps = (_ok("connect", {}), _ok("list", _TOOL))
    assert _kind("catalogue-1024", _log(*rows), *steps) is Kind.BROKEN


def _declaring(version: str, method: str, number: int) -> dict[str, Any]:
    meta = {"io.modelcontextprotocol/protocolVersion": version}
    return _got(method, number, _meta=meta)


_REFUSAL = {"code": -32022, "message": "x"}
_LISTS = (_got("tools/list", 9), _sent(9, result={"tools": []}))


@pytest.mark.parametrize(
    ("scenario", "offered"),
    [("negotiation-choice", "2099-01-01"), ("negotiation-common-version", _NEW)],
)
@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        pytest.param(_LISTS, Kind.HOLDS, id="retried"),
        pytest.param(
            [{**each, "connection": 2} for each in _LISTS], Kind.BROKEN, id="elsewhere"
        ),
        pytest.param((_got("initialize", 8), *_LISTS), Kind.BROKEN, id="shook-hands"),
        pytest.param((_got("tools/list", 9),), Kind.UNOBSERVED, id="unanswered"),
    ],
)
def test_a_retry_follows_from_the_refusal(
    scenario: str, offered: str, rest: Sequence[dict[str, Any]], kind: Kind
) -> None:
    refused = _declaring(offered, "server/discover", 1), _sent(1, error=_REFUSAL)
    steps = (_ok("connect", {}), _ok("list", _TOOL))
    stdio = Transport.STDIO
    assert _kind(scenario, _log(*refused, *rest), *steps, transport=stdio) is kind
    assert _kind(scenario, _log(*_LISTS), *steps) is Kind.UNOBSERVED


def test_a_version_that_is_not_even_offered_is_no_choice() -> None:
    kind = _kind("negotiation-choice", _log(), _failed("connect"))
    assert kind is Kind.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        pytest.param((), Kind.HOLDS, id="waited"),
        pytest.param((_got("tools/list", 2),), Kind.BROKEN, id="asked-again"),
        pytest.param(
            ({**_got("tools/list", 2), "connection": 2},), Kind.HOLDS, id="elsewhere"
        ),
        pytest.param(
            (_fault("answers-late", f"tools/list {GIVEN_UP}: closed"),),
            Kind.BROKEN,
            id="given-up",
        ),
    ],
)
def test_the_late_answer_is_that_to_the_first_request(
    rows: Sequence[dict[str, Any]], kind: Kind
) -> None:
    late = _fault("answers-late", "tools/list answered 0.6 s late")
    answers = [_sent(each, result={"tools": []}) for each in (1, 2)]
    view = _log(_got("tools/list"), late, *rows, *answers)
    steps = (_ok("connect", {}), _ok("list", _TOOL))
    assert _kind("answers-late", view, *steps, transport=Transport.STDIO) is kind
