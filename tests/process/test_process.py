"""Hostile programs, for real: each ends in bounded time and leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from mcpconf import process
from mcpconf.decode import Reader, parse_json
from mcpconf.process import Ended, EndKind, Program, Running, SupervisorError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="the programs use Linux"),
]

PROGRAMS = Path(__file__).with_name("programs")
STATUS = "/proc/self/status"

#: Nothing here takes a tenth of it, even on a busy machine; it only bounds a defect.
PATIENCE_S = 30.0


@dataclass
class Tree:
    """One launched program, and the pipe on which its processes announce themselves."""

    place: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    _unread: bytes = b""

    def __post_init__(self) -> None:
        self.place.mkdir()
        self.read_end, self.write_end = os.pipe()

    def environment(self) -> dict[str, str]:
        return {"ANNOUNCE": str(self.write_end), "TREE": self.mark}

    def program(self, name: str, *arguments: str, **options: float) -> Program:
        settings = {"deadline_s": PATIENCE_S, "grace_s": 0.2} | options
        return Program(
            argv=(sys.executable, "-I", "-S", str(PROGRAMS / name), *arguments),
            cwd=self.place,
            environment=self.environment(),
            stdout=self.place / "stdout",
            stderr=self.place / "stderr",
            deadline_s=settings["deadline_s"],
            grace_s=settings["grace_s"],
            pass_fds=(self.write_end,),
        )

    def start(self, name: str, *arguments: str, **options: float) -> Running:
        running = process.start(self.program(name, *arguments, **options))
        self.let_go()
        return running

    def run(self, name: str, *arguments: str, **options: float) -> Ended:
        with self.start(name, *arguments, **options) as running:
            return running.wait()

    def let_go(self) -> None:
        """Leave the announcements to the program, so that they end with its tree."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def announced(self) -> tuple[str, int]:
        """The next announcement: what is said, and the pid that says it."""
        while b"\n" not in self._unread:
            chunk = self._read(PATIENCE_S)
            assert chunk, "every process of the tree is gone"
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        what, pid = line.decode().split()
        return what, int(pid)

    def rest(self, *, within_s: float = PATIENCE_S) -> list[str]:
        """All further announcements; ends when the last process has died."""
        while chunk := self._read(within_s):
            self._unread += chunk
        return self._unread.decode().split("\n")[:-1]

    def _read(self, within_s: float) -> bytes:
        ready, _, _ = select.select([self.read_end], [], [], within_s)
        assert ready, f"no announcement and no end of the tree within {within_s} s"
        return os.read(self.read_end, 65536)

    def survivors(self) -> list[psutil.Process]:
        """Processes that carry this tree's mark in their environment."""
        found = []
        for each in psutil.process_iter():
            try:
                if each.environ().get("TREE") == self.mark:
                    found.append(each)
            except psutil.Error:
                continue
        return found

    def output(self, name: str = "stdout") -> bytes:
        return (self.place / name).read_bytes()


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Callable[[], Tree]]:
    """Makes trees, and proves at the end of each test that nothing of them is alive."""
    trees: list[Tree] = []

    def make() -> Tree:
        trees.append(Tree(tmp_path / f"tree{len(trees)}"))
        return trees[-1]

    yield make
    for tree in trees:
        tree.let_go()
        try:
            # No patience: whoever waited for the end was promised that all are gone.
            tree.rest(within_s=0.0)
            assert tree.survivors() == []
        finally:
            for survivor in tree.survivors():
                survivor.kill()
            os.close(tree.read_end)


@pytest.fixture
def tree(plant: Callable[[], Tree]) -> Tree:
    return plant()


@pytest.mark.parametrize("code", [0, 3, 137])
def test_an_exit_is_reported_with_its_code(tree: Tree, code: int) -> None:
    """137 is what a shell says of SIGKILL; from a program it is just a number."""
    ended = tree.run("exits_with_a_code.py", str(code))

    assert (ended.kind, ended.exit_code, ended.signal) == (EndKind.EXITED, code, None)
    assert (ended.leftovers, ended.error) == ((), None)
    assert 0.0 < ended.duration_s < PATIENCE_S
    assert ended.cpu_s is not None
    assert ended.supervisor_cpu_s is not None
    assert ended.cpu_s > 0.0
    assert ended.supervisor_cpu_s > 0.0


