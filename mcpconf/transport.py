"""The two ways of an MCP message between a client and a server."""

from __future__ import annotations

from enum import StrEnum


class Transport(StrEnum):
    """A transport of the specification, in the order in which they are run."""

    STDIO = "stdio"
    HTTP = "http"
