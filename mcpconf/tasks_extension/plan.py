"""Which scenarios of the tasks extension are run: by name, at the one revision."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.errors import UsageError
from mcpconf.record import CaseKey, Source
from mcpconf.tasks_extension.definition import REVISION
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.tasks_extension.definition import TaskCheck, TaskScenario


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksCase:
    """One scenario of the tasks extension, to be driven against a server."""

    key: CaseKey
    scenario: TaskScenario

    @property
    def is_scored(self) -> bool:
        """All of ours count."""
        return True

    @property
    def timing_sensitive(self) -> bool:
        """Whether it must run alone."""
        return self.scenario.timing_sensitive

    @property
    def checks(self) -> tuple[TaskCheck, ...]:
        """What is checked of it."""
        return self.scenario.checks


def key_of(name: str) -> CaseKey:
    """What the case of a scenario is called."""
    return CaseKey(
        revision=REVISION,
        scenario=name,
        source=Source.SUPPLEMENTAL,
        transport=Transport.HTTP,
    )


def planned(key: CaseKey) -> TasksCase | None:
    """The case of a key; None where no scenario of the extension is meant by it."""
    scenario = SCENARIOS.get(key.scenario)
    if scenario is None or key != key_of(key.scenario):
        return None
    return TasksCase(key=key, scenario=scenario)


def select_tasks(*, requested: Sequence[str] = ()) -> tuple[TasksCase, ...]:
    """
    The cases of the requested scenarios, or of all, in the order of the report.

    :raises UsageError: no scenario has a requested name.
    """
    unknown = [name for name in dict.fromkeys(requested) if name not in SCENARIOS]
    if unknown:
        raise UsageError(
            "; ".join(
                f"{name}: no scenario of the tasks extension has this name; "
                f"{_hint(name)}"
                for name in unknown
            )
        )
    return tuple(
        TasksCase(key=key_of(name), scenario=scenario)
        for name, scenario in SCENARIOS.items()
        if not requested or name in requested
    )


def _hint(name: str) -> str:
    alike = difflib.get_close_matches(name, SCENARIOS, n=1)
    return f"did you mean {alike[0]}?" if alike else f"known: {', '.join(SCENARIOS)}"