def test_a_segfault_is_a_signal_and_not_an_exit(tree: Tree) -> None:
    ended = tree.run("dies_of_a_segfault.py")

    assert ended.kind is EndKind.SIGNALLED
    assert (ended.exit_code, ended.signal) == (None, "SIGSEGV")


def test_a_hang_is_ended_at_the_deadline(tree: Tree) -> None:
    ended = tree.run("hangs.py", deadline_s=0.5, grace_s=PATIENCE_S)

    assert (ended.kind, ended.signal) == (EndKind.TIMED_OUT, "SIGTERM")
    assert 0.5 <= ended.duration_s < 0.5 * PATIENCE_S
    assert ended.leftovers == ()


def test_a_hang_is_ended_at_the_deadline_though_nobody_waits(tree: Tree) -> None:
    running = tree.start("hangs.py", deadline_s=0.5)

    tree.rest()  # until the tree is gone

    assert running.wait().kind is EndKind.TIMED_OUT


def test_a_program_deaf_to_sigterm_is_killed_after_the_grace(tree: Tree) -> None:
    with tree.start("ignores_sigterm.py", grace_s=0.3) as running:
        tree.announced()
        asked = time.monotonic()
        running.stop()
        ended = running.wait()

    assert (ended.kind, ended.signal) == (EndKind.STOPPED, "SIGKILL")
    assert 0.3 <= time.monotonic() - asked < 0.5 * PATIENCE_S
    assert ended.leftovers == ()  # the program itself is none


def test_stop_ends_a_program_long_before_its_deadline(tree: Tree) -> None:
    with tree.start("hangs.py", grace_s=PATIENCE_S) as running:
        tree.announced()
        stopper = threading.Thread(target=running.stop)
        stopper.start()
        ended = running.wait()
        stopper.join()

    assert (ended.kind, ended.signal) == (EndKind.STOPPED, "SIGTERM")
    assert ended.duration_s < 0.5 * PATIENCE_S
    assert running.wait() == ended  # asked again, it says the same


def test_stop_after_the_end_changes_nothing(tree: Tree) -> None:
    with tree.start("exits_with_a_code.py", "3") as running:
        ended = running.wait()
        running.stop()

        assert running.wait() == ended
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 3)


def test_leaving_the_block_stops_the_program(tree: Tree) -> None:
    def interrupted() -> None:
        with tree.start("hangs.py"):
            tree.announced()
            raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - started < 0.5 * PATIENCE_S
    assert tree.survivors() == []


def test_a_stop_reaches_each_descendant_once(tree: Tree) -> None:
    """Many programs take a second SIGTERM for an order to drop everything."""
    with tree.start("says_goodbye.py", grace_s=PATIENCE_S) as running:
        pids = {tree.announced()[1], tree.announced()[1]}
        running.stop()
        ended = running.wait()

    assert sorted(tree.rest()) == sorted(f"goodbye {pid}" for pid in pids)
    assert (ended.kind, ended.exit_code) == (EndKind.STOPPED, 0)
    assert ended.leftovers == ()


def test_a_daemon_is_named_and_killed_after_the_exit(tree: Tree) -> None:
    ended = tree.run("leaves_a_daemon.py")

    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    _, daemon = tree.announced()
    assert [leftover.pid for leftover in ended.leftovers] == [daemon]
    assert ended.leftovers[0].name.startswith("python")
    assert ended.leftovers[0].description.endswith(" leaves_a_daemon.py")


def test_a_daemon_is_named_and_killed_after_the_deadline(tree: Tree) -> None:
    with tree.start("leaves_a_daemon.py", "hang", deadline_s=2.0) as running:
        (_, daemon), _ = tree.announced(), tree.announced()
        ended = running.wait()

    assert ended.kind is EndKind.TIMED_OUT
    assert [leftover.pid for leftover in ended.leftovers] == [daemon]


