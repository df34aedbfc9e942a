"""What is kept of a case holds no secret, and stays readable."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mcpconf.redaction import PLACEHOLDER
from mcpconf.retention import Retention
from mcpconf.wire import parse_wire

TOKEN = "tok-8f2c91d7e4"  # noqa: S105 (not a password)
SECRET = "s3cr3t-pre-registered"  # noqa: S105 (not a password)


def _request(token: str = TOKEN, **changes: object) -> str:
    record: dict[str, Any] = {
        "type": "request",
        "t": 1.5,
        "id": 1,
        "port": 4000,
        "remote_port": 5000,
        "http": "1.1",
        "method": "POST",
        "url": "/mcp",
        "headers": {"authorization": f"Bearer {token}"},
        "body": "{}",
        "bytes": 2,
        "truncated": False,
        "aborted": False,
    }
    return json.dumps(record | changes)


def _retention(*lines: str, text: str = "", checks: Any = None) -> Retention:
    return Retention.of(
        wire="".join(f"{line}\n" for line in lines), texts=(text,), checks=checks
    )


def test_a_secret_seen_on_the_wire_is_gone_from_everything() -> None:
    kept = _retention(_request())
    assert TOKEN not in kept.wire()
    assert TOKEN not in kept.text(f"connecting with {TOKEN}")
    assert TOKEN not in json.dumps(kept.json({"detail": f"sent {TOKEN}"}))
    assert kept.text("connecting to the server") == "connecting to the server"


def test_a_secret_the_suite_printed_is_gone_from_everything() -> None:
    context = json.dumps({"client_id": "id", "client_secret": SECRET})
    kept = _retention(
        _request(body=f"note {SECRET}"), text=f"With context: {context}\n"
    )
    assert SECRET not in kept.wire()
    assert SECRET not in kept.text(f"With context: {context}")
    assert SECRET not in json.dumps(kept.json([{"errorMessage": f"got {SECRET}"}]))


def test_a_secret_in_the_checks_is_gone_from_everything() -> None:
    kept = _retention(checks=[{"id": "x", "details": {"access_token": TOKEN}}])
    assert TOKEN not in kept.text(f"log: {TOKEN}")


def test_a_cleared_wire_log_is_still_the_witnesses() -> None:
    kept = _retention(
        '{"type":"listen","t":1.0,"port":4000}', _request(), _request(id=2)
    )
    log = parse_wire(kept.wire(), "wire.jsonl")
    assert [each.id for each in log.exchanges] == [1, 2]
    authorization = log.exchanges[0].request_header("authorization")
    assert authorization == f"Bearer {PLACEHOLDER}"


@pytest.mark.parametrize("token", ["1234567", "4000.5000", 'x": 123456', 'a","b-c'])
def test_a_secret_like_a_number_or_with_quotation_marks_breaks_no_record(
    token: str,
) -> None:
    """A client chooses its tokens; that may neither end a run nor spoil evidence."""
    kept = _retention(_request(token, t=1234567.25), _request(token, id=2, t=4000.5))
    log = parse_wire(kept.wire(), "wire.jsonl")
    assert {each.id for each in log.exchanges} == {1, 2}
    value: Any = kept.json({"t": 1234567, "x": 123456, "said": f"<{token}>"})
    assert (value["t"], value["x"]) == (1234567, 123456)
    assert token not in value["said"]


def test_a_torn_line_stays_torn_and_holds_no_secret() -> None:
    torn = _request().partition('"}, "body"')[0]
    assert TOKEN in torn
    wire = Retention.of(wire=_request(id=2) + "\n" + torn, texts=(), checks=None).wire()
    assert TOKEN not in wire
    log = parse_wire(wire, "wire.jsonl")
    assert log.truncated
    assert len(log.exchanges) == 1


def test_nothing_is_kept_of_nothing() -> None:
    kept = Retention.of(wire="", texts=(), checks=None)
    assert (kept.wire(), kept.text(""), kept.json(None)) == ("", "", None)


def _tree(source: Path, destination: Path) -> dict[str, bytes]:
    _retention(_request()).keep_tree(source, destination)
    return {
        str(path.relative_to(destination)): path.read_bytes()
        for path in destination.rglob("*")
        if path.is_file()
    }


def test_a_kept_tree_holds_no_secret(tmp_path: Path) -> None:
    source = tmp_path / "case"
    (source / "home" / ".codex").mkdir(parents=True)
    (source / "stdout").write_text(f"hello {TOKEN}\n", "utf-8")
    (source / "job.json").write_text("{}", "utf-8")
    (source / "home" / ".codex" / "auth.json").write_text("{}", "utf-8")
    (source / "home" / "cache.bin").write_bytes(b"\xff\x00" + TOKEN.encode())
    (source / "home" / "plain.bin").write_bytes(b"\xff\x00")
    (source / "home" / TOKEN).write_text("x", "utf-8")
    kept = _tree(source, tmp_path / "kept")
    assert sorted(kept) == ["LEFT-OUT.txt", "home/plain.bin", "stdout"]
    assert kept["stdout"] == f"hello {PLACEHOLDER}\n".encode()
    assert not any(TOKEN.encode() in content for content in kept.values())
    left_out = kept["LEFT-OUT.txt"].decode()
    for name in ("job.json", "auth.json", "cache.bin"):
        assert name in left_out


def test_what_is_no_plain_file_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private").write_text("not of this case", "utf-8")
    source = tmp_path / "case"
    source.mkdir()
    (source / "link").symlink_to(outside / "private")
    (source / "folder").symlink_to(outside)
    os.mkfifo(source / "pipe")
    assert sorted(_tree(source, tmp_path / "kept")) == ["LEFT-OUT.txt"]


def test_a_file_that_cannot_be_kept_is_named_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "case"
    source.mkdir()
    (source / "a-large-one").write_bytes(b"x" * 20)
    (source / "b-closed").write_text("x", "utf-8")
    (source / "stdout").write_text("hello", "utf-8")
    monkeypatch.setattr("mcpconf.retention._MAX_KEPT_BYTES", 10)
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "b-closed":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    kept = _tree(source, tmp_path / "kept")
    assert sorted(kept) == ["LEFT-OUT.txt", "stdout"]
    assert kept["LEFT-OUT.txt"].decode() == (
        "a-large-one: larger than 10 bytes\n"
        "b-closed: cannot be read: Permission denied\n"
    )


def test_a_file_name_that_is_not_utf8_does_not_end_the_run(tmp_path: Path) -> None:
    source = tmp_path / "case"
    source.mkdir()
    name = os.fsdecode(b"caf\xe9")
    try:
        (source / name).write_bytes(b"\xff" * 4 + TOKEN.encode())
    except OSError:  # some systems have no such names
        pytest.skip("file names are UTF-8 here")
    kept = _tree(source, tmp_path / "kept")
    assert sorted(kept) == ["LEFT-OUT.txt"]
    assert b"holds a secret in binary form" in kept["LEFT-OUT.txt"]


def test_the_beginning_of_a_token_is_not_kept_either(tmp_path: Path) -> None:
    """The suite shortens what it saw, so that it is not found by value."""
    shown = "test-token-17..."
    checks: Any = [{"id": "valid-bearer-token", "details": {"token": shown}}]
    retention = Retention.of(wire="", texts=(), checks=checks)
    kept: Any = retention.json(checks)
    assert kept == [{"id": "valid-bearer-token", "details": {"token": "[REDACTED]"}}]

    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "checks.json").write_text(json.dumps(checks))
    retention.keep_tree(tmp_path / "case", tmp_path / "kept")
    assert json.loads((tmp_path / "kept" / "checks.json").read_text()) == kept
