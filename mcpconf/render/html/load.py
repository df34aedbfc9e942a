"""
The evidence of a report, read for a page.

A page shows what is there. A folder that is missing, a file that cannot be read and a
path that leads out of the run are said in its place; none of them stops the page.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from mcpconf.decode import Reader, load_json
from mcpconf.errors import DecodeError
from mcpconf.evidence import (
    ADAPTER,
    CONTROL,
    EXCHANGES,
    LAUNCH,
    SUBJECT,
    WIRE,
    parse_adapter,
    read_log,
)
from mcpconf.render.html.sequence import TORN, body_of, short
from mcpconf.render.html.sequence_exchanges import exchanges_sequence
from mcpconf.render.html.sequence_fixture import fixture_sequence
from mcpconf.render.html.sequence_suite import suite_sequence
from mcpconf.render.html.text import shown
from mcpconf.render.html.transcript import Step, Transcript
from mcpconf.tasks_extension.evidence import parse_exchanges
from mcpconf.wire_log import parse_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from mcpconf.evidence import AdapterRecord

_NO_RUN = "the evidence is not beside the report"
_NO_CASE = "the run left none of this case"
_OUTSIDE = "the report names a place outside its own folder, which is not read"


def load_transcripts(
    report: Mapping[str, Any], output_dir: Path
) -> Mapping[str, Transcript]:
    """
    The evidence of every case, by the ``evidence`` of its scenario, reruns included.

    `output_dir` is the report's folder. Nothing outside it is read, and nothing raises.
    """
    places = dict.fromkeys(
        each["evidence"]
        for case in report["cases"]
        for scenario in case["scenarios"]
        for each in (scenario, *scenario.get("reruns", ()))
    )
    artifacts = report["artifacts"] or ""
    return {place: _load(output_dir, artifacts, place) for place in places}


def _load(output_dir: Path, artifacts: str, place: str) -> Transcript:
    below = PurePosixPath(artifacts, place)
    named = Transcript(evidence=shown(str(below)))
    directory = output_dir / below
    if not _is_inside(directory, output_dir):
        return replace(named, missing=_OUTSIDE)
    if not directory.is_dir():
        is_run_there = bool(artifacts) and (output_dir / artifacts).is_dir()
        return replace(named, missing=_NO_CASE if is_run_there else _NO_RUN)
    faults: list[str] = []
    adapter = _adapter(directory, faults)
    steps = _steps(adapter) if adapter else ()
    shape = replace(named, steps=steps, client_end=_end(adapter) if adapter else "")
    with_wire = _with_sequence(shape, directory, faults)
    return replace(with_wire, faults=tuple(faults))


def _is_inside(directory: Path, output_dir: Path) -> bool:
    """Whether it is below the report's folder, links followed."""
    try:
        return directory.resolve().is_relative_to(output_dir.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a null byte
        return False


def _with_sequence(shape: Transcript, directory: Path, faults: list[str]) -> Transcript:
    try:
        if (directory / WIRE).is_file():
            log = parse_wire(read_log(directory / WIRE), WIRE)
            moments, endings = suite_sequence(log)
        elif (directory / EXCHANGES).is_file():
            content = read_log(directory / EXCHANGES)
            seen, is_whole = parse_exchanges(content, EXCHANGES)
            moments, endings = exchanges_sequence(seen.exchanges)
            endings = endings if is_whole else (TORN, *endings)
        elif (directory / SUBJECT).is_file():
            logs = list(_fixture_logs(directory))
            moments, endings = fixture_sequence(logs, shape.steps)
        else:
            faults.append("there is no wire log in the evidence")
            return shape
    except DecodeError as error:
        faults.append(_fault(error, directory))
        return shape
    return replace(shape, moments=moments, endings=endings)


def _fixture_logs(directory: Path) -> Iterator[tuple[str, bytes, str]]:
    good = read_log(directory / CONTROL) if (directory / CONTROL).is_file() else b""
    # Where there is one server, it needs no name.
    yield ("faulty server" if good else "", read_log(directory / SUBJECT), SUBJECT)
    if good:
        yield "good server", good, CONTROL


def _fault(error: DecodeError, directory: Path) -> str:
    """What is wrong and where, without the path of this machine."""
    return short(str(error).replace(f"{directory}/", ""))


def _adapter(directory: Path, faults: list[str]) -> AdapterRecord | None:
    try:
        if (directory / ADAPTER).is_file():
            return parse_adapter(load_json(directory / ADAPTER), ADAPTER)
        launch = Reader(load_json(directory / LAUNCH), LAUNCH)
        if "adapter_fault" not in launch.object():
            return None  # a server's case: nothing was driven
        why = launch.get("adapter_fault")
        said = f": {why.string()}" if why else ""
        faults.append(short(f"the driver left no record{said}"))
    except DecodeError as error:
        faults.append(_fault(error, directory))
    return None


def _end(adapter: AdapterRecord) -> str:
    end = adapter.end
    how = {
        "exited": f"exited with {end.exit_code}",
        "signalled": f"was ended by {end.signal}",
    }.get(end.kind.value, end.kind.value)
    error = f"; the driver says: {adapter.error}" if adapter.error else ""
    return short(f"The client {how}{error}.")


def _steps(adapter: AdapterRecord) -> tuple[Step, ...]:
    results = {str(each["id"]): each for each in adapter.results or ()}
    return tuple(
        _with_result(
            Step(
                name=short(name),
                state="ok" if is_ok else "error",
                detail=body_of(detail)[0],
            ),
            results.get(name),
        )
        for name, is_ok, detail in adapter.steps
    )


def _with_result(step: Step, result: Mapping[str, Any] | None) -> Step:
    if result is None:
        return step
    states: dict[str, Callable[[], tuple[str, str]]] = {
        "unsupported": lambda: ("unsupported", str(result["unsupported"])),
        "error": lambda: ("error", _error(result["error"])),
        "timed_out": lambda: ("timed-out", ""),
    }
    found = next((states[key]() for key in states if result.get(key)), ("ok", ""))
    value = result.get("value")
    text = "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)
    body, cut = body_of(text)
    return replace(
        step,
        state=found[0],
        detail=body_of(found[1] or step.detail)[0],
        t_ms=result["t0_ms"],
        took_ms=round(result["t1_ms"] - result["t0_ms"], 1),
        value=f"{body}… ({cut})" if cut else body,
    )


def _error(error: Mapping[str, Any]) -> str:
    code = "" if error.get("code") is None else f" {error['code']}"
    return f"{error['kind']}{code}: {error['message']}"
