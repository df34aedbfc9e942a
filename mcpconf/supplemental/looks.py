"""What checks of every theme ask of a step's result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import broken, holds
from mcpconf.supplemental.observation import StepState

if TYPE_CHECKING:
    from mcpconf.supplemental.finding import Finding
    from mcpconf.supplemental.observation import Observation, StepResult
    from mcpconf.supplemental.scenario import Look


def text_of(step: StepResult) -> str | None:
    """The text of a call's only content, as the host got it; None where it has none."""
    value: Any = step.value
    try:
        text = value["result"]["content"][0]["text"]
    except (TypeError, KeyError, IndexError):
        return None
    return text if isinstance(text, str) else None


def ended(step: StepResult) -> str:
    """How a step ended, for a sentence."""
    if step.state is StepState.OK:
        return "succeeded"
    kind = f" ({step.error_kind})" if step.error_kind else ""
    return f"ended in {step.state.value}{kind}: {step.message[:200]}"


def has_error_result(step: StepResult) -> bool:
    """Whether a call's result says of itself that it is an error."""
    value: Any = step.value
    try:
        return value["result"]["isError"] is True
    except (TypeError, KeyError):
        return False


def is_error(step: StepResult) -> bool:
    """Whether the host was told of an error that is not the client's own time-out."""
    return step.state is StepState.ERROR and step.error_kind != "timeout"


def got_text(name: str, text: str) -> Look:
    """The step `name` gave the host exactly this text."""

    def look(seen: Observation) -> Finding:
        step = seen.step(name)
        if step.state is not StepState.OK:
            return broken(f"the call {ended(step)}")
        got = text_of(step)
        if got != text:
            return broken(f"the host got {got!r}, not {text!r}")
        return holds(f"the host got {text!r}")

    return look


def failed(name: str) -> Look:
    """The step `name` ended with an error, before the client's own limit."""

    def look(seen: Observation) -> Finding:
        step = seen.step(name)
        if is_error(step):
            return holds(f"the step {ended(step)}")
        if step.state is StepState.OK and has_error_result(step):
            return holds(f"the host was given an error result: {text_of(step)!r}")
        if step.state is StepState.OK and step.verb == "call":
            return broken(f"the call succeeded with {text_of(step)!r}")
        return broken(f"no error was told of but the client's limit: {ended(step)}")

    return look


def taken_or_failed(name: str, text: str) -> Look:
    """The step `name` gave the host this text, or ended with an error in time."""

    def look(seen: Observation) -> Finding:
        step = seen.step(name)
        is_taken = step.state is StepState.OK and not has_error_result(step)
        return (got_text(name, text) if is_taken else failed(name))(seen)

    return look
