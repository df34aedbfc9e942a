"""The program under test: found, identified, and refused where it is not clear."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from mcpconf.client import manifest, subject
from mcpconf.client.subject import Subject, SubjectRecord, resolve_subject
from mcpconf.decode import Reader
from mcpconf.errors import DecodeError, UsageError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")

FAKE = Path(__file__).parents[2] / "fixtures" / "codex" / "fake_codex.py"


def program(place: Path, script: str, *, mode: int = 0o755) -> Path:
    path = place / "codex"
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(mode)
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Codex


def test_a_given_codex_is_asked_for_its_version_and_digested() -> None:
    found = resolve_subject("codex", binary=FAKE)

    assert found.manifest is manifest.CODEX
    assert (found.argv, found.binary) == ((str(FAKE),), FAKE)
    assert (found.version, found.source) == ("codex-cli 0.171.0", "given")
    assert found.sha256 == digest(FAKE)


def test_a_given_codex_may_be_held_to_a_version() -> None:
    found = resolve_subject("codex", binary=FAKE, version="0.171.0")

    assert found.version == "codex-cli 0.171.0"


@pytest.mark.parametrize("version", ["0.171", "171.0", "0.171.0-alpha.1", ""])
def test_a_codex_of_another_version_is_refused(version: str) -> None:
    """A part of the version is another version."""
    with pytest.raises(UsageError, match=r"is 'codex-cli 0\.171\.0', not version"):
        resolve_subject("codex", binary=FAKE, version=version)


def test_a_relative_binary_is_found_from_where_the_user_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "echo codex 1")
    monkeypatch.chdir(tmp_path)

    assert resolve_subject("codex", binary=Path("codex")).argv == (
        str(tmp_path / "codex"),
    )


def test_the_first_line_of_a_version_is_kept_short(tmp_path: Path) -> None:
    script = "printf '\\n  codex \\t 1.2.3  \\nsecond\\n'"

    assert resolve_subject("codex", binary=program(tmp_path, script)).version == (
        "codex 1.2.3"
    )


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("exit 3", "exited 3"),
        ("echo codex 1; exit 1", "exited 1"),
        ("exit 0", "exited 0"),
        ("echo '  '", "exited 0"),
        ("kill -SEGV $$", "SIGSEGV"),
    ],
)
def test_a_binary_that_does_not_say_its_version_is_refused(
    tmp_path: Path, script: str, how: str
) -> None:
    path = program(tmp_path, script)

    with pytest.raises(UsageError, match=rf"does not say its version \({how}\)"):
        resolve_subject("codex", binary=path)


def test_a_binary_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "_VERSION_S", 0.3)

    with pytest.raises(UsageError, match="does not say its version"):
        resolve_subject("codex", binary=program(tmp_path, "sleep 600"))


def test_a_file_that_is_no_program_says_what_the_system_says(tmp_path: Path) -> None:
    path = tmp_path / "codex"
    path.write_bytes(b"\0not a program")
    path.chmod(0o755)

    with pytest.raises(UsageError, match="Exec format error"):
        resolve_subject("codex", binary=path)


@pytest.mark.parametrize("what", ["missing", "a directory"])
def test_a_binary_that_is_not_a_file_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "codex"
    if what == "a directory":
        path.mkdir()

    with pytest.raises(UsageError, match="no such file"):
        resolve_subject("codex", binary=path)


def test_a_binary_that_may_not_be_executed_is_refused(tmp_path: Path) -> None:
    path = program(tmp_path, "echo codex 1", mode=0o644)

    with pytest.raises(UsageError, match=r"may not be executed; chmod \+x"):
        resolve_subject("codex", binary=path)


def test_a_binary_sees_nothing_of_the_callers_home_and_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    monkeypatch.setenv("HOME", "/callers/home")

    found = resolve_subject(
        "codex", binary=program(tmp_path, 'echo "codex [$OPENAI_API_KEY] [$HOME]"')
    )

    assert "canary-key" not in found.version
    assert "/callers/home" not in found.version
    assert found.version.startswith("codex [] [/")


def test_a_binary_that_is_another_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"says 'ls 9\.1', which is not Codex"):
        resolve_subject("codex", binary=program(tmp_path, "echo ls 9.1"))


# A program of the user's own


def test_a_command_is_split_as_a_shell_would_and_run_by_none(tmp_path: Path) -> None:
    path = program(tmp_path, "exit 1")

    found = resolve_subject("codex", command=f"'{path}' 'a b' $HOME \"c;d\"")

    assert found.manifest is manifest.COMMAND
    assert found.argv == (str(path), "a b", "$HOME", "c;d")
    assert (found.binary, found.sha256) == (path, digest(path))


def test_a_command_is_looked_up_on_the_search_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link is started as it is named, and identified by what it leads to."""
    path = program(tmp_path, "exit 0")
    link = tmp_path / "my-client"
    link.symlink_to(path)
    monkeypatch.setenv("PATH", str(tmp_path))

    found = resolve_subject("codex", command="my-client")

    assert (found.argv, found.binary) == ((str(link),), path)


