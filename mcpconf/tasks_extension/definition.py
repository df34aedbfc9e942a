"""
What a scenario of the tasks extension is: a drive, and checks of what it recorded.

A drive sends requests and decides nothing; each of its exchanges has a label. A check
reads the record by those labels. Neither knows which server it is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

#: The only revision that has the extension.
REVISION = Revision.V2026_07_28
EXTENSION = "io.modelcontextprotocol/tasks"

_SITE = "https://modelcontextprotocol.io"

Look: TypeAlias = "Callable[[Observation], Finding]"
Drive: TypeAlias = "Callable[[Session], None]"


def sep(section: str) -> str:
    """The address of a section of SEP-2663 (``task-creation``)."""
    return f"{_SITE}/seps/2663-tasks-extension#{section}"


def specification(page: str) -> str:
    """The address of a page of the specification (``basic/versioning``)."""
    return f"{_SITE}/specification/{REVISION.value}/{page}"


class Level(StrEnum):
    """How strongly something is asked for."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    #: The official suite is stricter than the text; never more than a warning.
    POLICY = "POLICY"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCheck:
    """One statement about a server, and how it is found out."""

    id: str
    #: The requirements of SEP-2663 it is about, by the suite's names for them
    #: (``sep-2663-…``); empty where a rule stands in the text alone.
    requirements: tuple[str, ...] = ()
    #: What is asked for, in our words.
    sentence: str
    #: The address of the page or section that asks for it.
    page: str
    level: Level
    #: What is looked for in the record.
    looks_for: str
    look: Look
    #: Checks of the official suite that look at the same.
    official: tuple[str, ...] = ()
    #: Fault profiles of the fixture server that fail it.
    broken: tuple[str, ...]
    #: Tools it cannot do without; None: all of the scenario's.
    tools: tuple[str, ...] | None = None
    #: Whether it is about servers that do not advertise the extension too.
    of_any_server: bool = False
    #: Whether a server that never makes a task leaves it unobserved. Such a server is
    #: compliant, and the other checks say nothing of it; but it has passed nothing.
    of_there_being_tasks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScenario:
    """One drive against a server, and what is checked of it."""

    name: str
    title: str
    drive: Drive
    checks: tuple[TaskCheck, ...]
    #: Tools of the fixture inventory that it calls.
    tools: tuple[str, ...] = ()
    #: Runs alone: it measures time.
    timing_sensitive: bool = False

    @property
    def is_for_any_server(self) -> bool:
        """Whether it is driven where the extension is not advertised."""
        return any(check.of_any_server for check in self.checks)

    @property
    def every_tool(self) -> tuple[str, ...]:
        """The tools that the drive, or any of its checks, cannot do without."""
        needed = (self.tools, *(self.tools_of(check) for check in self.checks))
        return tuple(dict.fromkeys(name for tools in needed for name in tools))

    def tools_of(self, check: TaskCheck) -> tuple[str, ...]:
        """The tools that one of its checks needs."""
        return self.tools if check.tools is None else check.tools
