"""How the cases of a server are launched: each with a server of its own for a while."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.plan import PlannedCase
from mcpconf.server.case import ServerLaunch, launch_case
from mcpconf.server.choice import ServerSource
from mcpconf.server.hosts import Hosts
from mcpconf.supplemental.plan import SupplementalCase
from mcpconf.tasks_extension import launch as tasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mcpconf.launching import LaunchOne, Started
    from mcpconf.ours import Case
    from mcpconf.server.hosts import Lent
    from mcpconf.server.subject import ServerSubject
    from mcpconf.suite.install import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLauncher:
    """Launches every case against a server that is lent to it alone."""

    suite: Suite
    subject: ServerSubject
    #: The run's private directory.
    private: Path
    keep_artifacts: bool
    timeout_s: float
    jobs: int
    environment: Mapping[str, str]

    @property
    def ours_at_once(self) -> int:
        """As many as there are servers."""
        return self.suites_at_once

    @property
    def suites_at_once(self) -> int:
        """A server that runs already is one; others are started, one to a worker."""
        is_one = self.subject.choice.source is ServerSource.URL
        return 1 if is_one else self.jobs

    @contextmanager
    def session(self, run_dir: Path) -> Iterator[LaunchOne]:
        """Launch with servers that are gone afterwards."""
        with Hosts(self.subject, self.private, self.environment) as hosts:
            last = None

            def one(case: Case, started: Started) -> None:
                nonlocal last
                last = case.key.revision
                with hosts.lend(case.key.revision) as server:
                    self._launch(run_dir, server, case, started)

            yield one
            if last is not None:
                hosts.check(last)

    def _launch(
        self, run_dir: Path, server: Lent, case: Case, started: Started
    ) -> None:
        if isinstance(case, SupplementalCase):
            raise TypeError(f"{case.key} is no case of a server")
        if isinstance(case, PlannedCase):
            official = ServerLaunch(
                suite=self.suite,
                url=server.url,
                run_dir=run_dir,
                parent=self.private,
                keep_artifacts=self.keep_artifacts,
                timeout_s=self.timeout_s,
                environment=self.environment,
                server=server.running,
            )
            launch_case(official, case, started)
            return
        launch = tasks.TasksLaunch(
            url=server.url,
            run_dir=run_dir,
            parent=self.private,
            keep_artifacts=self.keep_artifacts,
            timeout_s=self.timeout_s,
            environment=self.environment,
            server=server.running,
        )
        tasks.launch_case(launch, case, started)
