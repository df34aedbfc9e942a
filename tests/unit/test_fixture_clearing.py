"""The log's short way gives what the long way gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcpconf.fixture_server.clearing import cleared
from mcpconf.redaction import redact_json

if TYPE_CHECKING:
    from mcpconf.decode import Json


def _nested(value: Json, depth: int) -> Json:
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [0, 1, 19, 20, 21, 150])
@pytest.mark.parametrize(
    "value",
    [
        None,
        "plain",
        "Authorization: Bearer sesame-open-abcdef",
        "x" * 300 + " access_token=sesame",
        {"name": "echo", "arguments": {"text": "plain"}, "id": 1, "flag": True},
        {"access_token": "sesame"},
        {"clientSecret": 12345},
        {"clientSecret": None, "authorization": True},
        {"Cookie": "a=b"},
        {"Set-Cookie": ["a=b; Path=/"]},
        {"authorization": {"note": "plain"}},
        {"password": ["a", ["b", 3]]},
        {"access_token=sesame": 1},
        {"state": "sesame", "code": -32600, "requestState": "opaque"},
        {"url": "http://h/cb?code=sesame&state=sesame"},
        {"text": '{"refresh_token": "sesame"}'},
        {"api_token": "sesame", "page_token": 5, "progressToken": "p"},
        {"page_token": 5, "secret": ["sesame", 5, None]},
        {"EXAMPLE_API_TOKEN": {"note": "plain"}},
        {"argv": ["--token", "sesame", "--next", "plain"]},
        ["--token=sesame"],
    ],
)
def test_clearing_is_redaction(value: Json, depth: int) -> None:
    whole = _nested(value, depth)
    assert cleared(whole) == redact_json(whole)


def test_what_is_clean_is_not_copied() -> None:
    value = {"name": "echo", "arguments": [1, None, "plain"]}
    assert cleared(value) is value
