"""One thing that a client is asked for at 2026-07-28, and how its answer is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.asking import has_form
from mcpconf.fixture_server.results import invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Json = Any

_ACTIONS = ("decline", "cancel")


class DeclinedError(Exception):
    """The user does not want to answer; `action` is the user's."""

    def __init__(self, action: str) -> None:
        super().__init__(action)
        self.action = action


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One of the ``inputRequests``."""

    key: str
    method: str
    params: Mapping[str, Any]
    #: The capabilities that the client must have declared.
    needs: Mapping[str, Any]
    #: The answer as a text; None: malformed.
    text_of: Callable[[Json], str | None]

    def request(self) -> dict[str, Any]:
        """The request as it is embedded, without an id."""
        return {"method": self.method, "params": dict(self.params)}

    def is_for(self, declared: Mapping[str, Any]) -> bool:
        """Whether a client with these capabilities may be asked."""
        if "elicitation" in self.needs:
            return has_form(declared)
        return all(isinstance(declared.get(name), dict) for name in self.needs)

    def read(self, answer: Json) -> str:
        """
        The answer as a text.

        :raises DeclinedError: the user did not want to.
        :raises RpcError: -32602: malformed.
        """
        text = self.text_of(answer)
        if text is None:
            raise invalid(f"the input response {self.key} is not what was asked for")
        return text


def form(key: str, message: str, field: str, *, kind: str = "string") -> Ask:
    """A form of one field, a string or a boolean."""

    def text_of(answer: Json) -> str | None:
        if not isinstance(answer, dict):
            return None
        if answer.get("action") in _ACTIONS:
            raise DeclinedError(answer["action"])
        content = answer.get("content")
        if answer.get("action") != "accept" or not isinstance(content, dict):
            return None
        value = content.get(field)
        if kind == "boolean":
            return str(value).lower() if isinstance(value, bool) else None
        return value if isinstance(value, str) else None

    schema = {
        "type": "object",
        "properties": {field: {"type": kind}},
        "required": [field],
    }
    return Ask(
        key=key,
        method="elicitation/create",
        params={"mode": "form", "message": message, "requestedSchema": schema},
        needs={"elicitation": {"form": {}}},
        text_of=text_of,
    )


def sample(key: str, prompt: str, max_tokens: int) -> Ask:
    """A sample of the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return Ask(
        key=key,
        method="sampling/createMessage",
        params={"messages": [message], "maxTokens": max_tokens},
        needs={"sampling": {}},
        text_of=_sampled,
    )


def roots(key: str) -> Ask:
    """The client's roots."""
    return Ask(
        key=key, method="roots/list", params={}, needs={"roots": {}}, text_of=_rooted
    )


def _sampled(answer: Json) -> str | None:
    if not isinstance(answer, dict) or not isinstance(answer.get("model"), str):
        return None
    content = answer.get("content")
    blocks = content if isinstance(content, list) else [content]
    texts = [each.get("text") for each in blocks if isinstance(each, dict)]
    if len(texts) != len(blocks):
        return None
    return " ".join(text for text in texts if isinstance(text, str))


def _rooted(answer: Json) -> str | None:
    listed = answer.get("roots") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    uris = [each.get("uri") if isinstance(each, dict) else None for each in listed]
    named = [uri for uri in uris if isinstance(uri, str)]
    return ", ".join(named) if len(named) == len(uris) else None
