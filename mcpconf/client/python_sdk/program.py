"""
Drive the Python SDK's client through one scenario.

``python program.py URL`` for one of the official suite, with the suite's
``MCP_CONFORMANCE_*`` variables; ``python program.py`` for a supplemental one, with
``MCPCONF_*`` variables and steps on standard input (`supplemental`). The Python is that
of an environment that has ``mcp``: this package is not importable there, only the
modules beside this file; nothing of the SDK is imported before it is needed.

=====  =====================================================================
code   meaning
=====  =====================================================================
0      the client did its part; the suite, or the harness, judges how
1      the client refused or failed; the last line of standard error says what
64     not started as the contract says
69     this client cannot do this scenario; standard error says why
=====  =====================================================================
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from typing import TYPE_CHECKING

# Python's isolated mode (-I) leaves the program's own directory out of the path.
_HERE = os.path.dirname(os.path.abspath(__file__))
if _HERE not in sys.path:
    sys.path.insert(0, _HERE)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from mcpconf.client.python_sdk.assignment import (
        Assignment,
        Unsupported,
        parse_assignment,
    )
    from mcpconf.client.python_sdk.group import leaves

    Part = Callable[[Assignment], Coroutine[None, None, None]]
else:
    from assignment import Unsupported, parse_assignment
    from group import leaves

DONE, CLIENT_ERROR, USAGE, UNSUPPORTED = 0, 1, 64, 69

_ARGUMENTS = 2

#: Module and function that play each scenario. A name that is not here is not guessed.
PARTS: Mapping[str, tuple[str, str]] = {
    "initialize": ("features", "list_tools"),
    "tools_call": ("features", "call_add_numbers"),
    "elicitation-sep1034-client-defaults": ("features", "elicit_defaults"),
    "sse-retry": ("features", "call_through_reconnection"),
    "request-metadata": ("features", "declare_every_capability"),
    "http-standard-headers": ("features", "use_every_primitive"),
    "http-custom-headers": ("features", "make_given_calls"),
    "http-invalid-tool-headers": ("features", "call_every_surfaced_tool"),
    "sep-2322-client-request-state": ("features", "answer_input_requests"),
    "json-schema-ref-no-deref": ("features", "list_tools"),
    "json-schema-2020-12-preservation": ("features", "echo_schema"),
    **{
        f"auth/{name}": ("authorized", "authorization_code")
        for name in (
            "metadata-default",
            "metadata-var1",
            "metadata-var2",
            "metadata-var3",
            "basic-cimd",
            "scope-from-www-authenticate",
            "scope-from-scopes-supported",
            "scope-omitted-when-undefined",
            "scope-step-up",
            "scope-retry-limit",
            "token-endpoint-auth-basic",
            "token-endpoint-auth-post",
            "token-endpoint-auth-none",
            "pre-registration",
            "resource-mismatch",
            "offline-access-scope",
            "offline-access-not-supported",
            "authorization-server-migration",
            "iss-supported",
            "iss-not-advertised",
            "iss-supported-missing",
            "iss-wrong-issuer",
            "iss-unexpected",
            "iss-normalized",
            "metadata-issuer-mismatch",
        )
    },
    "auth/client-credentials-jwt": ("authorized", "client_credentials_jwt"),
    "auth/client-credentials-basic": ("authorized", "client_credentials_basic"),
    "auth/enterprise-managed-authorization": ("authorized", "identity_assertion"),
}

#: Scenarios known to be beyond this SDK, and what it lacks.
BEYOND: Mapping[str, str] = {
    "auth/dpop": "the SDK's OAuth providers make no DPoP proofs",
    "auth/dpop-nonce": "the SDK's OAuth providers make no DPoP proofs",
    "auth/wif-jwt-bearer": (
        "the SDK's only JWT-bearer provider insists on a client secret, "
        "and a federated workload has none"
    ),
}


def load_part(scenario: str) -> Part:
    """
    Import the function that plays `scenario`, and with it the SDK.

    :raises Unsupported: no part is written for it, or the SDK lacks what it takes.
    """
    if scenario in BEYOND:
        raise Unsupported(BEYOND[scenario])
    if scenario not in PARTS:
        raise Unsupported(f"no part is written for scenario {scenario!r}")
    module, function = PARTS[scenario]
    part: Part = getattr(importlib.import_module(module), function)
    return part


async def take_steps(environment: Mapping[str, str]) -> None:
    """
    Take a supplemental scenario's steps until there are no more.

    :raises Unsupported: the revision is not one this program knows.
    """
    if TYPE_CHECKING:
        from mcpconf.client.python_sdk import supplemental  # noqa: PLC0415
    else:
        import supplemental  # noqa: PLC0415 (an official scenario has no use for it)

    await supplemental.serve(supplemental.parse_setting(environment))


def describe(error: BaseException) -> str:
    """One line for an error; *refused* where the SDK itself raised it."""
    kind = type(error)
    verb = "refused" if kind.__module__.partition(".")[0] == "mcp" else "failed"
    return f"{verb}: {kind.__name__}: {' '.join(str(error).split())}"


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Play one scenario and give the exit code."""
    is_supplemental = "MCPCONF_SCENARIO" in environment
    if len(arguments) != _ARGUMENTS - is_supplemental:
        sys.stderr.write(
            "usage: program.py URL, or with MCPCONF_SCENARIO: program.py\n"
        )
        return USAGE
    try:
        if is_supplemental:
            asyncio.run(take_steps(environment))
        else:
            assignment = parse_assignment(arguments[1], environment)
            part = load_part(assignment.scenario)
            asyncio.run(part(assignment))
    except Unsupported as reason:
        sys.stderr.write(f"unsupported: {reason}\n")
        return UNSUPPORTED
    except Exception as error:  # noqa: BLE001 (whatever the client raised is its answer)
        for line in dict.fromkeys(describe(leaf) for leaf in leaves(error)):
            sys.stderr.write(f"{line}\n")
        return CLIENT_ERROR
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv, os.environ))
