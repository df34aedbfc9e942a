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
from mcpconf.revision import KNOWN, Era
from mcpconf.transport import Transport

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping, Sequence

    from mcpconf.revision import Revision

#: What a flag is where it is not given, and so its type. A list may be given often.
_DEFAULTS: Mapping[str, Any] = {
    "revision": KNOWN[-1].value,
    "transport": Transport.STDIO.value,
    "profile": [],
    "everything": False,
    "host": "127.0.0.1",
    "port": 0,
    "endpoint": "/mcp",
    "allowed_origin": [],
    "log": "",
    **{each.name: each.default for each in fields(Limits)},
}


_EXAMPLES = """\
example of the handshake era, over HTTP, with two profiles:
  python -m mcpconf.fixture_server --revision 2025-11-25 --transport http \\
    --port 8765 --profile sse-cr --profile status-429

  curl -i http://127.0.0.1:8765/mcp -H 'Content-Type: application/json' \\
    -H 'Accept: application/json, text/event-stream' \\
    -d '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
         {"protocolVersion": "2025-11-25", "capabilities": {},
          "clientInfo": {"name": "curl", "version": "1"}}}'

example of the stateless era:
  python -m mcpconf.fixture_server --transport http --port 8766

  curl -i http://127.0.0.1:8766/mcp -H 'Content-Type: application/json' \\
    -H 'Accept: application/json, text/event-stream' \\
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \\
    -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta":
         {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "1"}}}}'
"""
_HELP = {
    "revision": f"{', '.join(KNOWN)} (default: %(default)s)",
    "transport": f"{', '.join(Transport)} (default: %(default)s)",
    "profile": "a fault profile, from the list below; may be given often "
    "(default: none, the good server)",
    "everything": "HTTP: also have all that the official suite's server scenarios "
    "ask for (at 2026-07-28 with --profile tasks)",
    "host": "HTTP (default: loopback)",
    "port": "HTTP (default: any free)",
    "endpoint": "HTTP (default: /mcp)",
    "allowed_origin": "HTTP: an Origin that is not refused; may be given often",
    "log": "append the wire log to this file",
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
    words = iter(argv)
    for flag in words:
        name = names.get(flag)
        if name is None:
            return None
        if isinstance(given[name], bool):
            given[name] = True
            continue
        word = next(words, "-")
        if word.startswith("-"):
            return None
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
        epilog=f"{_EXAMPLES}\n{_profile_list()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    group = parser.add_argument_group("limits of the profiles")
    limits = {each.name: each.metadata["help"] for each in fields(Limits)}
    for name, default in _DEFAULTS.items():
        if isinstance(default, list):
            parser.add_argument(
                flag_of(name), action="append", default=[], help=_HELP[name]
            )
        elif isinstance(default, bool):
            parser.add_argument(flag_of(name), action="store_true", help=_HELP[name])
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
                help=_HELP[name],
            )
    return parser


def _profile_list() -> str:
    """The profiles, one a line: where they apply and what the server then does."""
    eras = [
        f"{era}: {', '.join(each for each in KNOWN if each.era is era)}" for era in Era
    ]
    lines = [
        "profiles (name, transport, revisions, what the server does)",
        f"  {'; '.join(eras)}",
        "  a profile about the answer of a call adds the tool of its name, with",
        "  underscores: sse-cr adds sse_cr; tools/list has all that were added",
        "",
    ]
    for name in sorted(PROFILES):
        profile = PROFILES[name]
        transport = _any_of(profile.transports, tuple(Transport))
        revisions = _revisions(profile.revisions)
        lines.append(f"  {name:<30}{transport:<7}{revisions:<11}{profile.title}")
    return "\n".join(lines)


def _revisions(some: Collection[Revision]) -> str:
    """The eras of revisions, where they are all that an era has."""
    eras = {each.era for each in some}
    whole = [each for each in KNOWN if each.era in eras]
    if len(whole) != len(some):
        return _any_of(some, KNOWN)
    return _any_of(eras, tuple(Era))


def _any_of(some: Collection[str], every: Collection[str]) -> str:
    return "any" if len(some) == len(every) else ", ".join(sorted(some))
