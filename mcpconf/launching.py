"""How the cases of a run are launched: all that the pool asks of either role."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from mcpconf.case import SuiteLaunch, launch_case
from mcpconf.plan import PlannedCase
from mcpconf.supplemental import launch as supplemental_launch
from mcpconf.supplemental.plan import SupplementalCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from mcpconf.ours import Case
    from mcpconf.process import Running

    Started: TypeAlias = Callable[[Running], None]
    #: Launches one case and stores its evidence; is given the handle that stops it.
    LaunchOne: TypeAlias = Callable[[Case, Started], None]

#: Cases of ours wait for half of their time, so two of them keep one core busy.
_OURS = 2


class Launcher(Protocol):
    """Launches the cases of one role."""

    @property
    def ours_at_once(self) -> int:
        """How many cases of ours may run together."""

    @property
    def suites_at_once(self) -> int:
        """How many cases of the suite may."""

    def session(self, run_dir: Path) -> AbstractContextManager[LaunchOne]:
        """
        What launches, until the block is left, cases whose evidence goes to `run_dir`.

        Two sessions share nothing.

        :raises McpconfError: on leaving: what the session held could not be ended.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLauncher:
    """Every case starts the client anew."""

    launch: SuiteLaunch
    #: Where the drivers' shared places are made.
    private: Path
    jobs: int

    @property
    def ours_at_once(self) -> int:
        """Two to a core."""
        return _OURS * self.jobs

    @property
    def suites_at_once(self) -> int:
        """One to a core."""
        return self.jobs

    @contextmanager
    def session(self, run_dir: Path) -> Iterator[LaunchOne]:
        """Launch with a place for what the drivers would make anew each time."""
        with tempfile.TemporaryDirectory(prefix="shared-", dir=self.private) as name:
            launch = replace(self.launch, run_dir=run_dir, shared=Path(name))

            def one(case: Case, started: Started) -> None:
                if isinstance(case, PlannedCase):
                    launch_case(launch, case, started)
                elif isinstance(case, SupplementalCase):
                    supplemental_launch.launch_case(launch, case, started)
                else:
                    raise TypeError(f"{case.key} is no case of a client")

            yield one