def test_a_description_never_holds_an_argument(tree: Tree) -> None:
    with tree.start("leaves_a_daemon.py", "hang", "--key=canary", "canary") as running:
        tree.announced()
        tree.announced()
        running.stop()
        ended = running.wait()

    assert len(ended.leftovers) == 1
    assert "canary" not in str(ended.to_json())


def test_a_child_that_notices_the_exit_is_no_leftover(tree: Tree) -> None:
    ended = tree.run("exits_before_its_child.py")

    assert ended.leftovers == ()
    assert tree.output() == b"the child was last\n"


def test_a_child_that_holds_the_pipes_does_not_delay_the_end(tree: Tree) -> None:
    ended = tree.run("hands_its_pipes_to_a_child.py")

    assert ended.kind is EndKind.EXITED
    assert ended.duration_s < 0.5 * PATIENCE_S
    assert tree.output() == b"the last word\n"
    assert [leftover.pid for leftover in ended.leftovers] == [tree.announced()[1]]


def test_twenty_generations_are_all_found(tree: Tree) -> None:
    with tree.start("nests_twenty_children.py") as running:
        pids = [tree.announced()[1] for _ in range(20)]
        running.stop()
        ended = running.wait()

    assert {leftover.pid for leftover in ended.leftovers} == set(pids[1:])


def test_a_process_that_hops_from_child_to_child_is_caught(tree: Tree) -> None:
    ended = tree.run("hops_from_child_to_child.py")

    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    assert ended.error is None
    assert len(ended.leftovers) == 1  # whichever generation was seen


@pytest.mark.parametrize(("flooded", "other"), [(1, "stderr"), (2, "stdout")])
def test_a_flood_is_counted_and_cut(tree: Tree, flooded: int, other: str) -> None:
    """200 MB fill neither the disk nor a pipe: the program gets to its last line."""
    ended = tree.run("floods_an_output.py", str(flooded))

    name, written = [("stdout", ended.stdout_bytes), ("stderr", ended.stderr_bytes)][
        flooded - 1
    ]
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    assert written == 200_000_000
    assert len(tree.output(name)) == 1024 * 1024
    assert tree.output(other) == b"done\n"


def test_outputs_are_kept_byte_for_byte(tree: Tree) -> None:
    ended = tree.run("writes_half_a_line.py")

    assert tree.output() == b"\xe9t\xe9 \xff\xfe half a line"
    assert tree.output("stderr") == b"\x80"
    assert (ended.stdout_bytes, ended.stderr_bytes) == (18, 1)


def test_what_the_program_wrote_last_is_kept_after_its_end(tree: Tree) -> None:
    """However slow we are: here the supervisor is frozen until the program has died."""
    with tree.start("freezes_its_parent.py") as running:
        (_, supervisor), (_, pid) = tree.announced(), tree.announced()
        program = os.pidfd_open(pid)
        ready, _, _ = select.select([program], [], [], PATIENCE_S)
        os.close(program)
        os.kill(supervisor, signal.SIGCONT)
        ended = running.wait()

    assert ready, "the program did not exit"
    assert ended.stdout_bytes == 1024 * 1024
    assert len(tree.output()) == 1024 * 1024


def test_a_program_without_outputs_costs_nothing_to_watch(tree: Tree) -> None:
    """A closed pipe is always ready to be read; polling it would burn a core."""
    ended = tree.run("closes_its_outputs.py", deadline_s=2.0)

    assert ended.kind is EndKind.TIMED_OUT
    assert ended.supervisor_cpu_s is not None
    assert ended.supervisor_cpu_s < 0.5


