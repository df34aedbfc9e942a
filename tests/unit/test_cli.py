"""
The command line refuses before it does anything.

Every refusal is one line on standard error with exit code 2; nothing is started,
nothing is written, and what was there keeps its bytes.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

import mcpconf
from mcpconf import cli, cli_arguments, run, setup
from mcpconf.record import AuthMode, Policy, RevisionPolicy, WarningPolicy
from mcpconf.setup import RunOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

NULL = ("--client", "null")


class _ReachedError(BaseException):
    """Options were good enough for the next stage."""


def _reached(*_: object, **__: object) -> NoReturn:
    raise _ReachedError


@pytest.fixture(autouse=True)
def _nothing_is_obtained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """No suite is installed and no run begins, whatever a refusal lets through."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setattr(setup, "install_suite", _reached)
    monkeypatch.setattr(setup, "override_suite", _reached)
    monkeypatch.setattr(run, "perform", _reached)
    yield
    assert list(place.iterdir()) == [], "a refusal leaves nothing behind"


def _program(path: Path, output: str = "codex-cli 1.2.3", mode: int = 0o755) -> Path:
    path.write_text(f"#!/bin/sh\necho '{output}'\n", "utf-8")
    path.chmod(mode)
    return path


def _refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which ``mcpconf run`` refuses these arguments."""
    try:
        code = cli.main(["run", *arguments])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else -1
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert printed.err.startswith("mcpconf: error: ")
    assert printed.err.count("\n") == 1
    return printed.err


def test_good_options_are_let_through(tmp_path: Path) -> None:
    """The positive control of every refusal below."""
    report = str(tmp_path / "new" / "report.json")
    with pytest.raises(_ReachedError):
        cli.main(["run", *NULL, "--report", report, "--jobs", "1", "--timeout", "0.5"])
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--official-scenario", "tools-call"), "tools-call: no client scenario"),
        (
            ("--revision", "2025-06-18", "--official-scenario", "sse-retry"),
            "sse-retry: only in 2025-11-25, not in the selected 2025-06-18",
        ),
        (
            ("--no-auth", "--official-scenario", "auth/basic-cimd"),
            "auth/basic-cimd: needs authorization; drop --no-auth",
        ),
        (("--jobs", "0"), "--jobs 0"),
        (("--jobs", "-3"), "--jobs -3"),
        (("--jobs", "many"), "--jobs: invalid int value: 'many'"),
        (("--timeout", "0"), "--timeout 0"),
        (("--timeout", "-1"), "--timeout -1"),
        (("--timeout", "nan"), "--timeout nan"),
        (("--timeout", "inf"), "--timeout inf"),
        (("--timeout", "3601"), "--timeout 3601"),
        (("--timeout", "soon"), "--timeout: invalid float value: 'soon'"),
        (("--revision", "2024-11-05"), "--revision: invalid choice: '2024-11-05'"),
        (("--client", "nosuch"), "--client: invalid choice: 'nosuch'"),
        (("--warnings", "ignore"), "--warnings: invalid choice: 'ignore'"),
        (("--revision-policy", "any"), "--revision-policy: invalid choice: 'any'"),
        (("--nosuch",), "unrecognized arguments: --nosuch"),
        (("--official", "initialize"), "unrecognized arguments: --official"),
        (("--report",), "--report: expected one argument"),
        (("--client-command", ""), "--client-command is empty"),
        (("--client-command", "   "), "--client-command is empty"),
        (("--client-command", "sh 'x"), '--client-command "sh \'x": No closing'),
        (("--client-command", "no-such-program x"), "no-such-program: no such program"),
        (("--client-command", "/no/such/program"), "/no/such/program: no such program"),
        (
            ("--client-command", "sh x", "--binary", "/bin/sh"),
            "--client-command excludes --binary",
        ),
        ((*NULL, "--binary", "/bin/sh"), "--binary and --client-version are for"),
        ((*NULL, "--client-version", "1"), "--binary and --client-version are for"),
        (("--binary", "absent"), "absent: no such file"),
        (("--binary", "."), ".: no such file"),
    ],
)
def test_an_option_that_cannot_be_honoured_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], named: str
) -> None:
    assert named in _refusal(capsys, *arguments)


def test_every_bad_name_is_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    said = _refusal(
        capsys,
        *(*NULL, "--no-auth"),
        *("--official-scenario", "nosuch", "--official-scenario", "auth/basic-cimd"),
    )
    assert "nosuch: " in said
    assert "auth/basic-cimd: " in said


def test_a_binary_that_may_not_be_executed_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    binary = _program(tmp_path / "codex", mode=0o644)
    said = _refusal(capsys, "--binary", str(binary))
    assert f"{binary}: may not be executed" in said


@pytest.mark.parametrize("wanted", ["1.2.4", "1.2", "2.3"])
def test_a_binary_of_another_version_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, wanted: str
) -> None:
    binary = _program(tmp_path / "codex")
    said = _refusal(capsys, "--binary", str(binary), "--client-version", wanted)
    assert f"{binary}: is 'codex-cli 1.2.3', not version {wanted}" in said


def test_a_binary_of_the_wanted_version_is_let_through(tmp_path: Path) -> None:
    binary = _program(tmp_path / "codex")
    with pytest.raises(_ReachedError):
        cli.main(["run", "--binary", str(binary), "--client-version", "1.2.3"])


@pytest.mark.parametrize(
    "content",
    ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n", "#!/no/such/interpreter\n", "\x7f"],
    ids=["fails", "says-nothing", "cannot-start", "is-no-program"],
)
def test_a_binary_that_will_not_say_its_version_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str
) -> None:
    binary = tmp_path / "codex"
    binary.write_text(content, "utf-8")
    binary.chmod(0o755)
    said = _refusal(capsys, "--binary", str(binary))
    assert f"{binary}: does not say its version" in said


@pytest.mark.parametrize("option", ["--report", "--artifact-parent"])
def test_a_place_below_a_file_is_refused_and_the_file_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    for place in (file / "x", file / "x" / "y", Path("/dev/null/x")):
        said = _refusal(capsys, *NULL, option, str(place))
        assert f"{option}: " in said
        assert "cannot be written" in said
    assert file.read_bytes() == b"content"


def test_a_report_in_the_place_of_a_directory_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert f"--report {tmp_path}: is a directory" in _refusal(
        capsys, *NULL, "--report", str(tmp_path)
    )


def test_a_report_in_the_place_of_a_device_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A report replaces what is there: as root, even ``/dev/null``."""
    os.mkfifo(tmp_path / "pipe")
    said = _refusal(capsys, *NULL, "--report", str(tmp_path / "pipe"))
    assert "is not a regular file" in said
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--jobs", "0"),
        ("--official-scenario", "nosuch"),
        ("--client-command", "no-such-program"),
        ("--timeout", "nan"),
        ("--client", "nosuch"),
    ],
)
def test_a_refusal_keeps_the_report_of_the_run_before(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(b"of the run before")
    before = report.stat()
    _refusal(capsys, "--report", str(report), *arguments)
    assert report.read_bytes() == b"of the run before"
    assert report.stat().st_mtime_ns == before.st_mtime_ns
    assert (
        os.listdir(tmp_path) == ["work", "report.json"]
        or len(os.listdir(tmp_path)) == 2
    )


@pytest.mark.parametrize("arguments", [[], ["nosuch"], ["run", "--jobs"]])
def test_no_command_is_refused_like_everything_else(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (2, "")
    assert printed.err.startswith("mcpconf: error: ")
    assert printed.err.count("\n") == 1


def test_the_version_and_the_exit_codes_can_be_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for option, text in (
        ("--version", mcpconf.__version__),
        ("--help", "0 conformant, 1 not conformant"),
    ):
        with pytest.raises(SystemExit) as end:
            cli.main([option])
        assert end.value.code == 0
        assert text in " ".join(capsys.readouterr().out.split())


# -- the words that make a run again -----------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (RunOptions(), ""),
        (RunOptions(client="python-sdk"), "--client python-sdk"),
        (
            RunOptions(client_command="./c 'a b'"),
            "--client-command './c '\"'\"'a b'\"'\"''",
        ),
        (
            RunOptions(binary=Path("a b/codex"), client_version="1.2.3"),
            "--binary 'a b/codex' --client-version 1.2.3",
        ),
        (RunOptions(conformance_cli=Path("x.js")), "--conformance-cli x.js"),
        (
            RunOptions(
                auth_mode=AuthMode.STRICT,
                policy=Policy(
                    warnings=WarningPolicy.WARN, revision=RevisionPolicy.EXACT
                ),
            ),
            "--require-automatic-auth --warnings warn --revision-policy exact",
        ),
    ],
)
def test_a_run_knows_the_words_that_make_it_again(
    options: RunOptions, words: str
) -> None:
    assert list(options.command()) == shlex.split(words)
    parsed = cli_arguments.parser().parse_args(["run", *options.command()])
    assert parsed.client_command == options.client_command
    assert parsed.client == options.client
    assert (parsed.binary, parsed.client_version) == (
        options.binary,
        options.client_version,
    )
    assert (parsed.warnings or "fail") == options.policy.warnings.value
    assert parsed.revision_policy == options.policy.revision.value
    strict = options.auth_mode is AuthMode.STRICT
    assert parsed.require_automatic_auth is strict


def test_a_secret_on_a_command_line_is_not_kept_with_the_run() -> None:
    options = RunOptions(client_command=f"{sys.executable} c.py --api-key=sk-abcdef123")
    words = " ".join(options.command())
    assert "sk-abcdef123" not in words
    assert "c.py" in words
