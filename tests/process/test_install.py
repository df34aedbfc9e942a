"""What is pinned is obtained whole, once, or the reader is told why not."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psutil
import pytest

from mcpconf.client import install as client_install
from mcpconf.client.install import (
    ClientSource,
    NpmClient,
    find_codex,
    install_npm_client,
    install_pypi_client,
)
from mcpconf.errors import ProvisionError, UsageError
from mcpconf.npm import install_declared, install_locked, read_locked
from mcpconf.stamp import load_stamp, stamp_of, write_stamp
from mcpconf.storage import sha256_of
from mcpconf.suite import install as suite_install
from mcpconf.suite.install import (
    LOCK_DIR,
    PACKAGE,
    REVIEWED_ANCESTOR,
    Suite,
    SuiteSource,
    install_suite,
)
from mcpconf.suite.node import Node, find_node, find_npm

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process

PROGRAMS = Path(__file__).parent / "programs"
CODEX_DIR = LOCK_DIR.parent / "clients" / "codex"
NODE = Node(path=PROGRAMS / "no-node", version="24.1.0")
#: Longer than any step needs; reached only when a test fails.
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "cache"
    monkeypatch.setenv("MCPCONF_CACHE_DIR", str(directory))
    return directory


def remains(directory: Path) -> list[str]:
    """Everything in the cache but its locks."""
    return sorted(
        str(path.relative_to(directory))
        for path in directory.glob("*/*")
        if path.suffix != ".lock"
    )


def lives(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


# --- the cache, between processes --------------------------------------------------


class Lines:
    """The lines of a stream, each waited for with a bound."""

    def __init__(self, stream: IO[str]) -> None:
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, args=(stream,))
        self._thread.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._queue.put(line)
        stream.close()

    def wait_for(self, beginning: str) -> str:
        while True:
            line = self._queue.get(timeout=PATIENCE_S)
            if line.startswith(beginning):
                return line.strip()

    def join(self) -> None:
        self._thread.join(PATIENCE_S)


@dataclass(frozen=True)
class Builder:
    process: subprocess.Popen[str]
    stdout: Lines
    stderr: Lines

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextlib.contextmanager
def builder() -> Iterator[Builder]:
    with subprocess.Popen(
        [sys.executable, PROGRAMS / "build_entry.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        result = Builder(process, Lines(process.stdout), Lines(process.stderr))
        try:
            yield result
        finally:
            process.kill()
            result.stdout.join()
            result.stderr.join()


def test_two_processes_at_once_build_once(own_cache: Path) -> None:
    with builder() as first, builder_when(first) as second:
        second.stderr.wait_for("waiting for the process that holds")
        first.go_on()
        entry = first.stdout.wait_for(str(own_cache))
        # The second says where the entry is, and never that it was building.
        assert second.stdout.wait_for("") == entry
        assert first.process.wait(PATIENCE_S) == second.process.wait(PATIENCE_S) == 0
    assert (Path(entry) / "second").read_bytes() == b"second"
    assert len(remains(own_cache)) == 1


@contextlib.contextmanager
def builder_when(first: Builder) -> Iterator[Builder]:
    """A second builder, started when the first is in the middle of its build."""
    first.stdout.wait_for("building")
    with builder() as second:
        yield second


def test_builder_killed_half_way_leaves_nothing_that_is_taken(own_cache: Path) -> None:
    with builder() as killed:
        killed.stdout.wait_for("building")
        killed.process.kill()
        killed.process.wait(PATIENCE_S)
    (leftover,) = remains(own_cache)
    assert leftover.endswith(".tmp")
    with builder() as next_one:
        next_one.stdout.wait_for("building")
        next_one.go_on()
        entry = Path(next_one.stdout.wait_for(str(own_cache)))
    assert {path.name for path in entry.iterdir()} >= {"first", "second"}
    assert remains(own_cache) == [str(entry.relative_to(own_cache))]


def test_waiter_takes_over_from_a_builder_that_was_killed(own_cache: Path) -> None:
    with builder() as killed, builder_when(killed) as waiter:
        waiter.stderr.wait_for("waiting for the process that holds")
        killed.process.kill()
        waiter.stdout.wait_for("building")
        waiter.go_on()
        waiter.stdout.wait_for(str(own_cache))
    assert len(remains(own_cache)) == 1


# --- the suite ---------------------------------------------------------------------


@dataclass(frozen=True)
class FakeNpm:
    note: Path

    def __call__(self, behaviour: str = "works") -> tuple[str, ...]:
        script = PROGRAMS / "fake_npm.py"
        return (sys.executable, str(script), str(self.note), behaviour)

    @property
    def calls(self) -> list[dict[str, Any]]:
        if not self.note.exists():
            return []
        return [json.loads(line) for line in self.note.read_text().splitlines()]


@pytest.fixture
def fake_npm(tmp_path: Path) -> FakeNpm:
    return FakeNpm(tmp_path / "calls")


def fake_suite(npm: tuple[str, ...], *, deadline_s: float = PATIENCE_S) -> Suite:
    return install_suite(node=NODE, npm=npm, deadline_s=deadline_s)


def test_suite_is_installed_from_the_lock_and_its_origin_recorded(
    fake_npm: FakeNpm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://registry.example/")
    suite = fake_suite(fake_npm())
    pin = read_locked(LOCK_DIR, PACKAGE)
    assert suite.entry.read_text() == "the entry"
    assert suite.argv_prefix == (str(NODE.path), str(suite.entry))
    assert suite.provenance.to_json() == {
        "source": SuiteSource.PINNED.value,
        "package": PACKAGE,
        "version": pin.version,
        "integrity": pin.integrity,
        "entry_sha256": sha256_of(suite.entry),
        "node_version": NODE.version,
        "repository": "owner/name",
        "reviewed_ancestor": REVIEWED_ANCESTOR,
    }
    (call,) = fake_npm.calls
    assert call["command"] == "ci"
    assert {"--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"} <= set(
        call["options"]
    )
    # npm runs with the user's own settings, unlike every scenario.
    assert call["home"] == os.environ.get("HOME")
    assert call["registry"] == "https://registry.example/"


def test_whole_suite_is_used_again_without_npm(
    fake_npm: FakeNpm, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fake_suite(fake_npm())
    monkeypatch.setattr(suite_install, "find_npm", pytest.fail)
    assert install_suite(node=NODE) == first
    assert fake_suite(fake_npm("fails")) == first
    assert len(fake_npm.calls) == 1


def test_damaged_suite_is_mended(
    fake_npm: FakeNpm, caplog: pytest.LogCaptureFixture
) -> None:
    entry = fake_suite(fake_npm()).entry
    entry.write_text("the entr")
    assert fake_suite(fake_npm()).entry.read_text() == "the entry"
    assert "index.js has another size; obtaining it again" in caplog.text
    assert len(fake_npm.calls) == 2


def test_damaged_suite_that_cannot_be_mended_is_not_used(fake_npm: FakeNpm) -> None:
    fake_suite(fake_npm()).entry.write_text("the entr")
    for _ in range(2):
        with pytest.raises(ProvisionError):
            fake_suite(fake_npm("fails"))


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        pytest.param("fails", "npm error code E401", id="fails"),
        pytest.param("dies-half-way", "was ended by SIGKILL", id="dies"),
        pytest.param("installs-another-version", "0.2.0-alpha.12 is not", id="other"),
    ],
)
def test_suite_that_was_not_obtained_leaves_nothing(
    behaviour: str, said: str, fake_npm: FakeNpm, own_cache: Path
) -> None:
    with pytest.raises(ProvisionError) as caught:
        fake_suite(fake_npm(behaviour))
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert remains(own_cache) == []
    assert fake_suite(fake_npm()).entry.is_file()


def test_npm_that_hangs_is_ended_with_its_children(
    fake_npm: FakeNpm, own_cache: Path
) -> None:
    with pytest.raises(ProvisionError, match=r"npm ci: .* was not done after 2 s"):
        fake_suite(fake_npm("hangs"), deadline_s=2)
    (call,) = fake_npm.calls
    assert len(call["pids"]) == 2
    assert not [pid for pid in call["pids"] if lives(pid)]
    assert remains(own_cache) == []


def test_npm_ends_with_an_installer_that_is_killed(
    fake_npm: FakeNpm, own_cache: Path
) -> None:
    code = (
        "import sys; from pathlib import Path; from mcpconf.suite.node import Node;"
        "from mcpconf.suite.install import install_suite;"
        "install_suite(node=Node(path=Path('x'), version='24.0.0'), npm=sys.argv[1:])"
    )
    installer = subprocess.Popen(
        [sys.executable, "-c", code, *fake_npm("hangs")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with installer:
        deadline = time.monotonic() + PATIENCE_S
        while not fake_npm.calls:  # the file is the event
            assert time.monotonic() < deadline
            time.sleep(0.01)
        installer.kill()
    for pid in fake_npm.calls[0]["pids"]:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).wait(PATIENCE_S)
    assert fake_suite(fake_npm()).entry.is_file()
    assert len(remains(own_cache)) == 1


def test_npm_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match="no-npm cannot be started"):
        fake_suite((str(tmp_path / "no-npm"),))


# --- npm clients -------------------------------------------------------------------


def fake_codex(npm: tuple[str, ...], version: str | None = None) -> NpmClient:
    return install_npm_client(
        "@openai/codex", CODEX_DIR, find_codex, version=version, npm=npm
    )


def test_codex_is_installed_from_the_lock_and_used_again(
    fake_npm: FakeNpm, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = fake_codex(fake_npm())
    pin = read_locked(CODEX_DIR, "@openai/codex")
    assert client.program.read_bytes() == b"the native program"
    assert client.program.is_relative_to(client.node_modules)
    assert client.to_json() == {
        "package": "@openai/codex",
        "version": pin.version,
        "integrity": pin.integrity,
        "source": "pinned",
        "program_sha256": sha256_of(client.program),
    }
    monkeypatch.setattr(client_install, "find_npm", pytest.fail)
    assert install_npm_client("@openai/codex", CODEX_DIR, find_codex) == client
    assert fake_codex(fake_npm("fails"), pin.version) == client
    assert len(fake_npm.calls) == 1


def test_codex_at_another_version_says_that_the_registry_vouches(
    fake_npm: FakeNpm,
) -> None:
    client = fake_codex(fake_npm(), "0.1.2-alpha.3")
    assert client.source is ClientSource.REGISTRY
    assert client.version == "0.1.2-alpha.3"
    assert client.integrity == "sha512-from-the-registry"
    assert fake_codex(fake_npm("fails"), "0.1.2-alpha.3") == client
    assert client.node_modules != fake_codex(fake_npm()).node_modules
    assert [call["command"] for call in fake_npm.calls] == ["install", "ci"]
    assert all("--ignore-scripts" in call["options"] for call in fake_npm.calls)


def test_codex_at_another_version_than_asked_is_refused(fake_npm: FakeNpm) -> None:
    with pytest.raises(ProvisionError, match=r"0\.1\.2 is not in its lockfile"):
        fake_codex(fake_npm("installs-another-version"), "0.1.2")


@pytest.mark.parametrize(
    "version", ["latest", "^1.2.3", "1.2", "1.2.x", "", "file:../x", "1.2.3 || 2.0.0"]
)
def test_version_that_is_not_exact_is_refused(version: str, fake_npm: FakeNpm) -> None:
    with pytest.raises(UsageError, match="not an exact version"):
        fake_codex(fake_npm(), version)
    assert fake_npm.calls == []


def test_codex_without_a_native_binary_is_refused(
    fake_npm: FakeNpm, own_cache: Path
) -> None:
    """Where an optional package cannot be fetched, npm is content."""
    with pytest.raises(ProvisionError, match="0 native binaries here"):
        fake_codex(fake_npm("has-no-native-binary"))
    assert remains(own_cache) == []


@pytest.mark.skipif(os.name != "posix", reason="needs an executable bit")
def test_codex_that_may_not_be_executed_is_built_again(fake_npm: FakeNpm) -> None:
    fake_codex(fake_npm()).program.chmod(0o644)
    assert os.access(fake_codex(fake_npm()).program, os.X_OK)
    assert len(fake_npm.calls) == 2


# --- PyPI clients ------------------------------------------------------------------


def tiny_wheel(directory: Path) -> str:
    """Make a wheel of the distribution `tiny`; give its hash as pip writes it."""
    info = "tiny-1.0.dist-info"
    members = {
        "tiny.py": "ANSWER = 42\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
            "Tag: py3-none-any\n"
        ),
    }
    rows = [f"{info}/RECORD,,"]
    for name, text in members.items():
        digest = hashlib.sha256(text.encode()).digest()
        encoded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        rows.append(f"{name},sha256={encoded},{len(text)}")
    path = directory / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "\n".join(rows) + "\n")
    return f"sha256:{sha256_of(path)}"


def requirements(directory: Path, *lines: str) -> Path:
    path = directory / "requirements.txt"
    path.write_text("\n".join(("--no-index", f"--find-links {directory}", *lines)))
    return path


def test_pypi_client_is_installed_by_hash_and_used_again(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PIP_NO_COMPILE", "0")  # pip means: do not
    listed = requirements(tmp_path, f"tiny==1.0 --hash={tiny_wheel(tmp_path)}")
    python = install_pypi_client(listed)
    assert list(own_cache.rglob("__pycache__/tiny.*.pyc"))
    answer = subprocess.run(
        [python, "-I", "-c", "import tiny; print(tiny.__file__, tiny.ANSWER)"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    assert answer.startswith(str(own_cache))
    assert answer.endswith(" 42\n")
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "tiny-1.0-py3-none-any.whl").unlink()  # it is not needed again
    assert install_pypi_client(listed) == python

    # The Python it was made from is removed: the link is as stamped, and leads nowhere.
    python.unlink()
    python.symlink_to(tmp_path / "removed")
    entry = python.parents[2]
    write_stamp(entry, stamp_of(entry, load_stamp(entry).key))
    with pytest.raises(ProvisionError, match=r"pip install: .*exit code 1"):
        install_pypi_client(listed)
    assert len(remains(own_cache)) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param(f"tiny==1.0 --hash=sha256:{'0' * 64}", "DO NOT MATCH", id="wrong"),
        pytest.param("tiny==1.0", "missing", id="none"),
    ],
)
def test_pypi_client_without_its_hash_is_refused(
    line: str, said: str, tmp_path: Path, own_cache: Path
) -> None:
    tiny_wheel(tmp_path)
    with pytest.raises(ProvisionError) as caught:
        install_pypi_client(requirements(tmp_path, line))
    assert said in str(caught.value)
    assert remains(own_cache) == []


# --- the real npm ------------------------------------------------------------------


@pytest.mark.suite
def test_pinned_suite_is_installed_by_the_real_npm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suite = install_suite()
    assert suite.provenance.repository == "modelcontextprotocol/conformance"
    listed = subprocess.run(
        [*suite.argv_prefix, "list", "--spec-version", "2025-06-18"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    assert "tools_call" in listed
    monkeypatch.setattr(suite_install, "find_npm", pytest.fail)
    assert install_suite(node=find_node()) == suite


def test_real_npm_refuses_what_the_lock_does_not_vouch_for(tmp_path: Path) -> None:
    """First the good case, so that the refusal is about the integrity."""
    asked = tmp_path / "asked"
    asked.mkdir()
    manifest = {"private": True, "dependencies": {"wrappy": "1.0.2"}}
    (asked / "package.json").write_text(json.dumps(manifest))
    npm = find_npm()
    install_declared(npm, asked, deadline_s=PATIENCE_S)
    locked = read_locked(asked, "wrappy")
    assert locked.version == "1.0.2"

    good = tmp_path / "good"
    good.mkdir()
    install_locked(npm, asked, good, deadline_s=PATIENCE_S)
    assert (good / "node_modules" / "wrappy" / "wrappy.js").is_file()

    lock = asked / "package-lock.json"
    other = "sha512-" + base64.b64encode(bytes(64)).decode()
    lock.write_text(lock.read_text().replace(locked.integrity, other))
    bad = tmp_path / "bad"
    bad.mkdir()
    with pytest.raises(ProvisionError, match="EINTEGRITY"):
        install_locked(npm, asked, bad, deadline_s=PATIENCE_S)
    assert not (bad / "node_modules" / "wrappy" / "wrappy.js").exists()
