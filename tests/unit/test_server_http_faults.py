"""Whatever a server does, an exchange ends, within its bounds, and says how."""

from __future__ import annotations

import datetime as dt
import gzip
import ipaddress
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, ClassVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hostile_server import PATIENCE_S, SSE_HEAD, Connection, hostile, http

from mcpconf.server.exchange import Exchange, Form, How
from mcpconf.server.http import Client, HttpLimits
from mcpconf.server.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpconf.decode import Json

ASK: Json = {"jsonrpc": "2.0", "id": 1, "method": "m"}
MIB = 1024 * 1024
SMALL = HttpLimits(answer_s=0.3, body_bytes=256 * 1024, events=50)
#: For what must be refused long before.
PATIENT = HttpLimits(answer_s=60, body_bytes=256 * 1024, events=50)


def ask(url: str, limits: HttpLimits = PATIENT) -> Exchange:
    recorded: list[Exchange] = []
    with Client(url, record=recorded.append, limits=limits) as client:
        one = client.post("one", ASK)
    assert recorded == [one]
    assert not [each for each in threading.enumerate() if "mcpconf" in each.name]
    return one


def ask_hostile(
    behave: Callable[[Connection], None], limits: HttpLimits = PATIENT
) -> Exchange:
    with hostile(behave) as server:
        return ask(server.url, limits)


