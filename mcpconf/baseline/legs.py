"""Which legs a scope holds: not every one of a server's has scenarios of ours."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from mcpconf import ours
from mcpconf.identity import OFFICIAL_HTTP, Leg
from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.baseline.entry import Scope
    from mcpconf.record import Role


def legs_of(scope: Scope) -> frozenset[Leg]:
    """The legs that a baseline promises to hold, or that a run was asked for."""
    return frozenset(
        Leg(label, revision)
        for label, revision in product(scope.labels, scope.revisions)
        if label == OFFICIAL_HTTP or _has_ours(scope.role, revision, label)
    )


@cache
def _has_ours(role: Role, revision: str, label: str) -> bool:
    return ours.has_leg(role, Revision(revision), Transport(label))
