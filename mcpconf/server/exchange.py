"""
One HTTP exchange with a server: what was sent, and all that came back.

An `Exchange` is evidence. It is whole whatever the server did: `how` says how the
answer ended, and `problem` says it in a sentence where that was no ordinary end.
Nothing here opens a connection; `mcpconf.server.http` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.decode import Json, Reader

#: From here on a status is a refusal (RFC 9110, section 15).
_REFUSALS = 400


class Form(StrEnum):
    """What an answer's body is made of."""

    JSON = "json"
    SSE = "sse"
    #: No byte of a body.
    EMPTY = "empty"
    #: Another type, or what calls itself JSON and is not.
    OTHER = "other"
    #: No answer's head came.
    NONE = "none"


class How(StrEnum):
    """How an answer ended."""

    #: Its own end, or the response that was waited for.
    COMPLETE = "complete"
    CLOSED_BY_US = "closed-by-us"
    #: The connection was lost before the end that was announced.
    CUT = "cut"
    TIMED_OUT = "timed-out"
    TOO_LARGE = "too-large"
    #: There was no connection.
    REFUSED = "refused"
    TLS = "tls"
    #: To follow it would be to test another server.
    REDIRECTED = "redirected"
    #: Not HTTP, not JSON where JSON was announced, or no whole events.
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One JSON-RPC message of an answer."""

    #: Monotonic milliseconds since the client was made.
    t_ms: float
    #: As parsed; a well-behaved server sends objects.
    message: Json

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {"t_ms": self.t_ms, "message": self.message}

    @classmethod
    def from_json(cls, reader: Reader) -> Received:
        """The message `to_json` wrote."""
        reader.only("t_ms", "message")
        return cls(
            t_ms=reader.key("t_ms").number(), message=reader.key("message").value
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its answer; made also where no answer came."""

    #: Unique in a scenario.
    label: str
    #: When it was sent and when it had ended; monotonic ms since the client was made.
    t0_ms: float
    t1_ms: float
    #: Of HTTP.
    method: str
    #: What was set on purpose, by lower-case name; HTTP itself adds more.
    sent_headers: Mapping[str, str]
    #: The body as JSON, or as text where it was none.
    sent: Json
    #: None: no answer's head came.
    status: int | None
    #: Of the answer, by lower-case name; long values are cut.
    headers: Mapping[str, str]
    form: Form
    received: tuple[Received, ...]
    #: The beginning of a body that is no JSON.
    text: str | None
    how: How
    #: One sentence, unless the answer is complete or was closed by us.
    problem: str | None

    def response(self) -> Mapping[str, Json] | None:
        """The JSON-RPC response to the `id` that was sent, if it came."""
        objects = self._objects()
        return next((one for one in objects if is_response(one, self.sent)), None)

    @property
    def result(self) -> Mapping[str, Json] | None:
        """The result of the response; None also where it is no object."""
        result = (self.response() or {}).get("result")
        return result if isinstance(result, dict) else None

    @property
    def error(self) -> Mapping[str, Json] | None:
        """
        The error of the response.

        A refusal by HTTP status may carry an error without an id, or with null: the
        server may not have read the id. It counts too.
        """
        response: Mapping[str, Json] = self.response() or self._error_without_id() or {}
        error = response.get("error")
        return error if isinstance(error, dict) else None

    @property
    def error_code(self) -> int | None:
        """The code of the error; None also where it is no integer."""
        code = (self.error or {}).get("code")
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    def _objects(self) -> list[Mapping[str, Json]]:
        messages = [each.message for each in self.received]
        return [each for each in messages if isinstance(each, dict)]

    def _error_without_id(self) -> Mapping[str, Json] | None:
        if self.form is not Form.JSON or (self.status or 0) < _REFUSALS:
            return None
        return next((one for one in self._objects() if one.get("id") is None), None)

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "label": self.label,
            "t0_ms": self.t0_ms,
            "t1_ms": self.t1_ms,
            "method": self.method,
            "sent_headers": dict(self.sent_headers),
            "sent": self.sent,
            "status": self.status,
            "headers": dict(self.headers),
            "form": self.form.value,
            "received": [each.to_json() for each in self.received],
            "text": self.text,
            "how": self.how.value,
            "problem": self.problem,
        }

    @classmethod
    def from_json(cls, reader: Reader) -> Exchange:
        """
        The exchange `to_json` wrote.

        :raises DecodeError: not that form.
        """
        reader.only(*cls.__dataclass_fields__)
        status, text = reader.get("status"), reader.get("text")
        problem = reader.get("problem")
        return cls(
            label=reader.key("label").string(),
            t0_ms=reader.key("t0_ms").number(),
            t1_ms=reader.key("t1_ms").number(),
            method=reader.key("method").string(),
            sent_headers=_texts(reader.key("sent_headers")),
            sent=reader.key("sent").value,
            status=None if status is None else status.integer(),
            headers=_texts(reader.key("headers")),
            form=reader.key("form").word(Form),
            received=tuple(map(Received.from_json, reader.key("received").items())),
            text=None if text is None else text.string(),
            how=reader.key("how").word(How),
            problem=None if problem is None else problem.string(),
        )


def is_response(message: Mapping[str, Json], sent: Json) -> bool:
    """Whether a message is the JSON-RPC response to what was sent."""
    if not isinstance(sent, dict) or "id" not in sent or "id" not in message:
        return False
    wanted, given = sent["id"], message["id"]
    # 1 is neither "1" nor true.
    is_same = type(given) is type(wanted) and given == wanted
    return is_same and ("result" in message or "error" in message)


def _texts(reader: Reader) -> dict[str, str]:
    return {name: member.string() for name, member in reader.members()}