def chunked(*chunks: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    parts = [b"%x\r\n%s\r\n" % (len(each), each) for each in chunks]
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(parts)


LOST = [
    pytest.param(lambda _: None, None, id="closes at once"),
    pytest.param(lambda c: c.request(), None, id="closes without an answer"),
    pytest.param(
        lambda c: c.answer(b"HTTP/1.1 202 Acc"), None, id="closes in the first line"
    ),
    pytest.param(
        lambda c: c.answer(b"HTTP/1.1 202 Accepted\r\n"), None, id="no empty line"
    ),
    pytest.param(
        lambda c: c.answer(b"HTTP/1.1 200 OK\r\nContent-Type: appl"),
        None,
        id="closes in a header",
    ),
    pytest.param(
        lambda c: c.answer(http(b"{", "Content-Length: 9")), 200, id="a short body"
    ),
    pytest.param(lambda c: c.answer(chunked(b"{}")), 200, id="no last chunk"),
    pytest.param(
        lambda c: c.answer(
            SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\n")
        ),
        200,
        id="a short stream",
    ),
]


@pytest.mark.parametrize(("behave", "status"), LOST)
def test_connection_that_is_lost_is_cut(
    behave: Callable[[Connection], None], status: int | None
) -> None:
    one = ask_hostile(behave)
    assert (one.how, one.status) == (How.CUT, status)
    assert "the connection was lost" in (one.problem or "")
    assert one.received == ()


NO_HTTP = [
    pytest.param(b"\x15\x03\x01\x00\x02\x02\x46", id="an alert of TLS"),
    pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", id="another protocol"),
    pytest.param(b"\x00" * 100 + b"\n", id="zeros"),
    pytest.param(b"HTTP/1.1 abc OK\r\n\r\n", id="a status that is no number"),
    pytest.param(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 1000, id="a thousand headers"),
    pytest.param(b"HTTP/1.1 200 OK\r\na: " + b"b" * MIB, id="a header of 1 MiB"),
    pytest.param(b"HTTP/1.1 200 " + b"b" * MIB, id="a status line of 1 MiB"),
]


@pytest.mark.parametrize("data", NO_HTTP)
def test_what_is_no_http_is_malformed(data: bytes) -> None:
    one = ask_hostile(lambda c: c.answer(data))
    assert (one.how, one.status, one.form) == (How.MALFORMED, None, Form.NONE)
    assert "no valid HTTP before an answer" in (one.problem or "")
    assert (one.problem or "").isprintable()
    assert len(one.problem or "") < 300


class Watchdog(threading.Timer):
    """Not by the clock: time is over when `rung` is set."""

    rung: ClassVar[threading.Event]

    def run(self) -> None:
        self.rung.wait(PATIENCE_S)
        self.function(*self.args)


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    Watchdog.rung = threading.Event()
    monkeypatch.setattr("mcpconf.server.flight.threading.Timer", Watchdog)
    return Watchdog.rung


ENDLESS_HEADS = [
    pytest.param(lambda c: c.wait_left(), id="says nothing"),
    pytest.param(lambda c: c.drip(b"HTTP/1.1 200 OK\r\na: " + b"b" * 999), id="drips"),
    pytest.param(
        lambda c: c.repeat(b"HTTP/1.1 100 Continue\r\n\r\n", 10_000_000),
        id="says to continue",
    ),
]


@pytest.mark.parametrize("go_on", ENDLESS_HEADS)
def test_head_without_end_is_timed_out(
    go_on: Callable[[Connection], None], rung: threading.Event
) -> None:
    def behave(connection: Connection) -> None:
        connection.request()
        rung.set()
        go_on(connection)
        connection.send(http(b"{}"))  # only for a client without a bound

    one = ask_hostile(behave)
    assert (one.how, one.status, one.form) == (How.TIMED_OUT, None, Form.NONE)
    assert one.problem == "no whole head within 60 s"


def test_cut_reaches_a_connection_that_is_made_later() -> None:
    line = Line(connect_s=PATIENCE_S, until=time.monotonic() + PATIENCE_S)
    line.cut(How.CLOSED_BY_US)
    line.cut(How.TIMED_OUT)
    with (
        hostile(lambda c: c.wait_left()) as server,
        line.dial("127.0.0.1", server.port) as connection,
    ):
        assert connection.recv(1) == b""
        line.close()
    assert line.cut_for is How.CLOSED_BY_US
    assert not server.gave_up.is_set()


def test_request_that_nobody_reads_is_timed_out() -> None:
    """What does not fit into the system's buffers waits for a reader."""

    def behave(connection: Connection) -> None:
        connection.server.stopping.wait()

    with (
        hostile(behave) as server,
        Client(server.url, record=lambda _: None, limits=SMALL) as client,
    ):
        one = client.post("one", b"x" * 64 * MIB)
    assert (one.how, one.status) == (How.TIMED_OUT, None)


ENDLESS_BODIES = [
    pytest.param(http(b"", "Content-Length: 999999"), b" ", id="JSON"),
    pytest.param(SSE_HEAD, b": comment\n", id="comments"),
    pytest.param(SSE_HEAD, b'data: {"id": 2, "result": {}}\n\n', id="events"),
    pytest.param(chunked(b" "), b"1\r\n \r\n", id="chunks"),
]


@pytest.mark.parametrize(("head", "data"), ENDLESS_BODIES)
def test_body_that_drips_is_timed_out(
    head: bytes, data: bytes, rung: threading.Event
) -> None:
    def behave(connection: Connection) -> None:
        connection.answer(head)
        connection.send(data[:1])
        rung.set()
        connection.drip(data[1:] + data[:1])

    one = ask_hostile(behave)
    assert (one.how, one.status) == (How.TIMED_OUT, 200)
    assert one.problem == "no end of the answer within 60 s"


@pytest.mark.parametrize("head", [SSE_HEAD, http(b"", "Content-Length: 9")])
def test_body_that_never_comes_is_timed_out(head: bytes, rung: threading.Event) -> None:
    def behave(connection: Connection) -> None:
        connection.answer(head)
        rung.set()
        connection.wait_left()

    with hostile(behave) as server:
        one = ask(server.url)
    assert not server.gave_up.is_set()
    assert (one.how, one.status) == (How.TIMED_OUT, 200)


GIB = 1024 * MIB
GIGANTIC = [
    pytest.param(http(b"", f"Content-Length: {GIB}"), b" " * MIB, id="JSON of 1 GiB"),
    pytest.param(
        http(b"", f"Content-Length: {GIB}", "Content-Type: text/html"),
        b"<" * MIB,
        id="another type",
    ),
    pytest.param(SSE_HEAD, b":" * MIB, id="a comment"),
    pytest.param(SSE_HEAD, b"data:" + b"x" * MIB + b"\n", id="an event"),
    pytest.param(chunked(b" "), b"100000\r\n" + b" " * MIB + b"\r\n", id="chunks"),
]


@pytest.mark.parametrize(("head", "data"), GIGANTIC)
def test_gigantic_body_is_not_read(head: bytes, data: bytes) -> None:
    def behave(connection: Connection) -> None:
        connection.answer(head)
        connection.repeat(data, 1024)

    with hostile(behave) as server:
        one = ask(server.url)
        assert server.left.wait(10)
        assert server.sent < 64 * MIB
    assert (one.how, one.status) == (How.TOO_LARGE, 200)
    assert one.problem == "the body is larger than 262144 bytes"
    assert len(one.text or "") <= 2000


def test_stream_without_end_is_too_large_after_its_events() -> None:
    def behave(connection: Connection) -> None:
        connection.answer(SSE_HEAD)
        connection.repeat(b"event: ping\ndata: x\n\n", 10_000_000)

    one = ask_hostile(behave)
    assert (one.how, one.received) == (How.TOO_LARGE, ())
    assert one.problem == "the stream has more than 50 events"


def test_what_unpacks_to_far_more_is_too_large() -> None:
    layer = gzip.compress(gzip.compress(b" " * 16 * MIB))
    head = ("Content-Encoding: gzip, gzip",)
    one = ask_hostile(lambda c: c.answer(http(layer, *head)))
    assert (one.how, one.status) == (How.TOO_LARGE, 200)


def test_broken_compression_is_malformed() -> None:
    answer = http(b"no gzip", "Content-Encoding: gzip")
    one = ask_hostile(lambda c: c.answer(answer))
    assert (one.how, one.status) == (How.MALFORMED, 200)


NO_JSON = [
    pytest.param(b"{", id="cut"),
    pytest.param(b"hello", id="text"),
    pytest.param(b'{"id": 1, "id": 1}', id="a duplicate key"),
    pytest.param(b"[NaN]", id="NaN"),
    pytest.param(b"[-Infinity]", id="infinity"),
    pytest.param(b"[1e999]", id="a number beyond all"),
    pytest.param(b'"\xff"', id="not UTF-8"),
    pytest.param(b"\xef\xbb\xbf{}", id="a byte order mark"),
    pytest.param(b"[" * 200_000, id="too deep"),
    pytest.param(b"{} {}", id="two values"),
]


@pytest.mark.parametrize("body", NO_JSON)
def test_invalid_json_is_malformed_and_kept_as_text(body: bytes) -> None:
    one = ask_hostile(lambda c: c.answer(http(body)))
    assert (one.how, one.status, one.form) == (How.MALFORMED, 200, Form.OTHER)
    assert (one.problem or "").startswith("no valid JSON: body")
    assert one.text == body.decode("utf-8", "replace")[:2000]


@pytest.mark.parametrize("body", NO_JSON[:6])
def test_invalid_json_in_an_event_is_malformed(body: bytes) -> None:
    stream = SSE_HEAD + b'data: {"a": 1}\n\ndata: ' + body + b"\n\ndata: {}\n\n"
    one = ask_hostile(lambda c: c.answer(stream))
    assert (one.how, one.form) == (How.MALFORMED, Form.SSE)
    assert (one.problem or "").startswith("no valid JSON: event 2")
    assert [each.message for each in one.received] == [{"a": 1}]


def test_stream_that_is_not_utf8_is_malformed() -> None:
    stream = SSE_HEAD + b'data: {"a": 1}\n\ndata: "\xff"\n\n'
    one = ask_hostile(lambda c: c.answer(stream))
    assert one.how is How.MALFORMED
    assert one.problem == "the stream is not UTF-8 after 1 events"


def test_stream_that_ends_inside_an_event_is_malformed() -> None:
    stream = SSE_HEAD + b'data: {"id": 1, "result": {}}\n'
    one = ask_hostile(lambda c: c.answer(stream))
    assert (one.how, one.response()) == (How.MALFORMED, None)
    assert "ended inside an event" in (one.problem or "")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(status: int) -> None:
    with hostile(lambda c: c.answer(http(b"{}"))) as elsewhere:
        place = f"Location: {elsewhere.url}"
        answer = http(b"{}", place, status=f"{status} Over there")
        one = ask_hostile(lambda c: c.answer(answer))
        assert elsewhere.requests == []
    assert (one.how, one.status) == (How.REDIRECTED, status)
    assert elsewhere.url in (one.problem or "")


def test_nobody_at_the_port_is_refused() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))  # bound, so that nobody else gets it; not listening
        answer = ask(f"http://127.0.0.1:{one.getsockname()[1]}/mcp")
    assert (answer.how, answer.status) == (How.REFUSED, None)
    assert answer.problem == "no connection: connection refused"


