"""
Which client a repository judges, as it says itself: ``[tool.mcpconf]``.

The table is read strictly. Whatever is wrong with it is said at once, one line each,
and nothing is guessed: an unknown key is a typing error, not a wish.
"""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mcpconf.client.manifest import MANIFESTS
from mcpconf.decode import Reader
from mcpconf.errors import DecodeError, UsageError
from mcpconf.record import AuthMode, Source, WarningPolicy
from mcpconf.revision import KNOWN, Revision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from enum import StrEnum

TABLE = "tool.mcpconf"
KEYS = (
    "client",
    "command",
    "binary",
    "revisions",
    "only",
    "baseline",
    "warnings",
    "auth",
)

T = TypeVar("T")
Word = TypeVar("Word", bound="StrEnum")

#: What names another client than the configured one.
_CLIENT = frozenset({"--client", "--client-command"})
#: What names scenarios, and so says itself whose are run.
_NAMED = frozenset({"--official-scenario", "--supplemental-scenario"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """A client, and how it is to be judged. Paths are absolute."""

    #: A client mcpconf knows; None where there is a command.
    client: str | None = None
    #: The words of any program that follows the launch contract.
    command: tuple[str, ...] = ()
    binary: Path | None = None
    revisions: tuple[Revision, ...] = KNOWN
    #: The suite's scenarios or ours alone; None: both.
    only: Source | None = None
    baseline: Path | None = None
    warnings: WarningPolicy | None = None
    auth: AuthMode | None = None

    def words(
        self, given: Sequence[str], *, revision: Revision | None = None
    ) -> tuple[str, ...]:
        """
        The options of ``mcpconf run`` that say the same, for one revision or for all.

        `given` is what the caller adds on the command line. It wins, so whatever it
        decides is left out; another client also brings no binary and no baseline of
        this one. It is not part of the result.
        """
        decided = {word.partition("=")[0] for word in given}
        words: list[str] = []

        def add(option: str, value: object, *, unless: frozenset[str]) -> None:
            if value is not None and not decided & (unless | {option}):
                words.append(f"{option}={value}")

        command = shlex.join(self.command) if self.command else None
        add("--client", self.client, unless=_CLIENT)
        add("--client-command", command, unless=_CLIENT)
        add("--binary", self.binary, unless=_CLIENT)
        if revision is not None:
            words.append(f"--revision={revision.value}")
        elif self.revisions != KNOWN and "--revision" not in decided:
            words += [f"--revision={each.value}" for each in self.revisions]
        add("--only", self.only, unless=_NAMED)
        add("--baseline", self.baseline, unless=_CLIENT)
        add("--warnings", self.warnings, unless=frozenset())
        if self.auth is AuthMode.STRICT:
            words.append("--require-automatic-auth")
        return tuple(words)


def read_pyproject(path: Path) -> Adoption | None:
    """
    The ``[tool.mcpconf]`` table of a ``pyproject.toml``; None where there is none.

    Paths in it are relative to the file's directory.

    :raises DecodeError: the file cannot be read, or is not TOML in UTF-8.
    :raises UsageError: the table is refused by `decode`.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DecodeError(path, "", f"cannot be read: {error.strerror}") from None
    try:
        document = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise DecodeError(path, f"byte {error.start}", "is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise DecodeError(path, "", str(error)) from None
    tool = document.get("tool", {})
    if not isinstance(tool, dict) or "mcpconf" not in tool:
        return None
    return decode(tool["mcpconf"], path, TABLE)


def decode(table: object, source: Path | str, where: str = "") -> Adoption:
    """
    One table, strictly; `source` is the file it stands in, which its paths start from.

    :raises UsageError: everything that is wrong with it, one line each.
    """
    found = _Findings(Reader(cast("Any", table), source, where))
    if not isinstance(table, dict):
        found.note(lambda: found.table.fail("expected a table"), None)
        found.refuse()
    found.note(lambda: found.table.only(*KEYS), None)
    root = Path(source).absolute().parent
    adoption = Adoption(
        client=found.read("client", _client, None),
        command=found.read("command", _command, ()),
        binary=found.read("binary", lambda each: root / _text(each), None),
        revisions=found.read("revisions", _revisions, KNOWN),
        only=found.read("only", lambda each: _word(Source, each), None),
        baseline=found.read("baseline", lambda each: _baseline(each, root), None),
        warnings=found.read("warnings", lambda each: _word(WarningPolicy, each), None),
        auth=found.read("auth", lambda each: _word(AuthMode, each), None),
    )
    found.note(lambda: _together(found.table), None)
    found.refuse()
    return adoption


class _Findings:
    """A table that is read on after a fault."""

    def __init__(self, table: Reader) -> None:
        self.table = table
        self._lines: list[str] = []

    def note(self, action: Callable[[], T], instead: T) -> T:
        """What `action` gives; a fault is kept, and `instead` takes its place."""
        try:
            return action()
        except DecodeError as error:
            self._lines.append(str(error))
            return instead

    def read(self, key: str, decoder: Callable[[Reader], T], absent: T) -> T:
        """One member, if it is there."""
        members = cast("Mapping[str, object]", self.table.value)
        if key not in members:
            return absent
        return self.note(lambda: decoder(self.table.key(key)), absent)

    def refuse(self) -> None:
        """Raise what was found, if anything was."""
        if self._lines:
            raise UsageError("\n".join(self._lines))


def _together(table: Reader) -> None:
    """What no member can say alone."""
    has = table.object().keys()
    if {"client", "command"} <= has:
        table.fail("client and command exclude each other; keep the one that is meant")
    if not {"client", "command"} & has:
        known = ", ".join(sorted(MANIFESTS))
        table.fail(
            "name the client under test: command, an array of words, or client, "
            f"one of {known}"
        )
    if "binary" in has and table.object().get("client") != "codex":
        table.fail('binary is for client = "codex"; a command names its own program')


def _text(reader: Reader) -> str:
    text = reader.string()
    if not text:
        reader.fail("is empty")
    if "\0" in text:
        reader.fail("holds a NUL, which no argument can")
    return text


def _client(reader: Reader) -> str:
    name = _text(reader)
    if name not in MANIFESTS:
        reader.fail(f"{name!r} is not known; known are {', '.join(sorted(MANIFESTS))}")
    return name


def _command(reader: Reader) -> tuple[str, ...]:
    words = list(reader.items())
    if not words:
        reader.fail("is empty; give the program and its arguments, one word each")
    program = _text(words[0])
    rest = [each.string() for each in words[1:]]  # an empty argument is one
    for each, text in zip(words[1:], rest, strict=True):
        if "\0" in text:
            each.fail("holds a NUL, which no argument can")
    return (program, *rest)


def _revisions(reader: Reader) -> tuple[Revision, ...]:
    wanted = [_word(Revision, each) for each in reader.items()]
    if not wanted:
        reader.fail("is empty; leave it out for all revisions")
    if len(set(wanted)) != len(wanted):
        reader.fail("names a revision twice")
    return tuple(each for each in KNOWN if each in wanted)


def _baseline(reader: Reader, root: Path) -> Path:
    path = root / _text(reader)
    if not path.is_file():
        reader.fail(f"{path}: no such file; extract it first (docs/adopt.md)")
    return path


def _word(kind: type[Word], reader: Reader) -> Word:
    if not isinstance(reader.value, str):
        reader.fail("expected a string in quotes")
    known = [each.value for each in kind]
    if reader.value not in known:
        reader.fail(f"{reader.value!r} is not known; known are {', '.join(known)}")
    return kind(reader.value)
