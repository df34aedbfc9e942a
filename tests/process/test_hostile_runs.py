"""
Whole runs against hostile suites, clients and places.

Each ends in bounded time with one clear outcome or error and the right exit code, and
leaves no process, no port, no temporary directory and no secret behind.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, quote_plus

import psutil
import pytest
from scene import (
    CLIENTS,
    FIXTURES,
    PATIENCE_S,
    REVISION,
    SCENARIO,
    SUITES,
    Scene,
    staged,
)

from mcpconf import case, cli, evidence, run
from mcpconf.decode import load_json
from mcpconf.errors import DecodeError, ExitCode
from mcpconf.record import CaseKey
from mcpconf.rejudge import rejudge
from mcpconf.report_schema import load_report
from mcpconf.revision import Revision
from mcpconf.storage import json_bytes
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="the programs use Linux"),
]

CASE = Path("cases") / REVISION / SCENARIO
#: What the fake suite `hands_out_secrets.cjs` gives away.
SECRET = 'canary+client/secret=Zb93 "quoted" ü'  # noqa: S105 (a canary)
TOKEN = "canary-token.Qx71.k2m4"  # noqa: S105 (a canary)


Place: TypeAlias = tuple[str | int, ...]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A scene, after which nothing may be left."""
    one = staged(tmp_path, monkeypatch)
    yield one
    one.check_nothing_is_left()


# A good run, without which nothing below would mean anything


def test_a_good_client_in_a_good_suite_is_conformant(scene: Scene) -> None:
    assert scene.run("well_behaved.cjs", "adds_two_numbers.py") == ExitCode.CONFORMANT

    report = scene.report()
    assert (report["complete"], report["verdict"]) == (True, "CONFORMANT")
    assert scene.scenario()["outcome"] == "passed"
    assert scene.scenario()["leftovers"] == []
    assert (scene.run_dir() / run.REPORT).read_bytes() == (
        scene.output / run.REPORT
    ).read_bytes()


# Suites


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        ("writes_no_checks.cjs", "the suite wrote no checks.json"),
        ("writes_two_checks.cjs", "the suite wrote 2 checks.json"),
        ("writes_malformed_checks.cjs", "checks.json: line 1"),
        ("writes_an_object.cjs", "checks.json: expected an array, got object"),
        ("writes_an_unknown_status.cjs", "[0].status: unknown status 'PASS'"),
        ("writes_50_mib_of_checks.cjs", "checks.json: is larger than 4194304 bytes"),
        ("leaves_a_pipe_for_checks.cjs", "checks.json is not a file"),
        ("exits_137.cjs", "the suite crashed (exit 137)"),
        ("dies_of_a_signal.cjs", "the suite crashed (SIGKILL)"),
    ],
)
def test_a_broken_suite_is_a_harness_error_of_the_suite(
    scene: Scene, suite: str, reason: str
) -> None:
    """The client did everything right: it is neither failed nor passed."""
    assert scene.run(suite, "adds_two_numbers.py") == ExitCode.HARNESS

    scenario = scene.scenario()
    assert scenario["outcome"] == "harness-error"
    assert scenario["attribution"] == "suite"
    assert reason in scenario["reason"]
    assert scene.report()["complete"]


def test_a_suite_that_prints_200_mb_is_judged_by_its_checks(scene: Scene) -> None:
    assert scene.run("prints_200_mb.cjs", "adds_two_numbers.py") == ExitCode.CONFORMANT

    launch = load_json(scene.run_dir() / CASE / evidence.LAUNCH)
    assert isinstance(launch, dict)
    ended = launch["ended"]
    assert isinstance(ended, dict)
    assert ended["stdout_bytes"] == 200_000_000
    assert sum(p.stat().st_size for p in scene.output.rglob("*")) < 4 * 1024 * 1024


def test_a_suite_that_hangs_is_ended_with_who_holds_its_pipes(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case, "CASE_EXTRA_S", 0.0)

    code = scene.run(
        "hangs_with_a_grandchild_on_the_pipes.cjs", "adds_two_numbers.py", timeout_s=3
    )

    assert scene.scenario()["outcome"] == "timed-out"
    # The client had done its part in time: this says nothing about the client.
    assert code == ExitCode.HARNESS


