"""Many inputs required at once: what a client does is measured, not prescribed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.conversation_form import required, undeclared

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation


def _flood_is_bounded(seen: Observation) -> Finding:
    """Complete, or refused: how many of the inputs were answered, and how it ended."""
    step, requests = seen.step("flood"), seen.subject.calls("inputs_bounded")
    asked = [r for each in requests if (r := required(seen, each))]
    if not asked:
        if undeclared(seen, "elicitation"):
            return not_applicable("the client does not declare elicitation")
        return unobserved("the server did not get to ask for input")
    answered = [
        len(answers)
        for each in requests
        if isinstance(answers := each.params.get("inputResponses"), dict)
    ]
    many = len(asked[0]["inputRequests"])
    most = max(answered, default=0)
    told = (
        f"{many} inputs were asked for at once; {most} were answered, "
        f"in {len(answered)} retries; the call {ended(step)}"
    )
    if step.state is StepState.TIMED_OUT or step.error_kind == "timeout":
        return broken(f"{told}: neither answered nor refused")
    if step.state is StepState.OK and most < many:
        return broken(f"{told}, although not all were answered")
    return holds(told)


SCENARIOS = (
    Scenario(
        name="input-flood",
        title="65 inputs required at once",
        revisions=STATELESS,
        steps=(connect(), call("inputs_bounded", id="flood")),
        request_timeout_s=3.0,
        checks=(
            CheckDefinition(
                id="many-inputs-bounded",
                sentence="However many inputs a server requires at once, the client "
                "answers them all or refuses, and does not hang. (No page demands "
                "it.)",
                looks_for="how many of the inputs were answered, and how the call "
                "ended",
                look=_flood_is_bounded,
                page="basic/patterns/mrtr",
                level=Level.SHOULD,
                needs=("flood",),
                broken=("waits_for_ever_on_many_inputs",),
            ),
        ),
    ),
)
