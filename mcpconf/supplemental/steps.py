"""The client's results of a case's steps, as its driver recorded them: decoded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf.decode import Json, Reader
from mcpconf.supplemental.observation import Aftermath, StepResult, StepState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.supplemental.scenario import Step


def results_of(
    steps: Sequence[Step], results: Sequence[Mapping[str, Json]]
) -> dict[str, StepResult]:
    """
    One result for every step of the scenario; *missing* where the driver has none.

    :raises DecodeError: a result is not of the form drivers write.
    """
    said = {}
    for number, value in enumerate(results):
        reader = Reader(dict(value), "adapter.json", f"results[{number}]")
        said[reader.key("id").string()] = reader
    return {
        step.id: _result(step, said[step.id])
        if step.id in said
        else StepResult(id=step.id, verb=step.verb, state=StepState.MISSING)
        for step in steps
    }


def _result(step: Step, reader: Reader) -> StepResult:
    fds, children = reader.get("fds"), reader.get("children")
    common = StepResult(
        id=step.id,
        verb=step.verb,
        state=_state(reader),
        t0_ms=reader.key("t0_ms").number(),
        t1_ms=reader.key("t1_ms").number(),
        fds=fds.integer() if fds else None,
        children=children.strings() if children else (),
    )
    return _with_words(common, reader)


def _state(reader: Reader) -> StepState:
    if reader.get("timed_out"):
        return StepState.TIMED_OUT
    if reader.get("unsupported"):
        return StepState.UNSUPPORTED
    return StepState.OK if reader.key("ok").boolean() else StepState.ERROR


def _with_words(common: StepResult, reader: Reader) -> StepResult:
    if common.state is StepState.OK:
        return replace(common, value=reader.key("value").value)
    if common.state is StepState.UNSUPPORTED:
        return replace(common, message=reader.key("unsupported").string())
    if common.state is StepState.TIMED_OUT:
        return replace(common, message="did not come back within its limit")
    error = reader.key("error")
    code = error.get("code")
    return replace(
        common,
        error_kind=error.key("kind").string(),
        error_code=code.integer() if code else None,
        message=error.key("message").string(),
    )


def aftermath_of(value: Mapping[str, Json] | None) -> Aftermath:
    """
    What was left when the client had ended.

    :raises DecodeError: not of the form drivers write.
    """
    if value is None:
        return Aftermath()
    reader = Reader(dict(value), "adapter.json", "aftermath")
    return Aftermath(
        survivors=reader.key("survivors").strings(),
        temporary=reader.key("temporary").strings(),
        listening=tuple(each.integer() for each in reader.key("listening").items()),
    )
