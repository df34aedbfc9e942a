"""Answers of the host, which both eras carry to the server in their own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.scenarios.conversation_looks import declared

if TYPE_CHECKING:
    from collections.abc import Callable

    Json = Any
    #: What is wrong with an answer (the result alone); None: nothing.
    AnswerFault = Callable[[Json], str | None]

    from mcpconf.supplemental.observation import Observation, Seen

#: The largest integer of 64 signed bits; no double holds it.
BIG = 2**63 - 1
#: As no default and no placeholder would have it.
HOST_WORDS = {"confirmation": "said by the host"}
_EXPECTED = {"default": 2**53 + 1, "minimum": 2**53 + 1, "maximum": BIG}


def undeclared(seen: Observation, name: str) -> bool:
    """Whether the client does not declare `name`; of elicitation, forms."""
    value = declared(seen).get(name)
    if name == "elicitation" and isinstance(value, dict):
        return bool(value) and "form" not in value
    return value is None


def required(seen: Observation, request: Seen) -> dict[str, Any] | None:
    """The result that asks for input; None where the request got another."""
    answer = seen.subject.answer_to(request)
    result = answer.result if answer else None
    is_required = isinstance(result, dict) and (
        result.get("resultType") == "input_required"
    )
    return result if is_required else None


def integers_are_shown(seen: Observation) -> Finding:
    """The form of the step ``integer``, as the host was shown it."""
    if undeclared(seen, "elicitation"):
        return not_applicable("the client does not declare elicitation")
    value = seen.step("integer").value
    shown = value.get("elicitations") if isinstance(value, dict) else None
    if not shown:
        return unobserved("the host was shown no form")
    schema: Any = shown[0].get("requestedSchema")
    try:
        form = schema["properties"]["large_integer"]
    except (KeyError, TypeError):
        form = None
    if not isinstance(form, dict):
        return broken(f"the form that was shown has no large_integer: {schema}")
    wrong = [
        f"{name} was {expected}, and the host was shown {form.get(name)!r}"
        for name, expected in _EXPECTED.items()
        if type(form.get(name)) is not int or form[name] != expected
    ]
    if wrong:
        return broken("; ".join(wrong))
    return holds("the host was shown the bounds and the default exactly")


def says(action: str, content: Json = None) -> AnswerFault:
    """The answer to a form: what the user did, and what they put in."""

    def fault(answer: Json) -> str | None:
        found = answer if isinstance(answer, dict) else {}
        if found.get("action") != action:
            return f"the host said {action}; the server was told {answer}"
        if content is not None and found.get("content") != content:
            return f"the host gave {content}; the server got {found.get('content')}"
        return None

    return fault


def integer_fault(answer: Json) -> str | None:
    """The answer to the form of a big integer."""
    problem = says("accept", {"large_integer": BIG})(answer)
    if problem is not None:
        return problem
    value = answer["content"]["large_integer"]  # a float may be equal, and is not it
    return None if type(value) is int else f"{BIG} came back as {value!r}"


def sampling_fault(answer: Json) -> str | None:
    """The answer to a request to sample."""
    if isinstance(answer, dict) and {"role", "content", "model"} <= answer.keys():
        return None
    return f"no message with role, content and model: {answer}"


def roots_fault(answer: Json) -> str | None:
    """The answer to a request for the roots."""
    roots = answer.get("roots") if isinstance(answer, dict) else None
    if not isinstance(roots, list):
        return f"no list of roots: {answer}"
    uris = [root.get("uri") if isinstance(root, dict) else root for root in roots]
    wrong = [uri for uri in uris if not str(uri).startswith("file://")]
    return f"the root {wrong[0]!r} is no file:// URI" if wrong else None
