"""What is left of three connections, one after the other, when all are closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, unobserved
from mcpconf.supplemental.looks import text_of
from mcpconf.supplemental.scenario import (
    CheckDefinition,
    Level,
    Scenario,
    call,
    close,
    connect,
)
from mcpconf.supplemental.scenarios.stdio_looks import (
    no_more_descriptors,
    no_ports,
    no_temporary_files,
    nothing_survives,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation
    from mcpconf.supplemental.scenario import Look, Step

_CONNECTIONS = (1, 2, 3)


def _connection(number: int) -> tuple[Step, ...]:
    return (
        connect(id=f"connect-{number}"),
        call("echo", {"text": "heard"}, id=f"call-{number}"),
        close(id=f"close-{number}"),
    )


def after_use(look: Look) -> Look:
    """`look`, where every connection was used: one that never was leaves nothing."""

    def guarded(seen: Observation) -> Finding:
        for number in _CONNECTIONS:
            if text_of(seen.step(f"call-{number}")) != "heard":
                return unobserved(f"connection {number} was of no use")
        return look(seen)

    return guarded


def _check(
    name: str, sentence: str, looks_for: str, look: Look, client: str
) -> CheckDefinition:
    return CheckDefinition(
        id=name,
        sentence=sentence,
        page="basic/lifecycle",
        stateless_page="basic/transports/stdio",
        level=Level.SHOULD,
        looks_for=looks_for,
        look=after_use(look),
        needs=("call-3", "close-3"),
        broken=(client,),
    )


LEFTOVERS = Scenario(
    name="leftovers",
    title="three connections to a good server, opened and closed",
    steps=tuple(step for number in _CONNECTIONS for step in _connection(number)),
    checks=(
        _check(
            "nothing-survives",
            "No process of a client outlives it.",
            "no process left when the client has ended",
            nothing_survives,
            "leaves_a_daemon",
        ),
        _check(
            "no-temporary-files",
            "A client leaves no temporary files. (No page demands it.)",
            "an empty temporary directory when the client has ended",
            no_temporary_files,
            "leaves_temporary_files",
        ),
        _check(
            "no-open-ports",
            "A client without a connection listens on no port. (No page demands it.)",
            "no listening port after the last close",
            no_ports,
            "keeps_listening",
        ),
        _check(
            "no-leaked-descriptors",
            "Closing a connection gives back everything that was open for it. (No "
            "page demands it.)",
            "the number of open descriptors, which a leak lets grow at each close",
            no_more_descriptors,
            "leaks_descriptors",
        ),
    ),
)
