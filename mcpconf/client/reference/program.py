"""
Play one scenario of the official suite, as ``docs/launch.md`` says.

``python program.py URL``, with the suite's ``MCP_CONFORMANCE_*`` variables, where the
Python is that of an environment with ``requests`` and ``joserfc``.

=====  =====================================================================
code   meaning
=====  =====================================================================
0      the client did its part; the suite judges how
1      the client refused or failed; standard error says what
64     not started as the contract says
69     this client cannot do this scenario; standard error says why
=====  =====================================================================
"""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.client.python_sdk.assignment import Assignment
    from mcpconf.client.reference.authorizer import Authorizer

DONE, CLIENT_ERROR, USAGE, UNSUPPORTED = 0, 1, 64, 69
_ARGUMENTS = 2

#: Scenarios without authorization, and the arguments of the call they wait for.
PLAIN: Mapping[str, Mapping[str, int] | None] = {
    "initialize": None,
    "tools_call": {"a": 5, "b": 3},
}

#: Scenarios of the authorization extensions: the module and class that plays each.
EXTENSIONS: Mapping[str, tuple[str, str]] = {
    "auth/client-credentials-jwt": ("authorizer", "KeyCredentials"),
    "auth/client-credentials-basic": ("authorizer", "SecretCredentials"),
    "auth/enterprise-managed-authorization": ("authorizer", "Enterprise"),
    "auth/dpop": ("dpop", "BoundCode"),
    "auth/dpop-nonce": ("dpop", "BoundCode"),
    "auth/wif-jwt-bearer": ("authorizer", "Workload"),
}


def find_mcpconf() -> None:
    """
    Let the package around this file be imported, and nothing installed beside it.

    The environment has its own libraries; mcpconf is in none of its folders.
    """
    if "mcpconf" in sys.modules:
        return
    place = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    spec = spec_from_file_location(
        "mcpconf",
        os.path.join(place, "__init__.py"),
        submodule_search_locations=[place],
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} is not mcpconf")
    package = module_from_spec(spec)
    sys.modules["mcpconf"] = package
    spec.loader.exec_module(package)


def authorizers() -> dict[str, type[Authorizer]]:
    """Scenario → what authorizes there."""
    from mcpconf.client.reference import authorizer, dpop  # noqa: PLC0415 (see `main`)

    made = {"authorizer": authorizer, "dpop": dpop}
    return {
        scenario: getattr(made[module], name)
        for scenario, (module, name) in EXTENSIONS.items()
    }


def play(assignment: Assignment, made: Mapping[str, type[Authorizer]]) -> None:
    """
    Open, list the tools, call the first.

    :raises Refused: the client would not go on.
    """
    from mcpconf.client.reference.session import Session  # noqa: PLC0415
    from mcpconf.client.reference.web import Web  # noqa: PLC0415

    web = Web()
    kind = made.get(assignment.scenario)
    who = kind(web, assignment.url, assignment.context) if kind else None
    session = Session(web, assignment, who)
    session.open()
    tools = session.list_tools()
    arguments = PLAIN.get(assignment.scenario, {})
    if arguments is not None:
        session.call(tools[0]["name"], dict(arguments))
    session.close()


def load(
    scenario: str, changed: Mapping[str, type[Authorizer]]
) -> dict[str, type[Authorizer]]:
    """
    The parts to play `scenario` with, and with them the libraries.

    :raises Unsupported: no part is written for it.
    """
    from mcpconf.client.python_sdk.assignment import Unsupported  # noqa: PLC0415

    if scenario not in PLAIN and scenario not in EXTENSIONS:
        raise Unsupported(f"no part is written for scenario {scenario!r}")
    return {**authorizers(), **changed}


def main(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    changed: Mapping[str, type[Authorizer]] | None = None,
) -> int:
    """
    Play one scenario and give the exit code; `changed` are parts to play it with.

    Nothing is imported at the head of this file: mcpconf has to be found first, and a
    scenario that is not played needs no libraries.
    """
    find_mcpconf()
    from mcpconf.client.python_sdk.assignment import (  # noqa: PLC0415
        Unsupported,
        parse_assignment,
    )

    if "MCPCONF_SCENARIO" in environment:
        sys.stderr.write("unsupported: it takes no steps\n")
        return UNSUPPORTED
    if len(arguments) != _ARGUMENTS:
        sys.stderr.write("usage: program.py URL\n")
        return USAGE
    try:
        assignment = parse_assignment(arguments[1], environment)
        play(assignment, load(assignment.scenario, changed or {}))
    except Unsupported as reason:
        sys.stderr.write(f"unsupported: {reason}\n")
        return UNSUPPORTED
    except Exception as error:  # noqa: BLE001 (whatever the client raised is its answer)
        verb = "refused" if type(error).__name__ == "Refused" else "failed"
        text = " ".join(str(error).split())
        sys.stderr.write(f"{verb}: {type(error).__name__}: {text}\n")
        return CLIENT_ERROR
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv, os.environ))
