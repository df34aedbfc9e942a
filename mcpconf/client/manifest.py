"""
The clients we know: what each is, how it is driven, what it can do at all.

A manifest is written down and reviewed. It says nothing of conformance; it says which
driver speaks for the client, which scenarios that driver has steps for, what the client
needs of the environment, and which scenarios are driven in a second way.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.client.codex import authorized, plain
from mcpconf.plan import Variant
from mcpconf.record import Role
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One client under test."""

    name: str
    title: str
    #: ``codex`` or ``command``: see `mcpconf.client.entry`; ``server``: none.
    driver: str
    #: How it is obtained, in words for `invoke client.list`.
    obtained: str
    #: Scenarios the driver has steps for; None where only the client can tell.
    scenarios: frozenset[str] | None = None
    #: Scenarios that are beyond the client itself, and what it lacks for them.
    lacks: Mapping[str, str] = field(default_factory=dict)
    #: Features switched on, by revision.
    features: Mapping[Revision, tuple[str, ...]] = field(default_factory=dict)
    #: Names it may see of the caller's environment, beyond the allow-list.
    pass_names: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    is_canary: bool = False

    @property
    def adapter_check(self) -> str:
        """Name of the check that holds the driver's own result."""
        return f"{self.name}-adapter"

    def ruled_out(self, scenario: str) -> str | None:
        """Why a scenario of the suite is not even tried; None: it is."""
        if scenario in self.lacks:
            return self.lacks[scenario]
        if self.scenarios is None or scenario in self.scenarios:
            return None
        return f"the {self.title} driver has no steps for this scenario"


_ONE_GRANT = "Codex can be told of no other grant than the authorization code"
_NO_PROOFS = "Codex makes no DPoP proofs; it would present a bearer token"

CODEX = Manifest(
    name="codex",
    title="OpenAI Codex",
    driver="codex",
    obtained="npm @openai/codex, pinned; the native binary of this platform alone",
    scenarios=frozenset(authorized.SCENARIOS) | frozenset(plain.SCENARIOS),
    lacks={
        "auth/client-credentials-jwt": _ONE_GRANT,
        "auth/client-credentials-basic": _ONE_GRANT,
        "auth/wif-jwt-bearer": _ONE_GRANT,
        "auth/dpop": _NO_PROOFS,
        "auth/dpop-nonce": _NO_PROOFS,
        "auth/enterprise-managed-authorization": (
            "Codex does it for a signed-in Codex user of a workspace alone, "
            "and no account is used here"
        ),
    },
    features={Revision.V2026_07_28: ("mcp_2026_07_28",)},
    variants=(
        Variant(
            name="auto_cimd",
            scenario="auth/offline-access-scope",
            revision=Revision.V2026_07_28,
            options={"auth": "strict", "client_registration": "auto"},
        ),
        Variant(
            name="forced_cimd",
            scenario="auth/offline-access-scope",
            revision=Revision.V2026_07_28,
            options={"auth": "strict", "client_registration": "cimd"},
        ),
        Variant(
            name="host_defaults",
            scenario="elicitation-sep1034-client-defaults",
            revision=Revision.V2025_11_25,
            options={"defaults": "host"},
        ),
    ),
)

PYTHON_SDK = Manifest(
    name="python-sdk",
    title="MCP Python SDK",
    driver="command",
    obtained="PyPI mcp, pinned with hashes, in an environment of its own",
)

REFERENCE = Manifest(
    name="reference",
    title="reference client",
    driver="command",
    obtained="shipped with mcpconf, on PyPI joserfc and requests, pinned with hashes",
    scenarios=frozenset(
        (
            "initialize",
            "tools_call",
            "auth/client-credentials-jwt",
            "auth/client-credentials-basic",
            "auth/enterprise-managed-authorization",
            "auth/dpop",
            "auth/dpop-nonce",
            "auth/wif-jwt-bearer",
        )
    ),
)

COMMAND = Manifest(
    name="command",
    title="a program of your own",
    driver="command",
    obtained="--client-command",
)

#: Whatever server is under test: nothing drives it but the suite and our checks.
SERVER = Manifest(
    name="server",
    title="a server",
    driver="server",
    obtained="--url, --server-command",
)
_CANARIES = {
    "null": "does nothing and exits 0",
    "crash": "is killed by a signal at once",
    "hang": "does nothing, for ever",
    "initialize-only": "opens the connection and leaves",
    "list-only": "opens the connection, lists the tools and leaves",
}

#: Every client `--client` takes, by name.
MANIFESTS: Mapping[str, Manifest] = {
    manifest.name: manifest
    for manifest in (
        CODEX,
        PYTHON_SDK,
        REFERENCE,
        *(
            Manifest(
                name=name,
                title=f"canary: {behaviour}",
                driver="command",
                obtained="shipped with mcpconf",
                is_canary=True,
            )
            for name, behaviour in _CANARIES.items()
        ),
    )
}


def manifest_of(role: Role, name: str) -> Manifest:
    """The manifest of a program by the name that a report gives it."""
    return SERVER if role is Role.SERVER else MANIFESTS.get(name, COMMAND)


def passed_environment(manifest: Manifest) -> dict[str, str]:
    """The caller's variables a client may see beyond the allow-list."""
    return {
        name: os.environ[name] for name in manifest.pass_names if name in os.environ
    }