def test_a_program_gets_what_it_was_given_and_nothing_else(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "canary")
    with (tree.place / "foreign").open("wb") as foreign:
        os.set_inheritable(foreign.fileno(), True)  # noqa: FBT003 - takes no keywords
        announce = tree.write_end
        tree.run("tells_what_it_was_given.py", "a canary", "\udcff", "")

    given = Reader(parse_json(tree.output(), "given"), "given")
    assert given.key("arguments").strings() == ("a canary", "\udcff", "")
    assert given.key("cwd").string() == str(tree.place)
    environment = {k: v.string() for k, v in given.key("environment").members()}
    environment.pop("LC_CTYPE", None)  # Python's own, where the locale is C
    assert environment == {"ANNOUNCE": str(announce), "TREE": tree.mark}
    descriptors = [each.integer() for each in given.key("descriptors").items()]
    assert descriptors == [0, 1, 2, announce]
    assert given.key("stdin").string() == ""
    assert given.key("leads_session").boolean()
    assert list(given.key("blocked").items()) == []
    assert "canary" not in given.key("parent_environment").string()
    assert "canary" not in given.key("parent_command").string()


def test_a_program_ignores_and_blocks_no_signal_of_ours(tree: Tree) -> None:
    """Python ignores SIGPIPE; a program that inherits that does not notice a close."""
    program = replace(
        tree.program("hangs.py"), argv=("/bin/grep", "-E", "Sig(Ign|Blk)", STATUS)
    )
    ignored = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        ended = process.run(program)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGQUIT, ignored)

    assert ended.exit_code == 0
    assert tree.output() == b"SigBlk:\t%016x\nSigIgn:\t%016x\n" % (0, 0)


def test_a_descriptor_ends_when_the_program_lets_go_of_it(tree: Tree) -> None:
    """The supervisor keeps no copy: a reader sees the end while the program lives."""
    with tree.start("lets_go_of_its_descriptor.py") as running:
        assert tree.rest() == []
        assert len(tree.survivors()) == 1
        running.stop()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        pytest.param("missing-program", "No such file or directory", id="missing"),
        pytest.param("./no/such/place", "No such file or directory", id="missing path"),
        pytest.param("./plain", "Permission denied", id="not executable"),
        pytest.param("./empty", "Exec format error", id="no program"),
        pytest.param("nul\0l", "embedded null", id="null"),
    ],
)
def test_a_program_that_cannot_start_is_told_as_the_system_tells_it(
    tree: Tree, argv: str, said: str
) -> None:
    (tree.place / "plain").write_text("text")
    (tree.place / "empty").touch(mode=0o755)
    program = Program(
        argv=(argv,),
        cwd=tree.place,
        environment={"PATH": os.defpath},
        stdout=tree.place / "stdout",
        stderr=tree.place / "stderr",
        deadline_s=PATIENCE_S,
    )

    ended = process.run(program)

    assert ended.kind is EndKind.FAILED_TO_START
    assert (ended.exit_code, ended.signal) == (None, None)
    assert said in (ended.error or "")


def test_a_missing_working_directory_is_told_as_such(tree: Tree) -> None:
    program = Program(
        argv=(sys.executable,),
        cwd=tree.place / "gone",
        environment={},
        stdout=tree.place / "stdout",
        stderr=tree.place / "stderr",
        deadline_s=PATIENCE_S,
    )

    ended = process.run(program)

    assert ended.kind is EndKind.FAILED_TO_START
    assert "No such file or directory: working directory" in (ended.error or "")


def test_two_at_once_are_charged_with_their_own_leftovers(
    plant: Callable[[], Tree],
) -> None:
    trees = [plant(), plant()]
    with ThreadPoolExecutor() as threads:
        ends = list(threads.map(lambda tree: tree.run("leaves_a_daemon.py"), trees))

    for tree, ended in zip(trees, ends, strict=True):
        assert [leftover.pid for leftover in ended.leftovers] == [tree.announced()[1]]


def test_many_threads_may_run_programs_at_once(plant: Callable[[], Tree]) -> None:
    trees = [plant() for _ in range(8)]
    with ThreadPoolExecutor(len(trees)) as threads:
        codes = list(
            threads.map(
                lambda number: (
                    trees[number].run("exits_with_a_code.py", str(number)).exit_code
                ),
                range(len(trees)),
            )
        )

    assert codes == list(range(len(trees)))


