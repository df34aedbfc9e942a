"""
Input over round trips at 2026-07-28, for a tool or a prompt (basic/patterns/mrtr).

A retry is another request. Whoever needs to know what came before puts it into the
``requestState``, sealed, since it passes through the client's hands.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.everything.ask import DeclinedError
from mcpconf.fixture_server.everything.tool import missing
from mcpconf.fixture_server.results import invalid, text_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.everything.ask import Ask

    Json = Any
    Result = dict[str, Any]


class Seal:
    """Texts that only whoever holds this seal can have made."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def close(self, value: Json) -> str:
        """`value` as one opaque word."""
        body = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()
        return f"{body}.{self._sign(body.encode())}"

    def open(self, word: str) -> Json:
        """
        What was closed into `word`.

        :raises RpcError: -32602: it is not as it was given out.
        """
        # JSON can hold half a surrogate pair, and a state may be anything.
        body, _, sign = word.encode(errors="surrogatepass").partition(b".")
        if not hmac.compare_digest(self._sign(body).encode(), sign):
            raise invalid("this requestState was not given out")
        return json.loads(base64.urlsafe_b64decode(body))

    def _sign(self, body: bytes) -> str:
        return hmac.new(self._key, body, hashlib.sha256).hexdigest()


class Rounds:
    """What is asked in each round, and what the answers come to."""

    def __init__(
        self,
        name: str,
        rounds: Sequence[Sequence[Ask]],
        conclude: Callable[[Mapping[str, str]], str],
        *,
        seal: Seal | None = None,
        wrap: Callable[[str], Result] = text_result,
    ) -> None:
        """
        Without a `seal` there is no ``requestState``, and one round.

        `conclude` is given the answers by their keys; `wrap` makes a result of a text.
        """
        self._name = name
        self._rounds = rounds
        self._conclude = conclude
        self._seal = seal
        self._wrap = wrap

    async def answer(self, call: Call) -> Result:
        """
        Ask, ask again for what is missing, or conclude.

        :raises RpcError: -32602: the answers or the state are malformed or not ours;
            -32021: the client did not declare what it would be asked for.
        """
        answers, state = _retry(call)
        number, known = self._resume(answers, state)
        asks = self._rounds[number]
        self._check_declared(call.session.client_capabilities)
        try:
            for ask in asks:
                if ask.key in answers:
                    known[ask.key] = ask.read(answers[ask.key])
        except DeclinedError as declined:
            return self._wrap(f"The user's answer is {declined.action}.")
        if not all(ask.key in known for ask in asks):
            # All of them: answers of a retry that lacked some are not kept.
            return self._asking(number, self._before(number, known))
        if asks is self._rounds[-1]:
            return self._wrap(self._conclude(known))
        return self._asking(number + 1, known)

    def _resume(
        self, answers: Mapping[str, Json], state: str | None
    ) -> tuple[int, dict[str, str]]:
        if self._seal is None:
            if state is not None:
                raise invalid("no requestState was given out")
            return 0, {}
        if state is None:
            if answers:
                raise invalid("inputResponses come with the requestState")
            return 0, {}
        name, number, known = self._seal.open(state)
        if name != self._name:
            raise invalid("this requestState belongs to another request")
        return number, known

    def _check_declared(self, declared: Mapping[str, Any]) -> None:
        lacking = [
            ask.needs
            for asks in self._rounds
            for ask in asks
            if not ask.is_for(declared)
        ]
        if lacking:
            raise missing({name: each[name] for each in lacking for name in each})

    def _before(self, number: int, known: Mapping[str, str]) -> dict[str, str]:
        earlier = {ask.key for asks in self._rounds[:number] for ask in asks}
        return {key: text for key, text in known.items() if key in earlier}

    def _asking(self, number: int, known: Mapping[str, str]) -> Result:
        asked: Result = {
            "resultType": "input_required",
            "inputRequests": {ask.key: ask.request() for ask in self._rounds[number]},
        }
        if self._seal is not None:
            asked["requestState"] = self._seal.close([self._name, number, known])
        return asked


def _retry(call: Call) -> tuple[dict[str, Json], str | None]:
    """The answers and the state that a request brings."""
    answers = call.params.get("inputResponses", {})
    state = call.params.get("requestState")
    if not isinstance(answers, dict):
        raise invalid("inputResponses is an object")
    if "requestState" in call.params and not isinstance(state, str):
        raise invalid("requestState is a string")
    return answers, state
