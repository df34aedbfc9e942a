"""``[tool.mcpconf]``: what it says as options, and everything that is wrong with it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from mcpconf.adopt.config import KEYS, Adoption, decode, read_pyproject
from mcpconf.client.subject import resolve_subject
from mcpconf.errors import DecodeError, ExitCode, McpconfError, UsageError
from mcpconf.record import AuthMode, WarningPolicy
from mcpconf.revision import KNOWN, Revision

AWKWARD = ("a b", "it's", '"', "$(id)", "`id`", "*", "", "--client", "new\nline", "\\")


def _read(tmp_path: Path, text: str) -> Adoption | None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text, "utf-8")
    return read_pyproject(path)


def test_the_smallest_table_names_a_command(tmp_path: Path) -> None:
    adoption = _read(tmp_path, '[tool.mcpconf]\ncommand = ["node", "client.js"]\n')
    assert adoption == Adoption(command=("node", "client.js"))
    assert adoption.words(()) == ("--client-command=node client.js",)


def test_a_whole_table_is_read_and_its_paths_start_at_the_file(tmp_path: Path) -> None:
    (tmp_path / "known.json").touch()
    adoption = _read(
        tmp_path,
        """
        [tool.mcpconf]
        client = "codex"
        binary = "target/debug/codex"
        revisions = ["2026-07-28", "2025-06-18"]
        baseline = "known.json"
        warnings = "warn"
        auth = "strict"
        """,
    )
    assert adoption == Adoption(
        client="codex",
        binary=tmp_path / "target/debug/codex",
        revisions=(Revision.V2025_06_18, Revision.V2026_07_28),
        baseline=tmp_path / "known.json",
        warnings=WarningPolicy.WARN,
        auth=AuthMode.STRICT,
    )
    assert adoption.words(()) == (
        "--client=codex",
        f"--binary={tmp_path}/target/debug/codex",
        "--revision=2025-06-18",
        "--revision=2026-07-28",
        f"--baseline={tmp_path}/known.json",
        "--warnings=warn",
        "--require-automatic-auth",
    )


@pytest.mark.parametrize("text", ["", "[tool.other]\n", "[project]\nname = 'x'\n"])
def test_where_there_is_no_table_nothing_is_made_up(tmp_path: Path, text: str) -> None:
    assert _read(tmp_path, text) is None
    assert read_pyproject(tmp_path / "absent.toml") is None


def test_no_word_of_a_command_is_lost_or_split(tmp_path: Path) -> None:
    """Through the option and back, as `resolve_subject` reads it."""
    adoption = Adoption(command=("program", *AWKWARD))
    (word,) = adoption.words(())
    option, _, command = word.partition("=")
    assert option == "--client-command"
    assert tuple(shlex.split(command)) == ("program", *AWKWARD)
    program = tmp_path / "a program"
    program.write_text("#!/bin/sh\necho 1\n", "utf-8")
    program.chmod(0o755)
    command = shlex.join((str(program), *AWKWARD))
    assert resolve_subject("codex", command=command).argv == (str(program), *AWKWARD)


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        ("command = []", ["tool.mcpconf.command: is empty"]),
        ('command = "node client.js"', ["tool.mcpconf.command: expected an array"]),
        ('command = ["node", 1]', ["tool.mcpconf.command[1]: expected a string"]),
        ('command = [""]', ["tool.mcpconf.command[0]: is empty"]),
        ('command = ["a\\u0000"]', ["tool.mcpconf.command[0]: holds a NUL"]),
        ('command = ["a", "\\u0000"]', ["tool.mcpconf.command[1]: holds a NUL"]),
        ("", ["tool.mcpconf: name the client under test"]),
        (
            'client = "codex"\ncommand = ["x"]',
            ["tool.mcpconf: client and command exclude each other"],
        ),
        ('client = "nosuch"', ["tool.mcpconf.client: 'nosuch' is not known"]),
        ('command = ["x"]\nbinary = "b"', ["tool.mcpconf: binary is for client"]),
        ('client = "codex"\nbinary = ""', ["tool.mcpconf.binary: is empty"]),
        (
            'client = "codex"\nrevisions = ["2024-11-05"]',
            ["tool.mcpconf.revisions[0]: '2024-11-05' is not known"],
        ),
        (
            'client = "codex"\nrevisions = [2025-11-25]',
            ["tool.mcpconf.revisions[0]: expected a string in quotes"],
        ),
        ('client = "codex"\nrevisions = []', ["tool.mcpconf.revisions: is empty"]),
        (
            'client = "codex"\nrevisions = ["2025-11-25", "2025-11-25"]',
            ["tool.mcpconf.revisions: names a revision twice"],
        ),
        (
            'client = "codex"\nbaseline = "absent.json"',
            ["tool.mcpconf.baseline: ", "absent.json: no such file"],
        ),
        ('client = "codex"\nwarnings = "no"', ["tool.mcpconf.warnings: 'no' is not"]),
        ('client = "codex"\nauth = true', ["tool.mcpconf.auth: expected a string"]),
        ('client = "codex"\nretries = 1', ["tool.mcpconf: unknown key retries"]),
    ],
)
def test_a_table_that_is_wrong_is_refused_by_name(
    tmp_path: Path, table: str, lines: list[str]
) -> None:
    with pytest.raises(UsageError) as refused:
        _read(tmp_path, f"[tool.mcpconf]\n{table}\n")
    assert refused.value.exit_code is ExitCode.BAD_INPUT
    text = str(refused.value)
    assert text.startswith(f"{tmp_path / 'pyproject.toml'}: ")
    assert text.count("\n") == 0
    for each in lines:
        assert each in text


def test_everything_wrong_is_said_at_once_one_line_each(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        _read(
            tmp_path,
            """
            [tool.mcpconf]
            client = "codex"
            command = []
            revisions = ["1999-01-01"]
            baseline = "absent.json"
            warnings = 1
            retries = 3
            """,
        )
    lines = str(refused.value).splitlines()
    assert len(lines) == 6
    for place in (
        "command: is",
        "revisions[0]:",
        "baseline:",
        "warnings:",
        "key retries",
    ):
        assert sum(place in line for line in lines) == 1, place
    assert sum("exclude each other" in line for line in lines) == 1


@pytest.mark.parametrize(
    "content",
    [b"[tool.mcpconf\n", b"\xff", b"[tool]\nmcpconf = 1\n", b"[tool]\nmcpconf = []"],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(content)
    with pytest.raises(McpconfError) as refused:
        read_pyproject(path)
    assert refused.value.exit_code is ExitCode.BAD_INPUT


def test_a_directory_is_no_pyproject(tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="cannot be read"):
        read_pyproject(tmp_path)


@pytest.mark.parametrize(
    ("given", "left_out"),
    [
        (("--client=python-sdk",), {"--client", "--binary", "--baseline"}),
        (("--client-command", "x"), {"--client", "--binary", "--baseline"}),
        (("--binary", "other"), {"--binary"}),
        (("--revision", "2025-11-25"), {"--revision"}),
        (("--baseline=other.json",), {"--baseline"}),
        (("--warnings=fail",), {"--warnings"}),
        (("--matrix",), set()),
    ],
)
def test_what_the_caller_adds_wins(given: tuple[str, ...], left_out: set[str]) -> None:
    adoption = Adoption(
        client="codex",
        binary=Path("/b"),
        revisions=(Revision.V2025_06_18,),
        baseline=Path("/k.json"),
        warnings=WarningPolicy.WARN,
        auth=AuthMode.STRICT,
    )
    every = {word.partition("=")[0] for word in adoption.words(())}
    assert {word.partition("=")[0] for word in adoption.words(given)} == (
        every - left_out
    )


def test_one_session_is_one_revision_whatever_the_table_lists() -> None:
    adoption = Adoption(client="codex", revisions=KNOWN[:2])
    assert adoption.words((), revision=KNOWN[1]) == (
        "--client=codex",
        f"--revision={KNOWN[1].value}",
    )


def test_arguments_of_sessions_are_read_like_a_table() -> None:
    adoption = decode({"command": ["node", "c.js"]}, "noxfile.py", "sessions()")
    assert adoption.command == ("node", "c.js")
    with pytest.raises(UsageError, match=r"noxfile\.py: sessions\(\): unknown key"):
        decode({"program": ["node"]}, "noxfile.py", "sessions()")


def test_the_document_shows_a_table_that_is_read_and_names_every_key(
    tmp_path: Path,
) -> None:
    document = (Path(__file__).parents[2] / "docs" / "adopt.md").read_text("utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", document, re.DOTALL)
    assert _read(tmp_path, block) == Adoption(command=("node", "dist/client.js"))
    named = re.findall(r"^\| `(\w+)` \|", document, re.MULTILINE)
    assert sorted(named) == sorted(KEYS)
