"""The witness of the suite's own requests sees every exchange and changes none."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf import wire
from mcpconf.drain import Drain
from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Options
from mcpconf.plan import PlannedCase
from mcpconf.record import CaseKey, Outcome, Policy
from mcpconf.revision import Revision
from mcpconf.server.case import WITNESS, ServerLaunch, launch_case
from mcpconf.server.evidence import ServerEvidence, read_case
from mcpconf.server.judge import judge
from mcpconf.server.watched import ServerSeen
from mcpconf.suite.install import install_suite
from mcpconf.suite.node import find_node
from mcpconf.survey.listing import Listed, bare_entry
from mcpconf.transport import Transport
from mcpconf.wire import Ended, Exchange, WireLog, parse_wire

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        sys.platform == "win32", reason="descriptors are not inherited there"
    ),
]

ASKS = Path(__file__).resolve().parents[2] / "fixtures/witness/asks_every_way.cjs"
LIMIT, LARGE = 256 * 1024, 1024 * 1024
PATIENCE_S = 30.0
BODY = '{"a":"ä"}'
WAYS = (
    *("json", "get", "gzip", "bomb", "not-gzip", "large", "empty", "moved", "early"),
    *("hangs-up", "breaks-off", "abort", "cancel", "impatient", "unreachable"),
    *("older", "spoofed", "older-hangs-up", "older-unreachable", "open"),
)


def run_node(*words: str, **environment: str) -> list[Any]:
    """What the script printed, line by line."""
    done = subprocess.run(
        [str(find_node().path), *words],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@functools.cache
def witnessed() -> tuple[list[Any], WireLog, str]:
    """All ways in one process: what it saw, and what the witness did."""
    pipe = Drain(4 * LARGE)
    try:
        done = run_witnessed(pipe.write, *WAYS)
    finally:
        said = pipe.finish()
    saw = [json.loads(line) for line in done.splitlines()]
    return saw, parse_wire(said, "wire.jsonl"), said.decode()


def run_witnessed(descriptor: int, *ways: str) -> str:
    """What the script printed beside a witness that writes to `descriptor`."""
    done = subprocess.run(
        [str(find_node().path), "--require", str(WITNESS), str(ASKS), *ways],
        env={"PATH": os.environ["PATH"], "MCPCONF_WITNESS_FD": str(descriptor)},
        pass_fds=(descriptor,),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@functools.cache
def exchanges() -> dict[str, tuple[Exchange, ...]]:
    """The exchanges of each way. They come one after the other, most have one."""
    found, left = {}, sorted(witnessed()[1].exchanges, key=lambda each: each.id)
    for way in WAYS:
        count = 2 if way == "moved" else 1
        found[way], left = tuple(left[:count]), left[count:]
    assert not left
    return found


def only(way: str) -> Exchange:
    (exchange,) = exchanges()[way]
    return exchange


def test_nobody_who_asks_notices_the_witness() -> None:
    saw, _, _ = witnessed()
    assert saw == run_node(str(ASKS), *WAYS)
    assert saw[-1] == ["environment", []]
    assert dict(saw[:-1])["json"] == [200, '{"ok":true}']  # it asked for real


def test_the_log_is_whole() -> None:
    _, log, text = witnessed()
    assert not log.truncated
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("way", "status", "ended", "sent", "received"),
    [
        ("json", 200, Ended.FINISHED, BODY, '{"ok":true}'),
        ("get", 200, Ended.FINISHED, "", '{"ok":true}'),
        ("gzip", 200, Ended.FINISHED, BODY, '{"zipped":true}'),
        ("empty", 202, Ended.FINISHED, BODY, ""),
        ("early", 200, Ended.FINISHED, BODY, "late"),
        ("hangs-up", None, Ended.CLOSED, BODY, ""),
        ("breaks-off", 200, Ended.CLOSED, BODY, "half"),
        ("abort", 200, Ended.CLOSED, BODY, 'data: {"n":1}\n\n'),
        ("cancel", 200, Ended.CLOSED, BODY, 'data: {"n":1}\n\n'),
        ("impatient", None, Ended.CLOSED, BODY, ""),
        ("open", 200, Ended.OPEN, BODY, 'data: {"n":1}\n\n'),
        ("older", 200, Ended.FINISHED, '{"old":1}', '{"ok":true}'),
        ("spoofed", 200, Ended.FINISHED, '{"old":2}', '{"ok":true}'),
        ("older-hangs-up", None, Ended.CLOSED, "xyz", ""),
    ],
)
def test_an_exchange_is_seen_as_it_was(
    way: str, status: int | None, ended: Ended, sent: str, received: str
) -> None:
    seen = only(way)
    assert (seen.status, seen.ended, seen.aborted) == (status, ended, False)
    assert (seen.request_body, seen.response_body) == (sent, received)
    assert (seen.request_whole, seen.response_whole) == (True, True)
    assert {seen.port} == witnessed()[1].ports


@pytest.mark.parametrize("way", ["unreachable", "older-unreachable"])
def test_a_server_that_is_not_there_is_seen_as_none(way: str) -> None:
    seen = only(way)
    assert (seen.status, seen.ended, seen.aborted) == (None, Ended.CLOSED, True)
    assert seen.port not in witnessed()[1].ports


def test_only_the_beginning_of_a_large_body_is_kept() -> None:
    seen = only("large")
    assert (seen.request_whole, seen.response_whole) == (False, False)
    assert len(seen.request_body) == len(seen.response_body or "") == LIMIT
    lengths = {
        (record["type"], record["bytes"])
        for record in map(json.loads, witnessed()[2].splitlines())
        if record.get("id") == seen.id and "bytes" in record
    }
    assert lengths == {("request", LARGE), ("response", LARGE)}


@pytest.mark.parametrize("way", ["bomb", "not-gzip"])
def test_a_body_that_cannot_be_decoded_is_said_to_be_cut(way: str) -> None:
    seen = only(way)
    assert (seen.response_body, seen.response_whole) == ("", False)


def test_a_redirection_is_two_exchanges() -> None:
    first, second = exchanges()["moved"]
    assert (first.url, first.status) == ("/moved", 307)
    assert (second.url, second.status) == ("/json", 200)
    assert first.request_body == second.request_body == BODY


def test_headers_are_those_that_were_sent() -> None:
    seen = only("json")
    assert seen.request_header("x-two") == "2"
    assert seen.request_header("host") == f"127.0.0.1:{seen.port}"
    assert seen.response_headers["set-cookie"] == ("a=1", "b=2")
    assert only("get").url == "/json?a=1"
    assert only("spoofed").request_header("host") == "evil.example.com"
    assert only("spoofed").request_header("origin") == "http://evil.example.com"


def test_a_reader_that_is_gone_costs_the_suite_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert '["json",[200,' in run_witnessed(writing, "json")
    finally:
        os.close(writing)


def test_without_a_sink_nothing_is_watched() -> None:
    saw = run_node("--require", str(WITNESS), str(ASKS), "json")
    assert saw[0] == ["json", [200, '{"ok":true}']]


# -- the suite itself ------------------------------------------------------------------


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[Revision, str]]:
    new = Options(revision=Revision.V2026_07_28, transport=Transport.HTTP)
    old = Options(revision=Revision.V2025_11_25, transport=Transport.HTTP)
    with serving(new) as stateless, serving(old) as handshake:
        yield {new.revision: stateless.url, old.revision: handshake.url}


def launched(
    url: str, scenario: str, revision: Revision, place: Path
) -> ServerEvidence:
    """What one scenario of the real suite left."""
    key = CaseKey(revision=revision, scenario=scenario)
    case = PlannedCase(key=key, entry=bare_entry(Listed(scenario, None)), options={})
    launch = ServerLaunch(
        suite=install_suite(),
        url=url,
        run_dir=place,
        parent=place,
        keep_artifacts=False,
        timeout_s=20.0,
        environment=dict(os.environ),
    )
    launch_case(launch, case, lambda _: None)
    assert not [each for each in place.iterdir() if each.name != "cases"]
    stored = read_case(place, key)
    assert stored is not None
    return stored


@pytest.mark.suite
def test_a_stateless_scenario_is_seen_message_by_message(
    urls: dict[Revision, str], tmp_path: Path
) -> None:
    revision = Revision.V2026_07_28
    stored = launched(urls[revision], "tools-list", revision, tmp_path)
    assert stored.checks_fault is None
    assert "tools/list" in {each.method for each in wire.messages(stored.wire)}
    assert wire.revisions_of(stored.wire).agreed == (revision.value,)
    assert stored.server == ServerSeen(url=urls[revision])


@pytest.mark.suite
def test_a_handshake_and_its_streams_are_seen(
    urls: dict[Revision, str], tmp_path: Path
) -> None:
    revision = Revision.V2025_11_25
    stored = launched(urls[revision], "server-sse-multiple-streams", revision, tmp_path)
    methods = {each.method for each in wire.messages(stored.wire)}
    assert {"initialize", "notifications/initialized", "tools/list"} <= methods
    assert wire.revisions_of(stored.wire).agreed == (revision.value,)


@pytest.mark.suite
def test_a_host_that_the_suite_makes_up_is_seen(
    urls: dict[Revision, str], tmp_path: Path
) -> None:
    revision = Revision.V2026_07_28
    stored = launched(urls[revision], "dns-rebinding-protection", revision, tmp_path)
    hosts = [each.request_header("host") for each in stored.wire.exchanges]
    assert len(hosts) == 2
    assert "evil.example.com" in (hosts[0] or "")
    assert "127.0.0.1" in (hosts[1] or "")


@pytest.mark.suite
def test_headers_that_only_the_older_client_sends_are_seen(
    urls: dict[Revision, str], tmp_path: Path
) -> None:
    revision = Revision.V2026_07_28
    stored = launched(urls[revision], "http-header-validation", revision, tmp_path)
    named = [each.request_header("mcp-method") for each in stored.wire.exchanges]
    assert {None, "tools/list", "TOOLS/LIST"} <= set(named)


@pytest.mark.suite
def test_a_server_that_is_not_there_is_unobserved(tmp_path: Path) -> None:
    revision, name = Revision.V2026_07_28, "tools-list"
    with socket.socket() as taken:  # bound and not listening: nobody else can
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        stored = launched(url, name, revision, tmp_path)
    key = CaseKey(revision=revision, scenario=name)
    case = PlannedCase(key=key, entry=bare_entry(Listed(name, None)), options={})
    judged = judge(case, stored, Policy())
    assert judged.outcome is Outcome.UNOBSERVED
    assert "no connection" in judged.reason
