"""Servers that speak versions which the client does not, or say so at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.admission import METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.revision import Era, Revision

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.log import Log
    from mcpconf.fixture_server.options import Options

#: Older and newer than any that there is.
UNKNOWN_OLD, UNKNOWN_NEW = "1999-01-01", "2099-01-01"
_VERSION = "io.modelcontextprotocol/protocolVersion"
_HANDSHAKE = frozenset(each for each in Revision if each.era is Era.HANDSHAKE)
_STATELESS = frozenset(Revision) - _HANDSHAKE


class _Agrees(Profile):
    """Answers ``initialize`` with a version of its own."""

    revisions = _HANDSHAKE
    version: ClassVar[str]

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:
        """Change the version."""
        if call.method == "initialize":
            self.fault(f"initialize answered with {self.version}", call)
            result["protocolVersion"] = self.version
        return False


class AgreesOnOld(_Agrees):
    """A version from before there was a protocol."""

    name = "agrees-on-1999"
    title = f"initialize is answered with {UNKNOWN_OLD}"
    version = UNKNOWN_OLD


class AgreesOnNew(_Agrees):
    """A version that is still to come."""

    name = "agrees-on-2099"
    title = f"initialize is answered with {UNKNOWN_NEW}"
    version = UNKNOWN_NEW


def _refusal(call: Call, supported: list[str]) -> RpcError:
    requested = str(call.meta.get(_VERSION))
    data = {"supported": supported, "requested": requested}
    message = "Unsupported protocol version"
    return RpcError(UNSUPPORTED_VERSION, message, data, status=400)


class NoCommonVersion(Profile):
    """Stateless, and of versions that nobody knows."""

    name = "no-common-version"
    title = "every request is refused by -32022, naming unknown versions alone"
    revisions = _STATELESS

    async def intercept(self, call: Call) -> bool:
        """Refuse."""
        supported = [UNKNOWN_OLD, UNKNOWN_NEW]
        if call.method == "initialize":
            message = "Method not found: initialize"
            data = {"supported": supported}
            raise RpcError(METHOD_NOT_FOUND, message, data, status=404)
        self.fault(f"{call.method} refused by -32022", call)
        raise _refusal(call, supported)


class FirstRequestUnsupported(Profile):
    """As a server that was restarted with other versions; the leg's is among them."""

    name = "first-request-unsupported"
    title = "the first request is refused by -32022, naming a version both speak"
    revisions = _STATELESS

    def __init__(self, options: Options, log: Log) -> None:
        super().__init__(options, log)
        self._refused = False

    async def intercept(self, call: Call) -> bool:
        """Refuse once."""
        if self._refused or _VERSION not in call.meta:
            return False
        self._refused = True
        self.fault(f"{call.method} refused by -32022", call)
        raise _refusal(call, [UNKNOWN_NEW, self.options.revision.value])


PROFILES: tuple[type[Profile], ...] = (
    AgreesOnOld,
    AgreesOnNew,
    NoCommonVersion,
    FirstRequestUnsupported,
)
