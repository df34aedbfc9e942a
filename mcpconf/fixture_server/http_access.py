"""
Whom a request is for, and from: pages elsewhere must not reach a server on loopback.

A request's target is a path, or a whole URL (RFC 9112, 3.2.2), whose authority then
stands for ``Host``.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpconf.fixture_server.admission import INVALID_REQUEST
from mcpconf.fixture_server.call import RpcError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_ABSOLUTE = re.compile(r"http://([^/?#]*)", re.IGNORECASE)


def path_of(target: str) -> str:
    """The path that a request's target names, without a query."""
    absolute = _ABSOLUTE.match(target)
    path = target[absolute.end() if absolute else 0 :].partition("?")[0]
    return path or "/"


def check_access(
    headers: Mapping[str, Sequence[str]],
    target: str,
    *,
    host: str,
    allowed_origins: Sequence[str],
) -> None:
    """
    Refuse what DNS rebinding would send (specification, "Security Warning").

    ``Host`` is loopback, or the `host` that the server was bound to; ``Origin``, where
    there is one, is http(s) on loopback or one of `allowed_origins`.

    :raises RpcError: HTTP 403.
    """
    absolute = _ABSOLUTE.match(target)
    for value in (absolute[1],) if absolute else headers.get("host", ()):
        name = _host_of("//" + value)
        if name != host and not _is_loopback(name):
            raise _forbidden("Host")
    for value in headers.get("origin", ()):
        if value not in allowed_origins and not _is_local_origin(value):
            raise _forbidden("Origin")


def _forbidden(name: str) -> RpcError:
    return RpcError(INVALID_REQUEST, f"Forbidden: {name} is not allowed", status=403)


@lru_cache(maxsize=64)
def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


@lru_cache(maxsize=64)
def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_local_origin(value: str) -> bool:
    return value.startswith(("http://", "https://")) and _is_loopback(_host_of(value))
