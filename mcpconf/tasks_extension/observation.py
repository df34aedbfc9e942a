"""
What was seen of one drive: its exchanges by label, and the facts that checks share.

Labels name steps of the drive. A step that was not taken, because the task it was for
was never created, has no exchange; a check must say so and can never hold by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mcpconf.tasks_extension.definition import EXTENSION
from mcpconf.tasks_extension.session import result_in, task_id_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.server.exchange import Exchange

#: What every drive begins with: one exchange, and one for each page of the tools.
DISCOVER, TOOLS = "discover", "tools-"


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Everything a check may know."""

    exchanges: tuple[Exchange, ...]
    #: Why the drive broke off, where it did: a fault of ours.
    driver_error: str | None = None
    #: The step the drive's time was over before.
    out_of_time: str | None = None

    @cached_property
    def _by_label(self) -> Mapping[str, Exchange]:
        return {each.label: each for each in self.exchanges}

    def __getitem__(self, label: str) -> Exchange | None:
        """The exchange of a step; None where it was not taken."""
        return self._by_label.get(label)

    def labelled(self, prefix: str) -> tuple[Exchange, ...]:
        """The exchanges whose label begins so (``get-``), in the order they ended."""
        return tuple(each for each in self.exchanges if each.label.startswith(prefix))

    def last(self, prefix: str) -> Exchange | None:
        """The last of those: the answer a poll ended with."""
        return next(reversed(self.labelled(prefix)), None)

    def result(self, label: str) -> Mapping[str, Any] | None:
        """The result of a step; None where it has none."""
        return result_in(self[label])

    def task_id(self, label: str) -> str | None:
        """The id of the task that a step was handed."""
        return task_id_of(self[label])

    @cached_property
    def capabilities(self) -> Mapping[str, Any] | None:
        """What ``server/discover`` says the server can do; None: it says nothing."""
        said = (self.result(DISCOVER) or {}).get("capabilities")
        return said if isinstance(said, dict) else None

    @property
    def advertises_tasks(self) -> bool | None:
        """Whether ``server/discover`` names the extension; None: no such result."""
        if self.result(DISCOVER) is None:
            return None
        extensions = (self.capabilities or {}).get("extensions")
        return isinstance(extensions, dict) and EXTENSION in extensions

    @cached_property
    def tools(self) -> frozenset[str] | None:
        """The names on all pages of ``tools/list``; None: no such list was given."""
        pages = [(result_in(each) or {}).get("tools") for each in self.labelled(TOOLS)]
        if not any(isinstance(page, list) for page in pages):
            return None
        return frozenset(
            name
            for page in pages
            if isinstance(page, list)
            for each in page
            if isinstance(each, dict) and isinstance(name := each.get("name"), str)
        )