def test_host_without_an_address_is_refused() -> None:
    answer = ask("http://no-such-host.invalid/mcp")
    assert answer.how is How.REFUSED
    assert answer.problem == "no connection: the host has no address"


def test_http_behind_https_is_no_tls() -> None:
    with hostile(lambda c: c.answer(http(b"{}"))) as server:
        one = ask(server.url.replace("http:", "https:"), SMALL)
    assert one.how in (How.TLS, How.TIMED_OUT)
    assert one.status is None


def test_plain_text_behind_https_is_no_tls() -> None:
    with hostile(lambda c: c.send(http(b"{}"))) as server:
        one = ask(server.url.replace("http:", "https:"))
    assert (one.how, one.status) == (How.TLS, None)


def test_handshake_of_tls_that_drips_is_timed_out() -> None:
    # A record of TLS that announces 16 KiB of handshake.
    with hostile(lambda c: c.drip(b"\x16\x03\x03\x40\x00" + b"\x02" * 999)) as server:
        one = ask(server.url.replace("http:", "https:"), SMALL)
    assert one.status is None
    assert one.how in (How.TIMED_OUT, How.TLS)  # OpenSSL may refuse it first


def self_signed(directory: Path) -> ssl.SSLContext:
    """A server's side of TLS with a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    place = directory / "server.pem"
    place.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place)
    return context


def test_certificate_that_nobody_vouches_for_is_a_fault_of_tls(tmp_path: Path) -> None:
    tls = self_signed(tmp_path)
    with hostile(lambda c: c.answer(http(b"{}")), tls=tls) as server:
        one = ask(server.url.replace("http:", "https:"))
        assert server.requests == []
    assert (one.how, one.status) == (How.TLS, None)
    assert "CERTIFICATE_VERIFY_FAILED" in (one.problem or "")


def test_vouched_certificate_is_taken_and_a_stream_over_it_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rung: threading.Event
) -> None:
    """The watchdog also reaches a connection that TLS has taken over."""
    tls = self_signed(tmp_path)
    monkeypatch.setattr(
        "requests.adapters.DEFAULT_CA_BUNDLE_PATH", tmp_path / "server.pem"
    )

    def behave(connection: Connection) -> None:
        connection.answer(SSE_HEAD)
        rung.set()
        connection.wait_left()

    with hostile(behave, tls=tls) as server:
        one = ask(server.url.replace("http:", "https:"))
    assert not server.gave_up.is_set()
    # The watchdog may be faster than the head.
    assert one.how is How.TIMED_OUT
