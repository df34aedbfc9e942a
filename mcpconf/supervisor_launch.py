"""
One launched program: its tree, its outputs, and the ladder that ends it.

The ladder: the deadline, or the wish of the caller, brings SIGTERM to every process;
`grace_s` later SIGKILL; then whatever ended is reaped until nothing is left. Outputs
are read all the while and never hold up the end.

Part of the supervisor: standard library only, and no import that is not needed.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

from mcpconf.supervisor_tree import descendants, own_children, own_living_children

TYPE_CHECKING = False  # importing typing would cost each scenario 4 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

#: How long what a program started may outlive it without being called a leftover.
#: Waiting ends with the last process; only a tree that really lingers costs this much.
SETTLE_S = 0.5

#: The kernel ends a killed process at once, unless it is stuck in a device or not ours.
REAP_S = 10.0

#: An answer stays readable, even after a fork bomb.
MAX_LEFTOVERS = 100

#: Someone is there whenever there is a child; who hops from child to child is seen at
#: every second look or so.
LOOKS = 50

CHUNK = 65536
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def prctl() -> Callable[[int, int], None]:
    """Linux's ``prctl(2)``, which the standard library does not offer."""
    import ctypes  # noqa: PLC0415 - only Linux pays for it

    libc = ctypes.CDLL(None, use_errno=True)

    def call(option: int, value: int) -> None:
        if libc.prctl(option, value, 0, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"prctl({option}): {os.strerror(number)}")

    return call


def write_all(descriptor: int, content: bytes) -> None:
    """Write every byte."""
    while content:
        content = content[os.write(descriptor, content) :]


class Output:
    """One output of the program: its first bytes are kept, all bytes are counted."""

    def __init__(self, path: str, limit: int) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self.room = limit
        self.total = 0
        self.ended = False

    def take(self) -> int:
        """Read once without waiting; the number of bytes that were there."""
        try:
            chunk = os.read(self.read_end, CHUNK)
        except BlockingIOError:
            return 0
        self.ended = not chunk
        self.total += len(chunk)
        kept = chunk[: self.room]
        self.room -= len(kept)
        write_all(self.file, kept)
        return len(chunk)

    def drain(self) -> None:
        """
        Take what the pipe still holds.

        Bounded, because someone outside the tree may have been given the pipe. Linux
        lets a program without privileges enlarge a pipe to 1 MiB.
        """
        taken = 0
        while taken < 1024 * 1024 and (count := self.take()):
            taken += count


