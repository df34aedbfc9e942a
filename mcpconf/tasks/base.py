"""What all tasks do the same way: refuse in one line, print, stand in a group."""

from __future__ import annotations

import copy
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from invoke.collection import Collection
from invoke.exceptions import Exit
from invoke.parser.argument import Argument
from invoke.tasks import Task

from mcpconf.errors import McpconfError, UsageError
from mcpconf.record import Role

#: Where the latest report of this directory is.
LATEST = ".mcpconf/report.json"


def refusing(action: Callable[[], Any]) -> Any:  # noqa: ANN401 (passes a result on)
    """The result of `action`; a refusal becomes one line and its exit code."""
    try:
        return action()
    except McpconfError as error:
        raise Exit(f"mcpconf: error: {error}", code=int(error.exit_code)) from None


def say(text: str) -> None:
    """Print to a reader who may stop reading: that is no error."""
    try:
        print(text)  # noqa: T201 (tasks print)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered is written when the interpreter ends; not to the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def number(option: str, text: str) -> int:
    """
    The value of an option that is a number; invoke's own refusal would be exit 1.

    :raises UsageError: it is none, or is below zero.
    """
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"{option} {text}: a number, at least 0")
    return int(text)


def role_named(text: str) -> Role:
    """
    The role that ``--role`` names.

    :raises UsageError: none of that name.
    """
    if text not in set(Role):
        raise UsageError(f"--role {text}: known are {', '.join(Role)}")
    return Role(text)


def report_path(text: str) -> Path:
    """The report at a path, or in the run's folder that is there."""
    path = Path(text)
    return path / "report.json" if path.is_dir() else path


def check_apart(out: str, *read: str) -> None:
    """
    Refuse to write over what is read.

    :raises UsageError: `out` is one of the files.
    """
    for each in read:
        if out and Path(out).resolve() == report_path(each).resolve():
            raise UsageError(f"--out {out}: would be written over what it is made of")


def stored_report(text: str) -> tuple[Path, dict[str, Any]]:
    """
    A stored report, or the one in a run's folder, and where it is.

    :raises DecodeError: unreadable, or not of the shipped schema.
    """
    from mcpconf.report_schema import load_report  # noqa: PLC0415

    path = report_path(text)
    return path, load_report(path)


class Several(Task[Callable[..., None]]):
    """
    A task whose one positional argument may be given many times, as a shell's ``*`` is.

    Invoke knows no such argument. It asks for the arguments before it reads the command
    line, which is the one place that says how many there are.
    """

    def get_arguments(
        self,
        ignore_unknown_help: bool | None = None,  # noqa: FBT001 (invoke's signature)
    ) -> list[Argument]:
        """One argument, and one more for each further word that is no option's."""
        first, *others = super().get_arguments(ignore_unknown_help)
        given = [word for word in sys.argv if word.endswith(f".{self.name}")]
        after = sys.argv[sys.argv.index(given[0]) + 1 :] if given else []
        count = 0
        for before, word in itertools.pairwise(["", *after]):  # options have values
            is_value = before.startswith("--") and "=" not in before
            count += not word.startswith("-") and not is_value
        more = [
            Argument(name=f"{first.name}-{number}", positional=True)
            for number in range(2, count + 1)
        ]
        return [first, *more, *(each for each in others if each.name != "more")]


def group(*tasks: Any) -> Collection:  # noqa: ANN401 (invoke is untyped here)
    """A collection of `tasks`, to be added under its name."""
    collection = Collection()
    for each in tasks:
        mine = copy.copy(each)  # invoke takes the help out of a task as it reads it
        mine.help = dict(each.help)
        collection.add_task(mine)
    return collection