def test_a_killed_runner_leaves_nothing_behind(tree: Tree) -> None:
    """SIGKILL gives the runner no chance; the supervisor sees its lifeline end."""
    here = Path(process.__file__).parents[1]
    runner_script, victim = (
        str(PROGRAMS / name)
        for name in ("runs_a_program_for_ever.py", "leaves_a_daemon.py")
    )
    with subprocess.Popen(
        [sys.executable, runner_script, sys.executable, "-I", "-S", victim, "hang"],
        cwd=tree.place,
        env=tree.environment() | {"PYTHONPATH": str(here)},
        pass_fds=(tree.write_end,),
    ) as runner:
        tree.let_go()
        assert {tree.announced()[0], tree.announced()[0]} == {"daemon", "hanging"}
        supervisors = psutil.Process(runner.pid).children()
        runner.send_signal(signal.SIGKILL)

    assert tree.rest() == []  # returns when the last of them has died
    assert len(supervisors) == 1
    assert psutil.wait_procs(supervisors, timeout=PATIENCE_S)[1] == []


def test_a_killed_supervisor_is_an_error_and_takes_the_program_along(
    tree: Tree,
) -> None:
    with (
        tree.start("kills_its_parent.py") as running,
        pytest.raises(SupervisorError, match="ended with -9 and no answer"),
    ):
        running.wait()

    with pytest.raises(SupervisorError):
        running.wait()
    tree.rest()


def test_a_supervisor_asked_to_end_tidies_up_first(tree: Tree) -> None:
    ended = tree.run("stops_its_parent.py")

    assert (ended.kind, ended.signal) == (EndKind.STOPPED, "SIGTERM")


def test_a_process_that_withstands_is_named_in_bounded_time(tree: Tree) -> None:
    """A program of someone else's cannot be killed; the supervisor says so."""
    here = Path(process.__file__).parents[1]
    script, victim = (
        str(PROGRAMS / name) for name in ("fails_to_kill_anyone.py", "hangs.py")
    )
    told = subprocess.run(
        [sys.executable, script, sys.executable, "-I", "-S", victim],
        cwd=tree.place,
        env=tree.environment() | {"PYTHONPATH": str(here)},
        pass_fds=(tree.write_end,),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        check=True,
        timeout=PATIENCE_S,
    ).stdout
    tree.let_go()

    _, pid = tree.announced()
    answer = Reader(parse_json(told, "answer"), "answer")
    assert answer.key("error").string().startswith("still alive 0.2 s after SIGKILL: ")
    assert str(pid) in answer.key("error").string()
    tree.rest()


def test_an_output_that_cannot_be_written_is_an_error(tree: Tree) -> None:
    (tree.place / "stdout").mkdir()

    with pytest.raises(SupervisorError, match="IsADirectoryError"):
        tree.run("exits_with_a_code.py", "0")


def test_without_a_subreaper_a_daemon_is_found_by_its_mark(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What other systems than Linux get, tried on Linux."""
    monkeypatch.setattr(process, "HAS_SUBREAPER", False)

    ended = tree.run("leaves_a_daemon.py")

    _, daemon = tree.announced()
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    assert [leftover.pid for leftover in ended.leftovers] == [daemon]
    assert ended.error is None


def test_without_a_subreaper_a_stop_kills_group_and_daemon(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "HAS_SUBREAPER", False)

    with tree.start("leaves_a_daemon.py", "hang") as running:
        (_, daemon), _ = tree.announced(), tree.announced()
        running.stop()
        ended = running.wait()

    assert (ended.kind, ended.signal) == (EndKind.STOPPED, "SIGTERM")
    assert [leftover.pid for leftover in ended.leftovers] == [daemon]


def test_an_end_is_read_back_as_it_was_written(tree: Tree) -> None:
    ended = tree.run("leaves_a_daemon.py")

    assert Ended.from_json(Reader(ended.to_json(), "launch.json")) == ended