def test_a_suite_that_is_missing_is_bad_input(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scene.run("no_such.cjs", "adds_two_numbers.py") == ExitCode.BAD_INPUT

    (line,) = capsys.readouterr().err.splitlines()
    assert "no_such.cjs: No such file" in line
    assert not (scene.output / run.REPORT).exists()


@pytest.mark.parametrize("canary", ["null", "crash"])
def test_a_suite_that_credits_everyone_passes_nobody_who_is_silent(
    scene: Scene, canary: str
) -> None:
    words = scene.words("credits_everyone.cjs", "adds_two_numbers.py")
    at = words.index("--client-command")
    words[at : at + 2] = ["--client", canary]

    assert cli.main(words) == ExitCode.NOT_CONFORMANT

    outcome = "unobserved" if canary == "null" else "crashed"
    assert scene.scenario()["outcome"] == outcome


# Clients


@pytest.mark.parametrize(
    "client",
    ["writes_invalid_utf8.py", "writes_half_a_line.py", "floods_stderr.py"],
)
def test_a_client_may_write_what_it_likes(scene: Scene, client: str) -> None:
    assert scene.run("well_behaved.cjs", client) == ExitCode.CONFORMANT

    assert scene.scenario()["outcome"] == "passed"


def test_a_client_that_forks_away_is_found_and_named(scene: Scene) -> None:
    code = scene.run("well_behaved.cjs", "forks_away_with_setsid.py")

    assert code == ExitCode.CONFORMANT
    (leftover,) = scene.scenario()["leftovers"]
    assert leftover.startswith("python")


@pytest.mark.parametrize(
    ("client", "outcome", "reason"),
    [
        ("ignores_sigterm.py", "timed-out", "the client sent nothing more"),
        ("dies_of_a_signal.py 11", "crashed", "the client was killed by SIGSEGV"),
        ("dies_of_a_signal.py 36", "crashed", "the client was killed by SIG36"),
        ("exits_with_a_code.py 3", "failed", "the program exited with 3"),
    ],
)
def test_a_client_that_ends_badly_never_passes(
    scene: Scene,
    client: str,
    outcome: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its checks all say SUCCESS: the suite has lost its true end."""
    limit_s = 3.0 if outcome == "timed-out" else PATIENCE_S
    monkeypatch.setattr(case, "CASE_EXTRA_S", 2.0)
    asked = time.monotonic()

    code = scene.run("well_behaved.cjs", client, timeout_s=limit_s)

    assert time.monotonic() - asked < PATIENCE_S
    assert code == ExitCode.NOT_CONFORMANT
    scenario = scene.scenario()
    assert (scenario["outcome"], scenario["attribution"]) == (outcome, "subject")
    assert reason in scenario["reason"]


def test_exit_69_leaves_the_run_without_verdict(scene: Scene) -> None:
    code = scene.run("well_behaved.cjs", "exits_with_a_code.py 69")

    assert code == ExitCode.HARNESS
    assert scene.scenario()["outcome"] == "unsupported"


# Bad input: one line, exit 2, nothing written


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--client-command", "no-such-program"], "no-such-program: no such program"),
        (["--client-command", "'open"], "No closing quotation"),
        (["--client-command", "null", "--binary", "x"], "excludes"),
        (["--binary", "no-such-binary"], "no-such-binary: no such file"),
        (["--binary", str(CLIENTS / "hangs.py")], "may not be executed"),
        (
            [
                *("--client-version", "9.9.9"),
                *("--binary", str(FIXTURES / "codex" / "fake_codex.py")),
            ],
            "is 'codex-cli 0.171.0', not version 9.9.9",
        ),
        (["--client-command", "env", "--jobs", "0"], "--jobs 0"),
        (["--client-command", "env", "--timeout", "0"], "--timeout 0"),
        (["--client-command", "env", "--timeout", "nan"], "--timeout nan"),
        (["--client-command", "env", "--official-scenario", "no"], "no: no client"),
        (["--client-command", "env", "--report", "/"], "--report /: is"),
        (["--client-command", "env", "--report", "/dev/null"], "/dev/null: is"),
        (["--client-command", "env", "--report", "/proc/x/r.json"], "be written"),
        (["--client-command", "env", "--report", "./a-file/r.json"], "be written"),
        (["--client-command", "env", "--artifact-parent", "a-file"], "be written"),
    ],
)
def test_bad_input_is_one_line_and_starts_nothing(
    scene: Scene,
    options: list[str],
    problem: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (scene.cwd / "a-file").write_text("in the way", "utf-8")
    suite = SUITES / "well_behaved.cjs"

    code = cli.main(["run", "--conformance-cli", str(suite), *options])

    assert code == ExitCode.BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mcpconf: error: ")
    assert problem in line
    assert not list(scene.output.rglob("*"))
    assert (scene.cwd / "a-file").read_text("utf-8") == "in the way"


def test_bad_input_leaves_an_older_report_alone(scene: Scene) -> None:
    scene.run("well_behaved.cjs", "adds_two_numbers.py")
    before = (scene.output / run.REPORT).read_bytes()

    assert scene.run("no_such.cjs", "adds_two_numbers.py") == ExitCode.BAD_INPUT

    assert (scene.output / run.REPORT).read_bytes() == before


# Places


@pytest.mark.parametrize(
    "name",
    ['it\'s a "quoted" one', "$HOME `id` %PATH%;#&|*?", "-ünï-日本語"],
)
def test_a_run_works_in_a_place_of_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    scene = staged(tmp_path / name, monkeypatch)
    client = scene.cwd / "the client.py"
    shutil.copy(CLIENTS / "adds_two_numbers.py", client)
    shutil.copy(CLIENTS / "conversation.py", scene.cwd)
    suite = tmp_path / name / "the suite"
    shutil.copytree(SUITES, suite)

    code = cli.main(
        [
            *("run", "--revision", REVISION, "--official-scenario", SCENARIO),
            *("--conformance-cli", str(suite / "well_behaved.cjs")),
            *("--client-command", f"{sys.executable} 'the client.py'"),
            *("--artifact-parent", str(tmp_path / name / "artifacts")),
            *("--report", str(tmp_path / name / "re port.json")),
        ]
    )

    assert code == ExitCode.CONFORMANT
    assert load_report(tmp_path / name / "re port.json") == scene.report()
    assert not list((tmp_path / name / "artifacts").iterdir())
    scene.check_nothing_is_left()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if not Path("/bin/mount").exists():
        pytest.skip("there is no /bin/mount")
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["/bin/umount", place], check=True)


def fill(disk: Path, *, leave: int) -> None:
    """Leave just so many bytes on the disk."""
    with (disk / "filling").open("wb", buffering=0) as stream:
        with contextlib.suppress(OSError):
            while stream.write(bytes(4096)):
                pass
        stream.truncate(max(0, stream.tell() - leave))


def test_a_full_disk_under_the_cases_is_one_clear_fault(
    scene: Scene, small_disk: Path
) -> None:
    fill(small_disk, leave=0)

    code = scene.run(
        "well_behaved.cjs",
        "adds_two_numbers.py",
        *("--official-scenario", SCENARIO, "--artifact-parent", str(small_disk)),
    )

    assert code == ExitCode.HARNESS
    report = scene.report()
    assert report["verdict"] == "INCONCLUSIVE"
    (fault,) = report["closing"]["faults"]
    assert "No space left on device" in fault
    assert scene.scenario()["outcome"] == "not-run"
    assert [path.name for path in small_disk.iterdir()] == ["filling"]


@pytest.mark.parametrize("leave", [0, 2 * 4096, 4 * 4096, 6 * 4096])
def test_a_full_disk_under_the_run_leaves_nothing_half_written(
    scene: Scene,
    small_disk: Path,
    leave: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Wherever it fills up: before the first file, among the evidence, at the end."""
    fill(small_disk, leave=leave)

    with contextlib.chdir(small_disk):
        code = scene.run("well_behaved.cjs", "adds_two_numbers.py")

    assert code == ExitCode.HARNESS
    said = capsys.readouterr().err
    assert said.count("mcpconf: error: ") == 1
    assert "No space left on device" in said
    assert "Traceback" not in said
    output = small_disk / ".mcpconf"
    assert not list(output.rglob("*.tmp"))
    for path in output.rglob("*.json"):
        load_json(path)
    if (output / run.REPORT).exists():
        assert not load_report(output / run.REPORT)["success"]


def test_two_runs_at_once_do_not_disturb_each_other(scene: Scene) -> None:
    runs = [scene.start("well_behaved.cjs", "adds_two_numbers.py") for _ in range(2)]

    ends = [(each.communicate(timeout=PATIENCE_S), each.returncode) for each in runs]

    assert [code for _, code in ends] == [0, 0], ends
    stored = [
        load_report(each / run.REPORT) for each in (scene.output / run.RUNS).iterdir()
    ]
    assert [each["verdict"] for each in stored] == ["CONFORMANT", "CONFORMANT"]
    assert scene.report() in stored


# Ends in the middle


class Middle:
    """A run whose first scenario is done and whose second has fallen silent."""

    def __init__(self, scene: Scene, *options: str) -> None:
        pipe = scene.cwd.parent / "announcements"
        os.mkfifo(pipe)
        read_end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.process = scene.start(
            "well_behaved.cjs",
            f"hangs.py {pipe} {SCENARIO}",
            *("--official-scenario", "initialize", "--official-scenario", SCENARIO),
            *("--jobs", "1", *options),
        )
        ready, _, _ = select.select([read_end], [], [], PATIENCE_S)
        assert ready, self.process.communicate()
        os.close(read_end)
        self.tree = psutil.Process(self.process.pid).children(recursive=True)
        assert self.tree

    def end(self, number: int) -> tuple[int, str]:
        """Send the run a signal; its exit code and what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_says_that_it_is_incomplete(
    scene: Scene, number: int
) -> None:
    middle = Middle(scene)

    code, said = middle.end(number)

    assert code == ExitCode.HARNESS
    assert "Traceback" not in said
    assert not any(each.is_running() for each in middle.tree)
    report = scene.report()
    assert (report["complete"], report["success"]) == (False, False)
    assert report["verdict"] == "INCONCLUSIVE"
    (only,) = report["cases"]
    assert [each["outcome"] for each in only["scenarios"]] == ["passed", "not-run"]
    assert rejudge(scene.run_dir(), load_catalogue()).value == report


def test_a_run_that_is_killed_leaves_a_report_that_says_so(scene: Scene) -> None:
    """Nobody is there to tidy up: the tree goes by itself, the report stays partial."""
    middle = Middle(scene)

    middle.end(signal.SIGKILL)

    _, alive = psutil.wait_procs(middle.tree, timeout=PATIENCE_S)
    assert alive == []
    report = scene.report()
    assert (report["complete"], report["success"]) == (False, False)
    rejudged = rejudge(scene.run_dir(), load_catalogue())
    assert rejudged.exit_code == ExitCode.HARNESS
    (only,) = rejudged.value["cases"]
    assert [each["outcome"] for each in only["scenarios"]] == ["passed", "not-run"]
    # SIGKILL is the one end after which private directories stay; they are private.
    for left in scene.tmp.iterdir():
        assert left.stat().st_mode & 0o077 == 0
        shutil.rmtree(left)


def test_a_run_does_not_begin_beside_the_report_of_another(scene: Scene) -> None:
    """Killed in its first case, it must not leave yesterday's success as its own."""
    assert scene.run("well_behaved.cjs", "adds_two_numbers.py") == ExitCode.CONFORMANT
    shutil.rmtree(scene.output / run.RUNS)
    pipe = scene.cwd.parent / "announcements"
    os.mkfifo(pipe)
    read_end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    process = scene.start("well_behaved.cjs", f"hangs.py {pipe} all")
    ready, _, _ = select.select([read_end], [], [], PATIENCE_S)
    assert ready, process.communicate()
    os.close(read_end)

    report = scene.report()

    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert (report["complete"], report["success"]) == (False, False)
    assert report["run"]["id"] == scene.run_dir().name


# Rejudging


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One complete run."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        scene = staged(tmp_path_factory.mktemp("stored"), monkeypatch)
        assert scene.run("well_behaved.cjs", "adds_two_numbers.py") == 0
        return scene.run_dir()


def test_a_complete_run_is_rejudged_to_the_same_bytes(stored: Path) -> None:
    rejudged = rejudge(stored, load_catalogue())

    assert json_bytes(rejudged.value) == (stored / run.REPORT).read_bytes()


def changed(value: Any, place: Place, new: object) -> Any:
    """`value` with another value at `place`; removed where that is `...`."""
    *way, last = place
    inner = value
    for step in way:
        inner = inner[step]
    if new is ...:
        del inner[last]
    else:
        inner[last] = new
    return value


def reseal(run_dir: Path) -> None:
    """Forge the closing record: what is left then is what the files themselves say."""
    key = CaseKey(revision=Revision.V2025_11_25, scenario="tools_call")
    end: Any = load_json(run_dir / evidence.END)
    end["digests"] = evidence.digests_of(run_dir, [key])
    (run_dir / evidence.END).write_bytes(json_bytes(end))


@pytest.mark.parametrize(
    ("file", "place", "new", "where"),
    [
        (evidence.RUN, ("policy", "warnings"), "ignore", "policy.warnings"),
        (evidence.RUN, ("policy", "revision"), "any", "policy.revision"),
        (evidence.RUN, ("auth_mode",), "none", "auth_mode"),
        (evidence.RUN, ("selection", "revisions", 0), "2024-11-05", "revisions[0]"),
        (evidence.RUN, ("cases", 0, "revision"), "draft", "cases[0].revision"),
        (evidence.RUN, ("cases", 0, "scenario"), "../../x", "cases"),
        (evidence.RUN, ("catalogue_digest",), "sha256:0", "catalogue_digest"),
        (evidence.RUN, ("subject", "name"), 7, "subject.name"),
        (evidence.RUN, ("schema",), 1, "schema"),
        (evidence.END, ("complete",), "yes", "complete"),
        (evidence.END, ("faults",), None, "faults"),
        (f"{CASE}/{evidence.LAUNCH}", ("ended", "kind"), "won", "ended.kind"),
        (f"{CASE}/{evidence.LAUNCH}", ("ended", "exit_code"), None, "ended"),
        (f"{CASE}/{evidence.LAUNCH}", ("forged",), True, "unknown key forged"),
        (f"{CASE}/{evidence.ADAPTER}", ("verdict",), "perfect", "verdict"),
        (f"{CASE}/{evidence.ADAPTER}", ("end",), ..., "end"),
        (f"{CASE}/{evidence.CHECKS}", (0, "status"), "GREAT", "[0].status"),
        (f"{CASE}/{evidence.CHECKS}", (0, "id"), ..., "[0].id"),
    ],
)
def test_evidence_under_another_seal_is_refused_with_file_and_place(  # noqa: PLR0917 (a table)
    stored: Path, tmp_path: Path, file: str, place: Place, new: object, where: str
) -> None:
    copy = tmp_path / "run"
    shutil.copytree(stored, copy)
    value = changed(load_json(copy / file), place, new)
    (copy / file).write_bytes(json_bytes(value))
    if file != evidence.END:
        reseal(copy)

    with pytest.raises(DecodeError) as caught:
        rejudge(copy, load_catalogue())

    assert Path(file).name in str(caught.value)
    assert where in str(caught.value)


@pytest.mark.parametrize("damage", ["missing", "torn", "empty", "not UTF-8"])
@pytest.mark.parametrize(
    "file",
    [
        evidence.RUN,
        *(f"{CASE}/{name}" for name in (evidence.ADAPTER, evidence.CHECKS)),
        f"{CASE}/{evidence.WIRE}",
    ],
)
def test_damaged_evidence_is_refused_with_its_file(
    stored: Path, tmp_path: Path, file: str, damage: str
) -> None:
    copy = tmp_path / "run"
    shutil.copytree(stored, copy)
    content = (copy / file).read_bytes()
    if damage == "missing":
        (copy / file).unlink()
    elif damage == "torn":
        (copy / file).write_bytes(content[: len(content) // 3])
    elif damage == "empty":
        (copy / file).write_bytes(b"")
    else:
        (copy / file).write_bytes(b"\xff" + content)

    if file != evidence.RUN:
        with pytest.raises(DecodeError, match=Path(file).name):
            rejudge(copy, load_catalogue())  # the digest of the closing record
    reseal(copy)

    if file.endswith(evidence.WIRE) and damage in {"torn", "empty"}:
        # What a killed suite leaves: readable, and no evidence that all went well.
        assert rejudge(copy, load_catalogue()).exit_code != ExitCode.CONFORMANT
        return
    with pytest.raises(DecodeError, match=Path(file).name):
        rejudge(copy, load_catalogue())


@pytest.mark.parametrize("name", [evidence.END, f"{CASE}/{evidence.LAUNCH}"])
def test_a_run_without_a_closing_record_is_inconclusive(
    stored: Path, tmp_path: Path, name: str
) -> None:
    """Of the run or of a case: what may have been cut short proves nothing."""
    copy = tmp_path / "run"
    shutil.copytree(stored, copy)
    (copy / name).unlink()
    if name != evidence.END:
        reseal(copy)

    assert rejudge(copy, load_catalogue()).exit_code == ExitCode.HARNESS


# Secrets


def forms(secret: str) -> set[bytes]:
    """Everything an encoder would write for a secret, whatever stands beside it."""
    plain = secret.encode()
    quoted = json.dumps(secret)[1:-1]
    found = {
        plain,
        quoted.encode(),
        json.dumps(secret, ensure_ascii=False)[1:-1].encode(),
        json.dumps(quoted)[1:-1].encode(),
        quote(secret, safe="").encode(),
        quote(secret).encode(),
        quote_plus(secret).encode(),
    }
    for shift in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            # Without the characters at both ends that its neighbours share.
            found.add(encode(bytes(shift) + plain)[4:-4])
    return found


@pytest.mark.parametrize("options", [(), ("--keep-artifacts",)])
def test_no_secret_is_in_anything_that_is_kept(
    scene: Scene, options: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    code = scene.run(
        *("hands_out_secrets.cjs", "says_secrets.py"),
        *("--official-scenario", SCENARIO, "--matrix", *options),
    )

    assert code == ExitCode.CONFORMANT, scene.scenario()["reason"]
    kept = {
        str(path): path.read_bytes() for path in scene.cwd.rglob("*") if path.is_file()
    }
    kept["printed"] = "".join(capfd.readouterr()).encode()
    wire = (scene.run_dir() / CASE / evidence.WIRE).read_text("utf-8")
    assert "/token" in wire  # the secrets did pass
    assert "Bearer [REDACTED]" in wire
    leaks = [
        (name, form)
        for secret in (SECRET, TOKEN)
        for form in forms(secret)
        for name, content in kept.items()
        if form in content
    ]
    assert leaks == []
    if options:
        artifacts = scene.run_dir() / CASE / "artifacts"
        left_out = (artifacts / "LEFT-OUT.txt").read_text("utf-8")
        for name in ("job.json", ".credentials.json", "binary-0.bin", "binary-1.bin"):
            assert name in left_out
        assert "[REDACTED]" in (artifacts / "home" / "notes-0.txt").read_text("utf-8")


def test_a_secret_on_the_command_line_is_not_kept(scene: Scene) -> None:
    scene.run("well_behaved.cjs", f"adds_two_numbers.py --api-key={TOKEN}")

    assert scene.scenario()["outcome"] == "passed"
    for path in scene.output.rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path
