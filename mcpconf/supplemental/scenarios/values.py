"""Numbers, schemas and results that must arrive as they were sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    unobserved,
    unsupported,
)
from mcpconf.supplemental.looks import ended, has_error_result, text_of
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
    listing,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation

_BIG = 2**53 + 1
_JSON = "https://www.rfc-editor.org/rfc/rfc8259#section-6"


def _result(seen: Observation, step_id: str) -> Any:
    """The result a host got of a call; None where it got none."""
    value = seen.step(step_id).value
    return value.get("result") if isinstance(value, dict) else None


def _served(seen: Observation, tool: str) -> Any:
    """The result the server sent to the last call of a tool."""
    answers = [seen.subject.answer_to(each) for each in seen.subject.calls(tool)]
    results = [each.result for each in answers if each and each.result is not None]
    return results[-1] if results else None


def _got(seen: Observation, step_id: str, tool: str) -> Finding | tuple[Any, Any]:
    """What the server sent and what the host got, or why there is no such pair."""
    step, served = seen.step(step_id), _served(seen, tool)
    if served is None:
        return unobserved(f"no answered call of {tool} is on the wire")
    if step.state is not StepState.OK:
        return broken(f"the server answered and the call {ended(step)}")
    return served, _result(seen, step_id)


def _sent_exactly(name: str, value: float) -> Any:
    def look(seen: Observation) -> Finding:
        for request in seen.subject.calls("numbers"):
            arguments = request.params.get("arguments") or {}
            sent = arguments.get(name)
            if type(sent) is not type(value) or sent != value:
                return broken(f"{name} went out as {sent!r}, not as {value!r}")
            return holds(f"{name} went out as {value!r}")
        return unobserved("no call of numbers is on the wire")

    return look


def _edges(kind: type) -> Any:
    def look(seen: Observation) -> Finding:
        pair = _got(seen, "numbers", "numbers")
        if isinstance(pair, Finding):
            return pair
        served, got = (_object(_object(e).get("structuredContent")) for e in pair)
        wanted = [each for each in served["edges"] if type(each) is kind]
        found = got.get("edges")
        if not isinstance(found, list):
            return unsupported("the client shows its host no structured content")
        lost = [each for each in wanted if not any(_is(each, f) for f in found)]
        if lost:
            return broken(f"{lost} did not reach the host: it got {found}")
        return holds(f"{wanted} reached the host as they were sent")

    return look


def _is(sent: Any, got: Any) -> bool:
    """An integer stays one; 1.0 and 1 are the same number, however it is written."""
    if isinstance(sent, float):
        is_number = isinstance(got, int | float) and not isinstance(got, bool)
        return is_number and sent == got
    return type(sent) is type(got) and bool(sent == got)


def _schema_of(seen: Observation, tool: str) -> Finding | tuple[Any, Any]:
    """A tool's input schema as it was served and as the host got it."""
    step = seen.step("list")
    served = [
        each
        for answer in map(seen.subject.answer_to, seen.subject.requests("tools/list"))
        if answer and isinstance(answer.result, dict)
        for each in answer.result.get("tools", ())
        if each.get("name") == tool
    ]
    if not served:
        return unobserved(f"no answered tools/list with {tool} is on the wire")
    if step.state is not StepState.OK:
        return broken(f"the server answered and the list {ended(step)}")
    got = [each for each in step.value["items"] if each.get("name") == tool]
    if not got:
        return broken(f"the host was not shown the tool {tool}")
    return served[-1]["inputSchema"], got[0].get("inputSchema")


def _big_schema(seen: Observation) -> Finding:
    pair = _schema_of(seen, "review_large_integer")
    if isinstance(pair, Finding):
        return pair
    served, got = (_value_of(each) for each in pair)
    for key in ("minimum", "maximum", "default"):
        if not _is(served[key], got.get(key)):
            return broken(f"{key} {served[key]} reached the host as {got.get(key)!r}")
    return holds(f"minimum and default {served['minimum']} reached the host exactly")


def _value_of(schema: Any) -> dict[str, Any]:
    return _object(_object(_object(schema).get("properties")).get("value"))


def _object(value: Any) -> dict[str, Any]:
    """What a host got, where it should be an object; any client may give anything."""
    return value if isinstance(value, dict) else {}


def _keywords(seen: Observation) -> Finding:
    pair = _schema_of(seen, "schema_2020_12")
    if isinstance(pair, Finding):
        return pair
    served, got = pair
    lost = sorted(_paths(served) - _paths(got))
    if lost:
        return broken(f"lost on the way to the host: {', '.join(lost[:8])}")
    return holds(f"all {len(_paths(served))} places of the schema reached the host")


def _paths(value: Any, path: str = "") -> set[str]:
    """Every leaf of a JSON value, with its place."""
    if isinstance(value, dict) and value:
        return set().union(*(_paths(v, f"{path}/{k}") for k, v in value.items()))
    if isinstance(value, list) and value:
        return set().union(*(_paths(v, f"{path}/{n}") for n, v in enumerate(value)))
    return {f"{path}={json.dumps(value)}"}


