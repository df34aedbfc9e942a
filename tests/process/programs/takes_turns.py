"""
Another client at each launch of a scenario, so that one can be flaky on purpose.

``takes_turns.py <place> <turn>,<turn>,…``: a turn is a program of ``fixtures/clients``
and its arguments, ``crash``, or ``stop <pid>``, which has a run stopped in the middle.
The last turn is every later launch's too. Launches are counted by files in `place`,
which no home holds.
"""

import os
import signal
import sys
from pathlib import Path

CLIENTS = Path(__file__).parents[3] / "fixtures" / "clients"
_NAMES = ("MCPCONF_SCENARIO", "MCP_CONFORMANCE_SCENARIO")


def launch(place: Path) -> int:
    """How often this scenario was launched before."""
    name = next(os.environ[each] for each in _NAMES if each in os.environ)
    for number in range(100):
        try:
            (place / f"{name}.{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return number
    raise AssertionError("launched for ever")


def main() -> None:
    place, listed, *rest = sys.argv[1:]
    turns = listed.split(",")
    name, *arguments = turns[min(launch(Path(place)), len(turns) - 1)].split()
    if name == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "stop":
        os.kill(int(arguments[0]), signal.SIGINT)
        signal.pause()
    program = str(CLIENTS / f"{name}.py")
    words = [sys.executable, "-E", "-s", "-S", program, *arguments, *rest]
    os.execv(sys.executable, words)  # noqa: S606


main()
