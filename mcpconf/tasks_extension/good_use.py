"""
The good use first: a refusal counts only of a server that was seen to serve.

A server that refuses everything refuses what it must refuse too. So a check of refusals
holds only where the same drive saw the good use: a task made, got, listened to. What is
wrong is wrong without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Kind, holds, unobserved
from mcpconf.tasks_extension.looks import (
    DRAFT_MISSING_CAPABILITY,
    MISSING_CAPABILITY,
    name_of,
    not_taken,
    told,
)
from mcpconf.tasks_extension.session import task_id_of, tells_of_task

if TYPE_CHECKING:
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation


def given(good: Look, look: Look) -> Look:
    """What `look` finds; but it holds only where `good` does, and else is as that."""
    return lambda seen: counted(good(seen), look(seen))


def counted(good: Finding, finding: Finding) -> Finding:
    """`finding`, but where it holds and `good` does not: that, and what it was of."""
    if finding.kind is not Kind.HOLDS or good.kind is Kind.HOLDS:
        return finding
    detail = f"{finding.detail}; that shows nothing, for {good.detail}"
    return replace(good, detail=detail)


def made_a_task(label: str) -> Look:
    """A call was answered with a task."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        said = f"{name_of(exchange)} was {told(exchange)}"
        if task_id_of(exchange) is None:
            return unobserved(f"{said}, and made no task")
        return holds(f"{said}, which is a task")

    return look


def got_a_task(prefix: str) -> Look:
    """The last of these requests was answered with a task that is there."""

    def look(seen: Observation) -> Finding:
        exchange = seen.last(prefix)
        if exchange is None:
            return not_taken(prefix.rstrip("-"))
        said = f"{name_of(exchange)} was {told(exchange)}"
        if not tells_of_task(exchange):
            return unobserved(f"{said}, and tells of no task")
        return holds(f"{said}, which is a task")

    return look


def was_let_in(label: str) -> Look:
    """A request that declares the extension was not refused for want of that."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        said = f"{name_of(exchange)}, with the declaration, was {told(exchange)}"
        is_kept_out = exchange.error_code in {
            MISSING_CAPABILITY,
            DRAFT_MISSING_CAPABILITY,
        }
        if is_kept_out or exchange.response() is None:
            return unobserved(said)
        return holds(said)

    return look
