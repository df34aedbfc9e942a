"""
What may be kept of a case: everything passes here between memory and the run's files.

Secrets are taken out twice: by their place, record by record, and then by value, since
a token seen on the wire also turns up in logs and traces. The second pass runs over
each whole text at once, and again string by string where that did not leave JSON.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from mcpconf.redaction import PLACEHOLDER, Secrets, collect, redact_json, redact_text
from mcpconf.storage import write_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpconf.decode import Json

#: The line in which the suite prints what it hands to the client.
_CONTEXT_MARK = "With context: "
#: Files that hold nothing but secrets.
_NEVER_KEPT = frozenset({".credentials.json", "auth.json", "job.json"})
_MAX_KEPT_BYTES = 8 * 1024 * 1024


#: Variables whose values are secret by their names, beside those of every text.
_SECRET_NAME = re.compile(r"(?:KEY|PAT|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
#: A shorter value may stand anywhere by chance.
_LEAST_SECRET = 8


def secrets_of(environment: Mapping[str, str]) -> set[str]:
    """The values of an environment that its names tell to be secret."""
    by_name = {
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name.upper()) and len(value) >= _LEAST_SECRET
    }
    return by_name | set(collect(dict(environment)))


def values_in_query(url: str) -> set[str]:
    """The values in the query of a server's URL: a server may let in by any of them."""
    pairs = parse_qsl(urlsplit(url).query)
    raw = {part.partition("=")[2] for part in urlsplit(url).query.split("&")}
    found = raw | {value for _, value in pairs}
    return {value for value in found if len(value) >= _LEAST_SECRET}


@dataclass(frozen=True, slots=True)
class Retention:
    """The secrets of one case, and the wire log they were found in."""

    _lines: tuple[str, ...]
    _secrets: Secrets

    @classmethod
    def of(
        cls,
        *,
        wire: str,
        texts: Sequence[str],
        checks: Json,
        secrets: Collection[str] = (),
    ) -> Retention:
        """
        Learn every secret that the wire, the suite's output or its checks show.

        `secrets` are known before; see `secrets_of` and `values_in_query`.
        """
        lines = tuple(line for line in wire.split("\n") if line)
        found = collect(checks) | set(secrets)
        for line in lines:
            found |= collect(_decoded(line))
        for text in texts:
            for context in _contexts(text):
                found |= collect(context)
        return cls(lines, Secrets.of(found))

    def wire(self) -> str:
        """The wire log, one record a line; a torn line stays torn."""
        if not self._lines:
            return ""
        records = [redact_json(_decoded(line)) for line in self._lines]
        text = "\n".join(
            record if isinstance(record, str) else json.dumps(record)
            for record in records
        )
        cleared = self._secrets.redact(text).split("\n")
        lines = (
            line if isinstance(record, str) else json.dumps(self._whole(record, line))
            for record, line in zip(records, cleared, strict=True)
        )
        return "\n".join(lines) + "\n"

    def json(self, value: Json) -> Json:
        """A JSON value without secrets."""
        record = redact_json(_without_tokens(value))
        return self._whole(record, self._secrets.redact(json.dumps(record)))

    def _whole(self, record: Json, cleared: str) -> Json:
        """What a cleared text says; string by string where it is JSON no more."""
        try:
            value: Json = json.loads(cleared)
        except ValueError:
            # A secret of digits was found in a number, one with a quotation mark
            # across two strings.
            return self._by_string(record)
        return value

    def _by_string(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._secrets.redact(value)
        if isinstance(value, list):
            return [self._by_string(each) for each in value]
        if isinstance(value, dict):
            return {
                self._secrets.redact(name): self._by_string(each)
                for name, each in value.items()
            }
        return value

    def text(self, text: str) -> str:
        """A text without secrets."""
        return redact_text(text, self._secrets)

    def keep_tree(self, source: Path, destination: Path) -> None:
        """
        Copy a case's directory, text by text, without secrets.

        What cannot be cleared is left out and named in ``LEFT-OUT.txt``: files that
        are nothing but secrets, that hold one in binary form, or that are too large.

        :raises StorageError: a copy could not be written.
        """
        left_out = []
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source)
            if path.is_symlink() or not path.is_file():
                continue
            reason = self._keep(path, destination / name)
            if reason is not None:
                left_out.append(f"{name}: {reason}\n")
        names = self.text("".join(left_out)).encode("utf-8", "backslashreplace")
        write_whole(destination / "LEFT-OUT.txt", names)

    def _keep(self, path: Path, destination: Path) -> str | None:
        if path.name in _NEVER_KEPT or self._secrets.find_in(os.fsencode(path)):
            return "holds secrets"
        if path.stat().st_size > _MAX_KEPT_BYTES:
            return f"larger than {_MAX_KEPT_BYTES} bytes"
        try:
            content = path.read_bytes()
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            if self._secrets.find_in(content):
                return "holds a secret in binary form"
            write_whole(destination, content)
            return None
        value = _decoded(text)
        if not isinstance(value, str):
            text = json.dumps(self.json(value), indent=2)
        write_whole(destination, self.text(text).encode("utf-8", "backslashreplace"))
        return None


def _decoded(line: str) -> Json:
    """A record, or the text itself where it is not JSON (torn by a kill)."""
    try:
        value: Json = json.loads(line)
    except ValueError:
        return line
    return value


def _without_tokens(value: Json) -> Json:
    """
    A tree without members called ``token``.

    The suite notes the first characters of every token it saw under that name: too
    little to be found by value, and more than anybody needs.
    """
    if isinstance(value, list):
        return [_without_tokens(each) for each in value]
    if isinstance(value, dict):
        return {
            name: PLACEHOLDER if name == "token" else _without_tokens(each)
            for name, each in value.items()
        }
    return value


def _contexts(text: str) -> Iterator[Json]:
    for line in text.splitlines():
        if line.startswith(_CONTEXT_MARK):
            yield _decoded(line.removeprefix(_CONTEXT_MARK))
