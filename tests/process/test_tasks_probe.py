"""Cases of the tasks extension, launched as in a run: probe, pipe, evidence."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.evidence import EXCHANGES, case_dir
from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.process import EndKind
from mcpconf.record import Attribution, Outcome, Policy
from mcpconf.revision import Revision
from mcpconf.tasks_extension.launch import TasksLaunch, launch_case
from mcpconf.tasks_extension.plan import key_of, planned
from mcpconf.tasks_extension.verdict import judged
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpconf.process import Running
    from mcpconf.record import ScenarioResult
    from mcpconf.tasks_extension.plan import TasksCase

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors are passed on"),
]

_OPTIONS = Options(
    revision=Revision.V2026_07_28,
    transport=Transport.HTTP,
    profiles=("tasks",),
    limits=Limits(task_second_s=0.05),
)


def _run(run_dir: Path, url: str, **changes: Any) -> ScenarioResult:
    """One case, launched and judged."""
    case, stop = changes.pop("case", None), changes.pop("stop", False)
    case = case or _case("tasks/headers")
    values: dict[str, Any] = {
        "url": url,
        "run_dir": run_dir / "run",
        "parent": run_dir,
        "keep_artifacts": False,
        "timeout_s": 30.0,
        "environment": dict(os.environ),
    }
    launch = TasksLaunch(**{**values, **changes})

    def started(running: Running) -> None:
        if stop:
            running.stop()

    launch_case(launch, case, started)
    result = judged(run_dir / "run", case, Policy())
    assert result is not None
    # Nothing is left but the run itself.
    assert [each.name for each in run_dir.iterdir()] == ["run"]
    return result


def _case(name: str) -> TasksCase:
    case = planned(key_of(name))
    assert case is not None
    return case


@contextmanager
def _silent() -> Iterator[str]:
    """A server that accepts, and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepted: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    accepted.append(listener.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for each in accepted:
                each.close()


def test_a_good_server_passes_through_probe_and_evidence(tmp_path: Path) -> None:
    with serving(_OPTIONS) as running:
        result = _run(tmp_path, running.url)
        again = judged(tmp_path / "run", _case("tasks/headers"), Policy())
    assert (result.outcome, result.reason) == (Outcome.PASSED, "passed")
    assert result.harness_checks == (("probe", None),)
    assert again == result
    assert result.leftovers == ()


def test_a_server_that_is_silent_passes_nothing(tmp_path: Path) -> None:
    """One unanswered request is enough; a drive does not wait for each in turn."""
    with _silent() as url:
        result = _run(tmp_path, url, timeout_s=1.0)
    assert result.outcome is Outcome.UNOBSERVED
    assert result.attribution is Attribution.SUBJECT
    assert "server/discover" in result.reason


def test_a_case_that_is_stopped_was_not_run(tmp_path: Path) -> None:
    with _silent() as url:
        result = _run(tmp_path, url, stop=True)
    assert result.outcome is Outcome.NOT_RUN


def test_a_drive_whose_time_is_over_timed_out(tmp_path: Path) -> None:
    """It says before which step, and its record is whole."""
    with serving(_OPTIONS) as running:
        result = _run(tmp_path, running.url, timeout_s=0.0)
    assert result.outcome is Outcome.TIMED_OUT
    assert result.attribution is Attribution.HARNESS
    assert "discover" in result.reason


def test_a_probe_that_breaks_is_a_fault_of_the_harness(tmp_path: Path) -> None:
    """It is told of a scenario that it does not know."""
    unknown = replace(_case("tasks/headers"), key=key_of("tasks/nowhere"))
    with serving(_OPTIONS) as running:
        result = _run(tmp_path, running.url, case=unknown)
    assert (result.outcome, result.attribution) == (
        Outcome.HARNESS_ERROR,
        Attribution.HARNESS,
    )
    assert "tasks/nowhere" in (dict(result.harness_checks)["probe"] or "")


def test_artifacts_and_evidence_are_kept_without_the_job(tmp_path: Path) -> None:
    with serving(_OPTIONS) as running:
        _run(tmp_path, running.url, keep_artifacts=True)
    folder = case_dir(tmp_path / "run", key_of("tasks/headers"))
    names = {each.name for each in folder.iterdir()}
    assert names == {EXCHANGES, "launch.json", "artifacts"}
    assert not (folder / "artifacts" / "job.json").exists()


def test_how_the_probe_ended_is_told(tmp_path: Path) -> None:
    with serving(_OPTIONS) as running:
        launch = TasksLaunch(
            url=running.url,
            run_dir=tmp_path / "run",
            parent=None,
            keep_artifacts=False,
            timeout_s=30.0,
            environment=dict(os.environ),
        )
        ended = launch_case(launch, _case("tasks/envelopes"), lambda _: None)
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
