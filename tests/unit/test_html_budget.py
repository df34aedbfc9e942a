"""Transcripts in a page of bounded size: what is cut, of what, and that it is said."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from dataclasses import replace
from itertools import pairwise
from typing import Any

from html_make import make_moments, make_transcript

from mcpconf.render.html.budget import SHARES, pack_transcripts


def _unpack(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def _noise(seed: str, size: int) -> str:
    """Text that does not compress, the same each time."""
    digests = (
        hashlib.sha256(f"{seed} {number}".encode()).hexdigest()
        for number in range(size // 64 + 1)
    )
    return "".join(digests)[:size]


def test_what_fits_is_kept_whole() -> None:
    found = pack_transcripts({"a": make_transcript("a")}, failed=())
    value = _unpack(found["a"])
    assert value["left"] == 0
    assert value["moments"][2]["body"] == '{\n  "id": 1\n}'


def test_too_much_is_cut_to_the_limit_and_what_failed_keeps_more() -> None:
    moments = tuple(
        replace(each, body=_noise(str(number), 2_000))
        for number, each in enumerate(make_moments(600))
    )
    transcripts = {
        name: make_transcript(name, moments=moments) for name in ("good", "bad")
    }
    limit = 500_000
    found = pack_transcripts(transcripts, failed={"bad"}, limit=limit)
    assert sum(map(len, found.values())) <= limit
    good, bad = _unpack(found["good"]), _unpack(found["bad"])
    assert len(bad["moments"]) > len(good["moments"])
    assert good["left"] == 602 - len(good["moments"])
    assert "characters cut" in bad["moments"][2]["cut"]


def test_where_nothing_fits_each_still_says_how_much_there_is() -> None:
    found = pack_transcripts({"a": make_transcript("a")}, failed=(), limit=1)
    value = _unpack(found["a"])
    assert value["moments"] == []
    assert value["left"] == 5
    assert value["endings"]


def test_each_share_of_a_failure_is_at_least_that_of_a_pass() -> None:
    for larger, smaller in SHARES:
        assert larger.moments >= smaller.moments
        assert larger.characters >= smaller.characters
    for (before, _), (after, _) in pairwise(SHARES):
        assert before.moments >= after.moments
        assert before.characters >= after.characters


def test_times_count_from_the_first_step_or_message() -> None:
    value = _unpack(pack_transcripts({"a": make_transcript("a")}, failed=())["a"])
    assert value["steps"][1]["t"] == 0.0
    assert value["steps"][0]["t"] is None
