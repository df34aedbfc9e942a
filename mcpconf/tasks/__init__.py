"""
The invoke tasks, for our own checkout and for any other repository.

A ``tasks.py`` that holds ``from mcpconf.tasks import namespace`` has them all. A task
is one call into the library; whatever it needs it imports when it is called, so that
``invoke --list`` stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.tasks import (
    baseline,
    client,
    gate,
    rendering,
    report,
    suite,
    supplemental,
    tasks_extension,
)
from mcpconf.tasks.base import group

if TYPE_CHECKING:
    from invoke.collection import Collection


def collection() -> Collection:
    """A new collection of every task, to which its owner may add."""
    root = group(*gate.TASKS)
    root.add_collection(group(*baseline.TASKS), "baseline")
    root.add_collection(group(*suite.TASKS), "suite")
    root.add_collection(group(*client.TASKS), "client")
    root.add_collection(group(*report.TASKS, *rendering.TASKS), "report")
    root.add_collection(group(*supplemental.TASKS), "supplemental")
    root.add_collection(group(*tasks_extension.TASKS), "tasks-extension")
    return root


#: The name invoke looks for.
namespace = collection()
