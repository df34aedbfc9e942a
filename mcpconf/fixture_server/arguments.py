"""
The words of the command line, not yet checked.

A server is mostly started with flags and values, one word each. Those are read here;
argparse, which takes longer to import than they to read, gets the rest: help, other
spellings, and every mistake.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn

from mcpconf.errors import UsageError
from mcpconf.fixture_server.options import Limits
from mcpconf.fixture_server.profile import PROFILES
from mcpconf.revision import KNOWN
from mcpconf.transport import Transport

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

#: What a flag is where it is not given, and so its type. A list may be given often.
_DEFAULTS: Mapping[str, Any] = {
    "revision": KNOWN[-1].value,
    "transport": Transport.STDIO.value,
    "profile": [],
    "host": "127.0.0.1",
    "port": 0,
    "endpoint": "/mcp",
    "allowed_origin": [],
    "log": "",
    **{each.name: each.default for each in fields(Limits)},
}


def flag_of(name: str) -> str:
    """The flag of one of the names that `parse` gives."""
    return f"--{name.replace('_', '-')}"


def parse(argv: Sequence[str]) -> Mapping[str, Any]:
    """
    What is given for each flag, or its default; an empty `log` is none.

    :raises UsageError: what to change.
    """
    plain = _plain(argv)
    return vars(_parser().parse_args(argv)) if plain is None else plain


def _plain(argv: Sequence[str]) -> dict[str, Any] | None:
    """As argparse would have it; None where it shall have its say."""
    names = {flag_of(name): name for name in _DEFAULTS}
    given = {
        name: [] if isinstance(default, list) else default
        for name, default in _DEFAULTS.items()
    }
    if len(argv) % 2:
        return None
    for flag, word in zip(argv[::2], argv[1::2], strict=True):
        if flag not in names or word.startswith("-"):
            return None
        name = names[flag]
        if isinstance(given[name], list):
            given[name].append(word)
            continue
        try:
            given[name] = type(_DEFAULTS[name])(word)
        except ValueError:
            return None
    return given


def _parser() -> argparse.ArgumentParser:
    import argparse  # noqa: PLC0415 (see above)

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise UsageError(message)

    parser = Parser(
        prog="python -m mcpconf.fixture_server",
        description="An MCP server with one known behaviour.",
        epilog="profiles: "
        + "; ".join(f"{name}: {PROFILES[name].title}" for name in PROFILES),
        allow_abbrev=False,
    )
    help_texts = {
        "host": "HTTP (default: loopback)",
        "port": "HTTP (default: any free)",
        "endpoint": "HTTP (default: /mcp)",
        "log": "append the wire log to this file",
    }
    group = parser.add_argument_group("limits of the profiles")
    limits = {each.name: each.metadata["help"] for each in fields(Limits)}
    for name, default in _DEFAULTS.items():
        if isinstance(default, list):
            parser.add_argument(flag_of(name), action="append", default=[])
        elif name in limits:
            group.add_argument(
                flag_of(name),
                type=type(default),
                default=default,
                metavar="N",
                help=f"{limits[name]} (default: {default})",
            )
        else:
            parser.add_argument(
                flag_of(name),
                type=type(default),
                default=default,
                help=help_texts.get(name),
            )
    return parser
