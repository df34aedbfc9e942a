"""
Known secrets, wherever they stand and however they are written.

Two searches, because each sees what the other misses: for the forms an encoder would
write (exact, whatever stands beside them), and, once escapes are resolved to any
depth, for the secret itself (whatever mixture of escapes was used).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, quote_plus

from mcpconf.redaction.escape import Resolved
from mcpconf.redaction.name import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Shorter values turn up by chance in identifiers, times and digests.
MIN_LENGTH = 6
#: Below this number of different characters a value is a rule or padding.
MIN_DISTINCT = 3
# A secret that is (part of) one of these words would take the meaning out of every
# message, or spoil the placeholder itself; it is still redacted by its place.
_VOCABULARY = f"""
{PLACEHOLDER}
authorization bearer basic dpop digest cookie content-type accept user-agent
application/json text/event-stream application/x-www-form-urlencoded
access_token refresh_token id_token client_secret client_id private_key_pem
client_assertion subject_token actor_token password api_key code_verifier
code_challenge device_code authorization_code client_credentials redirect_uri
grant_type token_type expires_in mcp-session-id mcp-protocol-version jsonrpc
initialize notifications/initialized server/discover tools/list tools/call
resources/list resources/read prompts/list prompts/get protocolversion
/token /authorize /register /mcp
request response response-start listen close finished closed open
failure warning success skipped info
done client-error unsupported adapter-fault
exited signalled timed-out stopped failed-to-start
schema driver verdict steps detail error exit_code signal
http://localhost https://localhost http://127.0.0.1 https://127.0.0.1
2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28 mcpconf conformance
""".lower()

_BREAK = re.compile(r"[\r\n]+")
_PEM_BREAK = re.compile(r"(?:[\r\n]|\\+[rn])+")
_PERCENT = re.compile("%..")
_PEM_MARK = "-----BEGIN"


def _base64_cores(data: bytes) -> Iterator[bytes]:
    """The characters that hold nothing but `data`, at each of the three alignments."""
    for offset in range(3):
        bits = 8 * offset
        first, last = -(-bits // 6), (bits + 8 * len(data)) // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(offset) + data + bytes(2))[first:last]


class _Known(NamedTuple):
    """One secret: its label, and what to search for."""

    label: str
    value: str
    exact: tuple[bytes, ...]
    resolved: tuple[bytes, ...]

    @classmethod
    def of(cls, label: str, value: str) -> _Known:
        plain = value.encode("utf-8", "surrogatepass")
        ascii_only = json.dumps(value)[1:-1]
        escaped = [value]
        for _ in range(3):
            escaped.append(json.dumps(escaped[-1], ensure_ascii=False)[1:-1])
        texts = [
            *(text.encode("utf-8", "surrogatepass") for text in escaped),
            ascii_only.encode(),
        ]
        for quoted in (
            quote(ascii_only, safe=""),
            quote(plain),
            quote(plain, safe=""),
            quote_plus(plain),
        ):
            lower = _PERCENT.sub(lambda match: match[0].lower(), quoted)
            texts += quoted.encode(), lower.encode()
        cores = [core for text in dict.fromkeys(texts) for core in _base64_cores(text)]
        return cls(
            label=label,
            value=value,
            exact=tuple(dict.fromkeys([*texts, *cores])),
            resolved=tuple(dict.fromkeys([Resolved(plain).data, *cores])),
        )


class _Index:
    """Finds many byte strings in one reading of the data."""

    def __init__(self, forms: Iterable[tuple[str, tuple[bytes, ...]]]) -> None:
        self._by_head: dict[bytes, list[tuple[str, bytes]]] = {}
        for label, each in forms:
            for form in each:
                head = form[:MIN_LENGTH]
                self._by_head.setdefault(head, []).append((label, form))
        # Heads with the same first byte together: the engine then decides by it.
        tails: dict[bytes, list[bytes]] = {}
        for head in self._by_head:
            tails.setdefault(re.escape(head[:1]), []).append(re.escape(head[1:]))
        self._heads = re.compile(
            b"|".join(
                first + b"(?:" + b"|".join(rest) + b")" for first, rest in tails.items()
            )
        )

    def occurrences(self, data: bytes) -> Iterator[tuple[str, int, int]]:
        """Every place of every form: label, start and end."""
        head = self._heads.search(data) if self._by_head else None
        while head is not None:
            start = head.start()
            for label, form in self._by_head[head[0]]:
                if data.startswith(form, start):
                    yield label, start, start + len(form)
            head = self._heads.search(data, start + 1)


def _is_bearable(value: str) -> bool:
    """Whether the log would survive the removal of `value`."""
    return (
        len(value) >= MIN_LENGTH
        and len(set(value)) >= MIN_DISTINCT
        and value.lower() not in _VOCABULARY
        and PLACEHOLDER not in value
        and not value.startswith("-----")
        and not value.isspace()
    )


@dataclass(frozen=True, slots=True)
class Secrets:
    """
    The secrets a run knows. Neither its text nor an answer of it quotes one.

    Ignored, because removing them would destroy the log: values under six
    characters, of fewer than three different characters, containing the placeholder,
    or part of the protocol's own vocabulary. A value of several lines counts line by
    line.
    """

    _known: tuple[_Known, ...] = ()
    _exact: _Index = field(init=False, compare=False)
    _resolved: _Index = field(init=False, compare=False)

    def __post_init__(self) -> None:
        known = self._known
        for name, forms in (
            ("_exact", [(each.label, each.exact) for each in known]),
            ("_resolved", [(each.label, each.resolved) for each in known]),
        ):
            object.__setattr__(self, name, _Index(forms))

    @classmethod
    def of(cls, values: Mapping[str, str] | Iterable[str]) -> Secrets:
        """Labelled secrets, or secrets labelled ``secret 1`` and so on."""
        if isinstance(values, Mapping):
            labelled: Iterable[tuple[str, str]] = values.items()
        else:
            labelled = (
                (f"secret {number}", value) for number, value in enumerate(values, 1)
            )
        known: dict[str, _Known] = {}
        for label, value in labelled:
            end = _PEM_BREAK if _PEM_MARK in value else _BREAK
            for line in end.split(value):
                if line not in known and _is_bearable(line):
                    known[line] = _Known.of(label, line)
        return cls(tuple(known.values()))

    def union(self, other: Secrets) -> Secrets:
        """The secrets of both; where both know one, this one's label stays."""
        mine = {each.value for each in self._known}
        new = tuple(each for each in other._known if each.value not in mine)
        return Secrets(self._known + new)

    def __bool__(self) -> bool:
        return bool(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"<Secrets: {len(self)}>"

    def find_in(self, data: bytes) -> tuple[str, ...]:
        """The labels of the secrets that occur in `data` in any form."""
        found = {label for label, _, _ in self._spans(data)}
        labels = dict.fromkeys(each.label for each in self._known)
        return tuple(label for label in labels if label in found)

    def redact(self, text: str) -> str:
        """`text` with a placeholder for every secret in it."""
        if not self._known or not text:
            return text
        data = text.encode("utf-8", "surrogatepass")
        # Placeholders are never searched, nor anything across one.
        mark = PLACEHOLDER.encode()
        parts = [self._redact_part(part) for part in data.split(mark)]
        return mark.join(parts).decode("utf-8", "surrogatepass")

    def _redact_part(self, data: bytes) -> bytes:
        spans = sorted((start, end) for _, start, end in self._spans(data))
        kept: list[bytes] = []
        position = 0
        for start, end in _merged(spans):
            kept += data[position:start], PLACEHOLDER.encode()
            position = end
        return b"".join((*kept, data[position:]))

    def _spans(self, data: bytes) -> Iterator[tuple[str, int, int]]:
        """Where in `data` which secret stands; no escape is cut in two."""
        if b"%" not in data and b"\\" not in data:
            yield from self._exact.occurrences(data)
            return
        resolved = Resolved(data)
        for label, start, end in self._exact.occurrences(data):
            yield label, *resolved.whole(start, end)
        for label, start, end in self._resolved.occurrences(resolved.data):
            yield label, *resolved.origin(start, end)


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Sorted stretches, overlapping ones as one."""
    for index, (start, end) in enumerate(spans):
        if index == 0:
            first, last = start, end
        elif start >= last:
            yield first, last
            first, last = start, end
        last = max(last, end)
    if spans:
        yield first, last


#: No known secret: redaction by place alone.
NONE = Secrets()
