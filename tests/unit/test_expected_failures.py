"""The official expected-failures file is read as the suite means it, and no typo is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcpconf.errors import DecodeError
from mcpconf.expected_failures import MAX_BYTES, ExpectedFailuresFile, load, parse
from mcpconf.revision import Revision
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from pathlib import Path

CATALOGUE = load_catalogue()
ALL = tuple(each.value for each in Revision)


def read(text: str, revisions: tuple[str, ...] = ALL) -> ExpectedFailuresFile:
    return parse(text, "expected.yml", catalogue=CATALOGUE, revisions=revisions)


def refusal(text: str) -> str:
    with pytest.raises(DecodeError) as caught:
        read(text)
    return str(caught.value)


def test_file_keeps_scenarios_and_checks_with_their_lines() -> None:
    file = read(
        "# known\nclient:\n  - sse-retry # whole\n\n  - tools_call:tool-add-numbers\n"
    )
    assert [(each.scenario, each.check_id, each.line) for each in file.entries] == [
        ("sse-retry", None, 3),
        ("tools_call", "tool-add-numbers", 5),
    ]
    assert [str(each) for each in file.entries] == [
        "sse-retry",
        "tools_call:tool-add-numbers",
    ]
    assert file.remarks == ()


def test_first_colon_ends_the_scenario() -> None:
    # The rest belongs to the check's id, as in the suite: and there is no such check.
    assert "sse-retry:a:b: no check of that scenario" in refusal(
        "client: ['sse-retry:a:b']"
    )


@pytest.mark.parametrize("check", ["wire-schema-valid", "wire-schema-harness-error"])
def test_checks_that_the_suite_adds_everywhere_are_known(check: str) -> None:
    assert len(read(f"client: [auth/basic-cimd:{check}]").entries) == 1


def test_server_entries_are_kept_and_said_not_to_be_used() -> None:
    file = read("server: [tools-call-with-progress, a:b]\nclient: [sse-retry]\n")
    assert [str(each) for each in file.others] == ["tools-call-with-progress", "a:b"]
    assert file.remarks == (
        "expected.yml: server: not used, a client is judged (2 listed)",
    )


@pytest.mark.parametrize(
    ("entry", "revisions"),
    [
        # Upstream's back-compatibility scenarios belong to no revision judged here.
        ("auth/2025-03-26-oauth-endpoint-fallback", ALL),
        ("auth/2025-03-26-oauth-endpoint-fallback:any", ALL),
        ("sse-retry", ("2026-07-28",)),
        ("sse-retry:wire-schema-valid", ("2025-06-18",)),
        ("auth/scope-step-up:sep-2350-scope-union-on-reauth", ("2025-11-25",)),
    ],
)
def test_what_no_selected_revision_has_is_kept_apart(
    entry: str, revisions: tuple[str, ...]
) -> None:
    file = read(f"client:\n- {entry}\n- tools_call\n", revisions)
    assert [str(each) for each in file.elsewhere] == [entry]
    assert [str(each) for each in file.entries] == ["tools_call"]
    assert f"line 2: {entry}: not used: no selected revision has it" in file.remarks[0]


def test_an_empty_list_says_that_nothing_fails() -> None:
    assert read("client: []\n").entries == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("# nothing\n", "is empty"),
        ("~\n", "expected `client:`"),
        ("[sse-retry]", "expected `client:`"),
        ("server: [a]\n", "has no list `client:`"),
        (
            "clients: [sse-retry]\n",
            "line 1: unknown key clients; known: server, client",
        ),
        ("1: []\nclient: []\n", "line 1: unknown key a key that is no string"),
        ("client: []\nclient: [sse-retry]\n", "line 2: a second `client:`"),
        ("client:\n", "line 1: `client:` must be a list"),
        ("client: sse-retry\n", "must be a list"),
        ("client: {sse-retry: }\n", "must be a list"),
        ("client:\n- \n", "line 2: an entry is `scenario` or `scenario:check-id`"),
        ("client:\n- 7\n", "line 2: an entry is"),
        ("client:\n- true\n", "line 2: an entry is"),
        ("client:\n- [sse-retry]\n", "line 2: an entry is"),
        ("client:\n- {a: b, c: d}\n", "line 2: a mapping"),
        ("server:\n- {a: [b]}\nclient: []\n", "line 2: a mapping"),
        (
            "client:\n- sse-retry: client-sse-retry-timing\n",
            "line 2: a mapping; `scenario:check-id` has no space after the colon",
        ),
        ("client: ['sse-retry:']\n", "`sse-retry:`: something is missing"),
        ("client: [':x']\n", "`:x`: something is missing"),
        ("client: ['']\n", "something is missing"),
        (
            "client:\n- sse-retry\n- tools_call\n- sse-retry\n",
            "line 4: sse-retry is in line 2 already",
        ),
        (
            "client:\n- sse-retry:client-sse-retry-timing\n- sse-retry\n",
            "line 2: sse-retry:client-sse-retry-timing: the whole of sse-retry",
        ),
        ("server: [a, a]\nclient: []\n", "a is in line 1 already"),
        (
            "client: [sse-rety]\n",
            "sse-rety: no scenario of the suite; did you mean sse-retry?",
        ),
        (
            "client: ['tools_call:tool-ad-numbers']\n",
            "no check of that scenario; did you mean tool-add-numbers?",
        ),
        ("client: &a [sse-retry]\n", "line 1: an anchor, &a"),
        ("client: [&a sse-retry, *a]\n", "an anchor, &a"),
        ("client: [&a sse-retry,\n *a]\n", "line 2: an alias, *a"),
        ("client: !!python/tuple [sse-retry]\n", "a tag, tag:yaml.org,2002:python/tup"),
        ("client: [!x sse-retry]\n", "a tag, !x"),
        ("client: []\n---\nclient: []\n", "several documents"),
        ("client: [sse-retry\n", "is no YAML"),
        ("client:\n\t- sse-retry\n", "line 2: is no YAML"),
        ("client: ['\x07']\n", "is no YAML"),
        ("client: " + "[" * 20_000, "nested too deeply"),
        ("#" * (MAX_BYTES + 1), f"is larger than {MAX_BYTES} bytes"),
    ],
)
def test_refusal_names_place_and_problem(text: str, said: str) -> None:
    problem = refusal(text)
    assert problem.startswith("expected.yml: ")
    assert said in problem


def test_all_problems_are_named_at_once_by_their_lines() -> None:
    problem = refusal(
        "client:\n- sse-rety\n- sse-retry\n- sse-retry\n- tools_call: x\n- 7\n"
        "clients: []\n"
    )
    assert [each.partition(":")[0] for each in problem.split("; line ")[1:]] == [
        "4",
        "5",
        "6",
        "7",
    ]
    assert problem.startswith("expected.yml: line 2: sse-rety")


def test_a_file_of_many_aliases_is_refused_and_not_expanded() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefghijk", "bcdefghijkl", strict=True)
    )
    assert "line 12: an anchor, &l" in refusal(bomb)


def test_load_reads_a_file_and_names_its_faults(tmp_path: Path) -> None:
    path = tmp_path / "expected.yml"

    def loaded() -> ExpectedFailuresFile:
        return load(path, catalogue=CATALOGUE, revisions=ALL)

    with pytest.raises(DecodeError, match="cannot be read"):
        loaded()
    path.write_bytes(b"client: [\xff]")
    with pytest.raises(DecodeError, match="byte 9: is not UTF-8"):
        loaded()
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(DecodeError, match="is larger than"):
        loaded()
    path.write_bytes(b"\xef\xbb\xbfclient: [sse-retry]\r\n")
    assert [str(each) for each in loaded().entries] == ["sse-retry"]