@pytest.mark.parametrize("interpreter", ["python3", "python3.11", "node"])
def test_an_interpreted_client_is_identified_by_its_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    """Else all clients of one interpreter would be the same bytes."""
    program(tmp_path, "exit 0").rename(tmp_path / interpreter)
    mine, other = tmp_path / "my.py", tmp_path / "other.py"
    mine.write_text("mine", "utf-8")
    other.write_text("other", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))

    found = resolve_subject("codex", command=f"{interpreter} my.py x")
    another = resolve_subject("codex", command=f"{interpreter} {other}")

    assert found.argv == (str(tmp_path / interpreter), "my.py", "x")
    assert (found.binary, found.sha256) == (mine, digest(mine))
    assert (another.binary, another.sha256) == (other, digest(other))


@pytest.mark.parametrize("words", ["-m my", "-c my.py", "run my.py", ""])
def test_an_interpreter_without_a_known_script_is_identified_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    path = program(tmp_path, "exit 0").rename(tmp_path / "deno")
    (tmp_path / "my.py").write_text("mine", "utf-8")
    monkeypatch.chdir(tmp_path)

    found = resolve_subject("codex", command=f"{path} {words}")

    assert (found.binary, found.sha256) == (path, digest(path))


def test_a_secret_in_a_command_is_started_and_not_shown(tmp_path: Path) -> None:
    path = program(tmp_path, "exit 0")

    found = resolve_subject("codex", command=f"{path} --api-key=canary-key-93")

    assert found.argv == (str(path), "--api-key=canary-key-93")
    assert "canary-key-93" not in str(found.to_json())


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("'open", "No closing quotation"),
        ("no-such-program x", "no-such-program: no such program"),
        ("/no/such/program", "/no/such/program: no such program"),
    ],
)
def test_a_command_that_names_no_program_is_refused(command: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        resolve_subject("codex", command=command)


def test_options_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(UsageError, match="--client-command excludes"):
        resolve_subject("codex", command="env", binary=FAKE)
    with pytest.raises(UsageError, match="--client-command excludes"):
        resolve_subject("codex", command="env", version="1.2.3")
    with pytest.raises(UsageError, match="are for --client codex"):
        resolve_subject("null", binary=FAKE)
    with pytest.raises(UsageError, match="are for --client codex"):
        resolve_subject("python-sdk", version="1.2.3")


@pytest.mark.parametrize("version", ["latest", "^1.0.0", "1.2", "../evil", "https://x"])
def test_a_version_to_obtain_must_be_exact(version: str) -> None:
    with pytest.raises(UsageError, match="is not an exact version"):
        resolve_subject("codex", version=version)


# What is shipped


@pytest.mark.parametrize(
    "name", [each.name for each in manifest.MANIFESTS.values() if each.is_canary]
)
def test_a_canary_is_shipped_and_identified(name: str) -> None:
    found = resolve_subject(name)

    assert found.binary.is_file()
    assert (found.version, found.source) == (f"canary {name}", "shipped")
    assert found.sha256 == digest(found.binary)


# Records


@pytest.fixture
def resolved() -> Subject:
    return resolve_subject("null")


def test_a_subject_survives_storage(resolved: Subject) -> None:
    record = SubjectRecord.of(resolved)

    assert SubjectRecord.from_json(Reader(record.value, "run.json")) == record
    assert record.name == "null"


@pytest.mark.parametrize("name", ["name", "binary", "version"])
def test_a_stored_subject_without_a_member_is_refused(
    resolved: Subject, name: str
) -> None:
    value = resolved.to_json()
    assert isinstance(value, dict)
    del value[name]

    with pytest.raises(DecodeError, match=f"{name}: is missing"):
        SubjectRecord.from_json(Reader(value, "run.json"))


@pytest.mark.parametrize(
    ("command", "is_refused"),
    [
        ("python3 absent.py", True),
        ("node absent.mjs --flag", True),
        ("python3 -m absent", False),
        ("sh -c absent", False),
        ("cat absent.py", False),
    ],
)
def test_a_script_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, is_refused: bool
) -> None:
    """Else the interpreter's complaint would be taken for the client's silence."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("python3", "node", "sh", "cat"):
        program(tmp_path, "exit 0").rename(tmp_path / name)
    if is_refused:
        with pytest.raises(UsageError, match=r"absent\.\w+: no such file"):
            resolve_subject("codex", command=command)
    else:
        resolve_subject("codex", command=command)