class Launch:
    """The program, its tree and its outputs."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.prctl = prctl() if spec["subreaper"] else None
        self.outputs = [
            Output(spec[name], spec["max_output_bytes"])
            for name in ("stdout", "stderr")
        ]
        self.program = 0
        self.status: int | None = None
        self.started = self.ended = 0.0
        self.is_stopped = False
        self.has_children = False
        self.poll = select.poll()

    def listen(self) -> None:
        """Let every event end the wait in `turn`."""
        wakeup, alarm = os.pipe()
        for descriptor in (wakeup, alarm):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.stop)
        for descriptor in (0, wakeup, *(each.read_end for each in self.outputs)):
            self.poll.register(descriptor, select.POLLIN)

    def stop(self, *_: object) -> None:
        """Want the program ended."""
        self.is_stopped = True

    def begin(self) -> str | None:
        """Start the program; what the operating system said if it did not."""
        if self.prctl:
            self.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.listen()
        supervisor = os.getpid()
        problem, report = os.pipe()
        self.started = time.monotonic()
        self.program = os.fork()
        if self.program == 0:
            self.become(supervisor, report)
        # Our copies of what the program alone may hold would hide that it let go.
        for descriptor in (report, *(each.write_end for each in self.outputs)):
            os.close(descriptor)
        for descriptor in self.spec["pass_fds"]:
            os.close(descriptor)
        text = b""
        while chunk := os.read(problem, CHUNK):  # ends when exec closes the pipe
            text += chunk
        self.has_children = True
        return text.decode("utf-8", "replace") if text else None

    def become(self, supervisor: int, report: int) -> NoReturn:
        """Turn this fork of the supervisor into the program."""
        argv = self.spec["argv"]
        what = f"working directory {self.spec['cwd']}"
        try:
            os.setsid()
            if self.prctl:
                # If the supervisor is killed, the program at least goes with it.
                self.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() != supervisor:
                    os._exit(127)
            os.chdir(self.spec["cwd"])
            what = argv[0]
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for number, output in enumerate(self.outputs, 1):
                os.dup2(output.write_end, number)
            # What is ignored or blocked stays so through exec: SIGPIPE in Python, and
            # SIGINT and SIGQUIT in whatever a shell runs in the background.
            for number in range(1, signal.NSIG):
                if signal.getsignal(number) is signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            os.execvpe(argv[0], argv, self.spec["environment"])  # noqa: S606
        except OSError as error:
            write_all(report, f"{error.strerror}: {what}".encode("utf-8", "replace"))
        except ValueError as error:  # a null byte
            write_all(report, f"{error}: {what}".encode("utf-8", "replace"))
        finally:
            os._exit(127)

    def reap(self) -> None:
        """Collect whatever ended; afterwards `has_children` is true to the tree."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.has_children = False
                return
            if pid == 0:
                self.has_children = True
                return
            if pid == self.program:
                self.status, self.ended = status, time.monotonic()

    def turn(self, until: float) -> bool:
        """Wait for one event and serve it; false once `until` has passed."""
        left = until - time.monotonic()
        wait_ms = 1000 * max(0.0, min(left, 3600.0))  # poll overflows after 24 days
        for descriptor, _ in self.poll.poll(wait_ms):
            output = next((o for o in self.outputs if o.read_end == descriptor), None)
            if output:
                output.take()
                if output.ended:
                    self.poll.unregister(descriptor)
            elif not os.read(descriptor, CHUNK):  # the caller let go of the lifeline
                self.poll.unregister(descriptor)
                self.stop()
        self.reap()
        return left > 0

    def terminate(self) -> None:
        """Ask every process of the tree, once, to end."""
        self.signal_group(signal.SIGTERM)
        if self.prctl:
            for process in descendants():
                if process.group != self.program:
                    process.signal(signal.SIGTERM)

    def signal_group(self, number: int) -> None:
        """
        Signal the program's process group, if its number still means that group.

        The kernel signals a group in one step: no member can escape by forking. Once
        the program was reaped its number may name another group.
        """
        if self.status is None:
            with contextlib.suppress(OSError):  # all ended, or run as someone else
                os.killpg(self.program, number)

    def kill_all(self) -> str | None:
        """Kill and reap until no child is left; who withstood, if any did."""
        until = time.monotonic() + REAP_S
        self.reap()
        while self.has_children:
            if time.monotonic() >= until:
                names = ", ".join(f"{p.pid} ({p.name})" for p in descendants())
                return f"still alive {REAP_S:g} s after SIGKILL: {names}"
            self.signal_group(signal.SIGKILL)
            if self.prctl:
                # A killed parent hands its children on to us: from the top down, so
                # that nobody's pid is free for others before we have reaped it.
                for pid in own_children():
                    with contextlib.suppress(OSError):  # it runs as someone else
                        os.kill(pid, signal.SIGKILL)
            # Each death is an event; the limit is for an orphan that came silently.
            self.turn(time.monotonic() + 0.05)
        return None

    def watch(self) -> str:
        """
        Wait for the program's end, or bring it about; which of them it was.

        Afterwards nobody has any time left: who is still alive is to be killed.
        """
        deadline = self.started + self.spec["deadline_s"]
        while self.status is None and not self.is_stopped and self.turn(deadline):
            pass
        if self.status is not None:
            until = self.ended + SETTLE_S
            while self.has_children and not self.is_stopped and self.turn(until):
                pass
            return "exited"
        kind = "stopped" if self.is_stopped else "timed-out"
        self.terminate()
        until = time.monotonic() + self.spec["grace_s"]
        while self.has_children and self.turn(until):
            pass
        return kind

    def leftovers(self) -> list[dict[str, Any]]:
        """Who is alive below us, the program itself apart."""
        if not self.prctl:
            return []
        for _ in range(LOOKS):
            self.reap()
            if not self.has_children:
                return []
            alive = [p for p in descendants() if p.is_alive] or own_living_children()
            if alive:
                break
        return [
            {"pid": p.pid, "name": p.name, "description": p.description()}
            for p in alive[:MAX_LEFTOVERS]
            if p.pid != self.program
        ]

    def end(self) -> tuple[int | None, str | None]:
        """The program's own exit code or signal, once it has ended."""
        if self.status is None:
            return None, None
        code = os.waitstatus_to_exitcode(self.status)
        if code >= 0:
            return code, None
        try:
            return None, signal.Signals(-code).name
        except ValueError:  # a real-time signal has no name of its own
            return None, f"SIG{-code}"
