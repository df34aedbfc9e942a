"""One HTTP exchange at a time: no proxy, no redirect, bounded in time and in size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import requests

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMEOUT_S = 10.0
_MAX_BODY = 4 * 1024 * 1024
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Refused(Exception):  # noqa: N818 (the client's answer, not a fault of its own)
    """The client will not go on; the text says why."""


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    #: Names are compared without regard to case.
    headers: Mapping[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """The media type, without parameters, in lower case."""
        kind = self.headers.get("Content-Type") or ""
        return kind.partition(";")[0].strip().lower()

    def json(self) -> dict[str, Any]:
        """
        The JSON object of the body.

        :raises Refused: it is none.
        """
        try:
            value = json.loads(self.body)
        except ValueError:
            raise Refused(f"a body that is not JSON: {self.body[:100]!r}") from None
        if not isinstance(value, dict):
            raise Refused(f"a body that is not a JSON object: {self.body[:100]!r}")
        return value


class Web:
    """The only way out."""

    def __init__(self) -> None:
        self._session = requests.Session()
        self._session.trust_env = False

    def get(self, url: str) -> Answer:
        """GET a document."""
        return self._send("GET", url, headers={"Accept": "application/json"})

    def post_form(
        self, url: str, form: Mapping[str, str], headers: Mapping[str, str]
    ) -> Answer:
        """POST a form, as OAuth's endpoints take it."""
        headers = {"Accept": "application/json", **headers}
        return self._send("POST", url, data=dict(form), headers=headers)

    def post_json(
        self, url: str, value: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Answer:
        """POST a JSON object."""
        return self._send("POST", url, json=value, headers=dict(headers))

    def delete(self, url: str, headers: Mapping[str, str]) -> Answer:
        """DELETE, which ends a session."""
        return self._send("DELETE", url, headers=dict(headers))

    def _send(self, method: str, url: str, **more: Any) -> Answer:  # noqa: ANN401
        """
        Send one request, read the whole answer.

        :raises Refused: the address is neither HTTPS nor on the loopback, or the
            answer is too large.
        :raises requests.RequestException: no answer came.
        """
        target = urlsplit(url)
        at_home = target.scheme == "http" and target.hostname in _LOOPBACK
        if target.scheme != "https" and not at_home:
            raise Refused(f"{target.scheme}://{target.netloc} is not secure")
        with self._session.request(
            method,
            url,
            timeout=_TIMEOUT_S,
            allow_redirects=False,
            stream=True,
            **more,
        ) as response:
            body = bytearray()
            for chunk in response.iter_content(1 << 16):
                body += chunk
                if len(body) > _MAX_BODY:
                    raise Refused(f"{url}: a body of over {_MAX_BODY} bytes")
            return Answer(response.status_code, response.headers, bytes(body))
