"""Faults in the course of calls: input, progress, cancellation, change, order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.fixture_server.profile.asking_input import (
    NumberedRequests,
    TrustingInput,
)
from mcpconf.fixture_server.profile.telling import (
    BusySubscription,
    ChangingList,
    LateAnswers,
    SilentInitialize,
    StrayNotifications,
)

if TYPE_CHECKING:
    from mcpconf.fixture_server.profile.base import Profile

PROFILES: tuple[type[Profile], ...] = (
    StrayNotifications,
    TrustingInput,
    NumberedRequests,
    LateAnswers,
    SilentInitialize,
    ChangingList,
    BusySubscription,
)
