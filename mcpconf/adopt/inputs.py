"""
The inputs of the GitHub Action, from the environment to options.

No shell sees them: ``action.yml`` puts each into a variable of its own, and here it
becomes one word of an argument list, whatever it holds.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Before the name of an input, in capitals and with ``_`` for ``-``.
PREFIX = "MCPCONF_INPUT_"

#: Options that are an input of their own, and under which name.
_INPUTS = {
    "--client": "client",
    "--client-command": "command",
    "--binary": "binary",
    "--client-version": "client-version",
    "--revision": "revisions",
    "--baseline": "baseline",
    "--shard": "shard",
    "--ratchet": "ratchet",
    "--flaky-budget": "flaky-budget",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a workflow asks for; empty means not given."""

    client: str = ""
    command: str = ""
    binary: str = ""
    client_version: str = ""
    revisions: tuple[str, ...] = ()
    baseline: str = ""
    shard: str = ""
    ratchet: bool = False
    flaky_budget: str = ""
    arguments: tuple[str, ...] = ()
    #: Merge the reports below this directory instead of running anything.
    merge: Path | None = None
    #: How many reports there must be to merge.
    shards: int = 1

    def gate_words(self) -> tuple[str, ...]:
        """The options that only a gate has, besides the baseline."""
        ratchet = ("--ratchet",) if self.ratchet else ()
        return ratchet + _option("--flaky-budget", self.flaky_budget)

    def words(self) -> tuple[str, ...]:
        """The options of ``mcpconf run``; a value never starts a word of its own."""
        return (
            *_option("--client", self.client),
            *_option("--client-command", self.command),
            *_option("--binary", self.binary),
            *_option("--client-version", self.client_version),
            *(f"--revision={each}" for each in self.revisions),
            *_option("--baseline", self.baseline),
            *self.gate_words(),
            *_option("--shard", self.shard),
            *self.arguments,
        )


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """
    The inputs as the action hands them over.

    :raises UsageError: what is wrong with them, one line each.
    """
    problems: list[str] = []

    def given(name: str) -> str:
        return environ.get(PREFIX + name.upper().replace("-", "_"), "")

    ratchet = given("ratchet") or "false"
    if ratchet not in {"true", "false"}:
        problems.append(f"ratchet: {ratchet!r} is neither true nor false")
    shards = given("shards") or "1"
    if not (shards.isascii() and shards.isdigit() and int(shards) >= 1):
        problems.append(f"shards: {shards!r} is no number from 1 on")
    arguments: tuple[str, ...] = ()
    try:
        arguments = tuple(shlex.split(given("arguments")))
    except ValueError as error:
        problems.append(f"arguments: cannot be split into words: {error}")
    problems += [
        f"arguments: {word} is an input of its own: {_INPUTS[word]}"
        for word in (each.partition("=")[0] for each in arguments)
        if word in _INPUTS
    ]
    if problems:
        raise UsageError("\n".join(problems))
    return Inputs(
        client=given("client"),
        command=given("command"),
        binary=given("binary"),
        client_version=given("client-version"),
        revisions=tuple(given("revisions").replace(",", " ").split()),
        baseline=given("baseline"),
        shard=given("shard"),
        ratchet=ratchet == "true",
        flaky_budget=given("flaky-budget"),
        arguments=arguments,
        merge=Path(given("merge")) if given("merge") else None,
        shards=int(shards),
    )


def _option(name: str, value: str) -> tuple[str, ...]:
    return (f"{name}={value}",) if value else ()