def _keeps(member: str) -> Any:
    def look(seen: Observation) -> Finding:
        pair = _got(seen, "both", "both")
        if isinstance(pair, Finding):
            return pair
        served, got = pair
        if (got or {}).get(member) != served[member]:
            return broken(f"{member} {served[member]} did not reach the host")
        return holds(f"{member} reached the host as it was sent")

    return look


def _promise(seen: Observation) -> Finding:
    step, served = seen.step("promise"), _served(seen, "promise")
    if served is None:
        return unobserved("no answered call of promise is on the wire")
    if step.state is StepState.OK and has_error_result(step):
        return holds(f"the host was given an error result: {text_of(step)!r}")
    if step.state is StepState.OK:
        return broken("the host got a result that its output schema forbids")
    if step.error_kind == "timeout":
        return broken(f"the server answered and the call {ended(step)}")
    return holds(f"the call {ended(step)}")


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="numbers",
        title="Integers around 2^53 and 2^63 and floats, in arguments and results",
        steps=(
            connect(),
            call("numbers", {"integer": _BIG, "number": 0.1}, id="numbers"),
        ),
        checks=(
            CheckDefinition(
                id="integer-sent-exactly",
                sentence="An integer beyond 2^53 goes out with every digit. (No page "
                "demands it.)",
                page=_JSON,
                level=Level.SHOULD,
                looks_for="the argument in tools/call",
                look=_sent_exactly("integer", _BIG),
                needs=("numbers",),
                broken=("rounds_big_integers_it_sends",),
            ),
            CheckDefinition(
                id="float-sent-exactly",
                sentence="A float goes out as the double it is. (No page demands it.)",
                page=_JSON,
                level=Level.SHOULD,
                looks_for="the argument in tools/call",
                look=_sent_exactly("number", 0.1),
                needs=("numbers",),
                broken=("sends_floats_in_single_precision",),
            ),
            CheckDefinition(
                id="integers-received-exactly",
                sentence="Integers up to 64 bits reach the host with every digit. (No "
                "page demands it.)",
                page=_JSON,
                level=Level.SHOULD,
                looks_for="the result on the wire against the one the host got",
                look=_edges(int),
                needs=("numbers",),
                broken=("rounds_big_integers_it_gets",),
            ),
            CheckDefinition(
                id="floats-received-exactly",
                sentence="Floats reach the host as the doubles they are. (No page "
                "demands it.)",
                page=_JSON,
                level=Level.SHOULD,
                looks_for="the result on the wire against the one the host got",
                look=_edges(float),
                needs=("numbers",),
                broken=("makes_floats_integers",),
            ),
        ),
    ),
    Scenario(
        name="schemas",
        title="Input schemas with big integers and the keywords of JSON Schema 2020-12",
        steps=(connect(), listing()),
        checks=(
            CheckDefinition(
                id="big-integer-schema",
                sentence="Bounds and defaults beyond 2^53 reach the host exactly. (No "
                "page demands it.)",
                page="server/tools",
                level=Level.SHOULD,
                looks_for="minimum, maximum and default of review_large_integer",
                look=_big_schema,
                needs=("list",),
                broken=("rounds_big_integers_in_schemas",),
            ),
            CheckDefinition(
                id="schema-keywords-survive",
                sentence="A tool's input schema is any JSON Schema 2020-12 object; no "
                "keyword of it is lost or rewritten. (No page demands it.)",
                page="server/tools",
                level=Level.SHOULD,
                looks_for="every place of the schema as served in what the host got",
                look=_keywords,
                needs=("list",),
                broken=("drops_schema_keywords",),
            ),
        ),
    ),
    Scenario(
        name="results",
        title="A result with content and structured content, which differ",
        steps=(connect(), call("both", id="both")),
        checks=(
            CheckDefinition(
                id="content-survives",
                sentence="Content reaches the host beside structured content. (No "
                "page demands it.)",
                page="server/tools",
                level=Level.SHOULD,
                looks_for="the result on the wire against the one the host got",
                look=_keeps("content"),
                needs=("both",),
                broken=("drops_content_beside_structured_content",),
            ),
            CheckDefinition(
                id="structured-content-survives",
                sentence="Structured content reaches the host beside content. (No "
                "page demands it.)",
                page="server/tools",
                level=Level.SHOULD,
                looks_for="the result on the wire against the one the host got",
                look=_keeps("structuredContent"),
                needs=("both",),
                broken=("drops_structured_content",),
            ),
        ),
    ),
    Scenario(
        name="output-schema",
        title="Structured content that the tool's output schema forbids",
        profiles=("broken-promise",),
        steps=(connect(), listing(), call("promise", id="promise")),
        checks=(
            CheckDefinition(
                id="output-schema-is-held",
                sentence="Clients validate structured results against the output "
                "schema that was listed.",
                page="server/tools",
                level=Level.SHOULD,
                looks_for="the answered call, and an error in place of its result",
                look=_promise,
                provoked_by=("broken-promise",),
                needs=("promise",),
                broken=("believes_any_structured_content",),
            ),
        ),
    ),
)
