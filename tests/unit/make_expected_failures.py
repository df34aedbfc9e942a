"""Builders of baselines: one client, one whole leg of the suite at two revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.baseline.entry import (
    UNREASONED,
    Baseline,
    CheckState,
    ExpectedFailure,
    ExpectedUnsupported,
    Explanation,
    FailureClass,
    Scope,
    SuiteIdentity,
)
from mcpconf.identity import OFFICIAL_HTTP, CheckIdentity, Leg

if TYPE_CHECKING:
    from collections.abc import Iterable

MIDDLE, NEW = "2025-11-25", "2026-07-28"


def make_identity(
    check_id: str = "tool-add-numbers", scenario: str = "tools_call", **changes: str
) -> CheckIdentity:
    """One official check."""
    values = {
        "revision": MIDDLE,
        "transport": OFFICIAL_HTTP,
        "source": "official",
        "scenario": scenario,
        "check_id": check_id,
    }
    return CheckIdentity(**{**values, **changes})


def make_explanation(reason: str = UNREASONED, **changes: Any) -> Explanation:
    """Nobody has looked yet, unless a reason is given."""
    values: dict[str, Any] = {
        "reason": reason,
        "failure_class": FailureClass.UNREVIEWED
        if reason == UNREASONED
        else FailureClass.SUBJECT_BUG,
        "link": None,
        "since": "2026-11-30",
    }
    return Explanation(**{**values, **changes})


def make_failure(
    identity: CheckIdentity, reason: str = UNREASONED, **changes: Any
) -> ExpectedFailure:
    """An expected failure of one check."""
    values: dict[str, Any] = {
        "identity": identity,
        "state": CheckState.FAIL,
        "outcome": "failed",
        "explanation": make_explanation(reason),
    }
    return ExpectedFailure(**{**values, **changes})


def make_unsupported(
    scenario: str, revision: str = NEW, reason: str = UNREASONED
) -> ExpectedUnsupported:
    """A scenario the client does not do at all."""
    return ExpectedUnsupported(
        leg=Leg(OFFICIAL_HTTP, revision),
        scenario=scenario,
        explanation=make_explanation(reason),
    )


def make_baseline(
    failing: Iterable[ExpectedFailure] = (),
    passing: Iterable[CheckIdentity] = (),
    **changes: Any,
) -> Baseline:
    """A baseline of version 2."""
    values: dict[str, Any] = {
        "version": 2,
        "client": "codex",
        "client_version": "1.2.3",
        "suite": SuiteIdentity(
            repository="modelcontextprotocol/conformance",
            git_ref="npm:@modelcontextprotocol/conformance@9.9.9",
        ),
        "strict_auth": False,
        "scope": Scope(
            revisions=(MIDDLE, NEW),
            transports=("stdio", "http"),
            sources=("official", "supplemental"),
            authentication=True,
        ),
        "scenarios": {MIDDLE: ("tools_call",), NEW: ("tools_call",)},
        "passing": frozenset(passing),
        "failing": {each.identity: each for each in failing},
    }
    return Baseline(**{**values, **changes})
