"""
The command line of the fixture server: everything is checked, then it serves.

Every refusal is one line on stderr with exit code 2, and nothing was served. Standard
output belongs to the transport.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from mcpconf.errors import ExitCode, McpconfError, UsageError
from mcpconf.fixture_server.arguments import flag_of, parse
from mcpconf.fixture_server.log import Log
from mcpconf.fixture_server.options import LIMIT_NAMES, Limits, Options
from mcpconf.fixture_server.profile import PROFILES
from mcpconf.fixture_server.server import Server
from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_PORT_MAX = 65_535
_ENDPOINT = re.compile(r"/(?:(?![?#])[!-~])*")


def options_from(argv: Sequence[str]) -> tuple[Options, str | None]:
    """
    What the arguments ask for, checked, and the log's path.

    :raises UsageError: what to change.
    """
    given = parse(argv)
    revision = Revision(_known("revision", given["revision"], map(str, Revision)))
    transport = Transport(_known("transport", given["transport"], map(str, Transport)))
    for name in given["profile"]:
        _check_profile(name, revision, transport)
    if given["everything"] and transport is not Transport.HTTP:
        raise UsageError(f"--everything: is for --transport {Transport.HTTP} only")
    port, endpoint = given["port"], given["endpoint"]
    if not 0 <= port <= _PORT_MAX:
        raise UsageError(f"--port: {port} is not between 0 and {_PORT_MAX}")
    if not given["host"]:
        raise UsageError("--host: is empty; name an address, as 127.0.0.1")
    if not _ENDPOINT.fullmatch(endpoint):
        problem = "is no path: a slash, then printable ASCII but no space, ? or #"
        raise UsageError(f"--endpoint: {endpoint!r} {problem}")
    options = Options(
        revision=revision,
        transport=transport,
        profiles=tuple(dict.fromkeys(given["profile"])),
        everything=given["everything"],
        limits=_limits(given),
        host=given["host"],
        port=port,
        endpoint=endpoint,
        allowed_origins=tuple(given["allowed_origin"]),
    )
    return options, given["log"] or None


def _known(what: str, name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    if name in names:
        return name
    import difflib  # noqa: PLC0415 (for a mistake only)

    alike = difflib.get_close_matches(name, names, n=1)
    hint = f" (did you mean {alike[0]}?)" if alike else ""
    listed = ", ".join(names) or "none"
    raise UsageError(f"unknown {what} {name!r}{hint}; known: {listed}")


def _check_profile(name: str, revision: Revision, transport: Transport) -> None:
    if name not in PROFILES:
        import difflib  # noqa: PLC0415 (for a mistake only)

        alike = ", ".join(difflib.get_close_matches(name, PROFILES, n=3, cutoff=0))
        raise UsageError(
            f"unknown profile {name!r}; closest: {alike}; --help lists them all"
        )
    profile = PROFILES[name]
    for what, value, allowed in (
        ("transport", transport, profile.transports),
        ("revision", revision, profile.revisions),
    ):
        if value not in allowed:
            others = ", ".join(sorted(allowed))
            raise UsageError(
                f"profile {name} is not for {what} {value}; it is for {others}"
            )


def _limits(given: Mapping[str, Any]) -> Limits:
    values: dict[str, Any] = {name: given[name] for name in LIMIT_NAMES}
    for each in fields(Limits):
        value, flag = values[each.name], flag_of(each.name)
        least, greatest = each.metadata["least"], each.metadata["greatest"]
        if value > greatest:
            raise UsageError(f"{flag}: {value} is more than {greatest}")
        if not value >= least:  # nor is what is no number
            raise UsageError(f"{flag}: {value} is less than {least}, or no number")
    return Limits(**values)


def serve(options: Options, log_path: str | None) -> int:
    """
    Serve until the transport ends; the exit code.

    :raises UsageError: the log cannot be written, or the address not be had.
    """
    try:
        log = Log(log_path)
        try:
            return asyncio.run(_serve(Server(options, log)))
        finally:
            log.close()
    except OSError as error:
        if log_path is None or error.filename != log_path:
            raise
        raise UsageError(f"--log: {log_path}: {error.strerror}") from error


async def _serve(server: Server) -> int:
    # Each transport is imported where it is wanted: a stdio server starts often.
    if server.options.transport is Transport.STDIO:
        from mcpconf.fixture_server import stdio  # noqa: PLC0415

        return await stdio.serve(server)
    try:
        from mcpconf.fixture_server import http  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "h11":
            raise
        problem = "needs h11, which is not found: install mcpconf (pip install -e .)"
        raise UsageError(f"--transport http: {problem}") from error

    def ready(url: str) -> None:
        sys.stderr.write(f"listening on {url}\n")
        sys.stderr.flush()

    await http.serve(server, server.options, ready)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        return serve(*options_from(sys.argv[1:] if argv is None else argv))
    except McpconfError as error:
        line = " ".join(str(error).split())
        sys.stderr.write(f"mcpconf: error: {line}\n")
        return int(error.exit_code)
    except KeyboardInterrupt:  # HTTP; stdio heeds the signal itself
        return int(ExitCode.HARNESS)
