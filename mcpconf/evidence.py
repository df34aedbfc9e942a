"""
A run's files: written once by the launcher, read back by the judge.

``run.json``            what was to be run, with whom, under which policy
``cases/<revision>/<scenario>/``  ``launch.json``, ``adapter.json``, ``checks.json``,
                        ``wire.jsonl``: one case
``reruns.json``         which cases were run again, for which checks; where any were
``reruns/<n>/``         the same folders of cases, as they were when run again
``end.json``            the closing record; without it a run is incomplete

Everything in here is redacted already. Reading decodes at the door: a file that is
missing or malformed is a `DecodeError`, never an empty record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from mcpconf.client.job import DriverVerdict
from mcpconf.decode import Json, Reader, load_json, parse_json
from mcpconf.errors import DecodeError
from mcpconf.process import Ended, EndKind
from mcpconf.storage import sha256_of, write_json, write_whole
from mcpconf.suite.checks import parse_checks
from mcpconf.wire import WireLog, parse_wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mcpconf.record import CaseKey, Check

SCHEMA = 1
RUN, RERUNS, END = "run.json", "reruns.json", "end.json"
#: A case is run again at most so often.
MAX_ROUNDS = 2
LAUNCH, ADAPTER, CHECKS, WIRE = (
    "launch.json",
    "adapter.json",
    "checks.json",
    "wire.jsonl",
)
#: The servers' wire logs of a supplemental case.
SUBJECT, CONTROL = "subject.jsonl", "control.jsonl"
#: What our own requests to a server came to.
EXCHANGES = "exchanges.jsonl"
#: Every file a case may have.
FILES = (LAUNCH, ADAPTER, CHECKS, WIRE, SUBJECT, CONTROL, EXCHANGES)
#: The witness keeps 256 KiB a body; a whole log beyond this is cut by the runner.
MAX_WIRE_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientEnd:
    """How the client program ended, as its driver saw it."""

    kind: EndKind
    exit_code: int | None
    signal: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRecord:
    """What a driver left behind."""

    driver: str
    verdict: DriverVerdict
    end: ClientEnd
    error: str | None
    #: (name, ok, detail) in order.
    steps: tuple[tuple[str, bool, str], ...]
    #: The driver's own processor time, where it said so.
    cpu_s: float | None = None
    #: Of a supplemental drive: each step's result (an object with a string ``id``),
    #: in the order of the steps; None: it was no such drive.
    results: tuple[Mapping[str, Json], ...] | None = None
    #: What the client left: ``survivors``, ``temporary``, ``listening``; None: unknown.
    aftermath: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEvidence:
    """Everything the judge may know of one case."""

    ended: Ended
    adapter: AdapterRecord | None
    adapter_fault: str | None
    checks: tuple[Check, ...]
    checks_fault: str | None
    wire: WireLog
    diagnostics: str | None
    #: The last of what the client itself wrote to stderr.
    client_stderr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCase:
    """What the launcher hands over for one case, redacted, before it is written."""

    ended: Ended
    adapter: Json
    adapter_fault: str | None
    checks: Json
    checks_fault: str | None
    wire: str
    diagnostics: str | None
    client_stderr: str | None = None


def case_dir(run_dir: Path, key: CaseKey) -> Path:
    """Where the files of one case are."""
    return run_dir / key.path


def rerun_dir(run_dir: Path, number: int) -> Path:
    """What takes the place of a run's folder for the cases run again; from 1."""
    return run_dir / "reruns" / str(number)


def write_case(run_dir: Path, key: CaseKey, raw: RawCase) -> None:
    """Write one case; ``launch.json`` comes last and says that the rest is whole."""
    directory = case_dir(run_dir, key)
    if raw.adapter is not None:
        write_json(directory / ADAPTER, raw.adapter)
    launch: Json = {
        "schema": SCHEMA,
        "ended": raw.ended.to_json(),
        "adapter_fault": raw.adapter_fault,
        "checks_fault": raw.checks_fault,
        "diagnostics": raw.diagnostics,
        "client_stderr": raw.client_stderr,
    }
    write_seen(directory, wire=raw.wire, checks=raw.checks, launch=launch)


def write_seen(directory: Path, *, wire: str, checks: Json, launch: Json) -> None:
    """What the witness saw, what the suite said of it, and then ``launch.json``."""
    write_whole(directory / WIRE, wire.encode("utf-8", "backslashreplace"))
    if checks is not None:
        write_json(directory / CHECKS, checks)
    write_json(directory / LAUNCH, launch)


def read_seen(
    directory: Path, checks_fault: str | None
) -> tuple[WireLog, tuple[Check, ...]]:
    """
    What `write_seen` wrote beside ``launch.json``; no checks where they have a fault.

    :raises DecodeError: a file is missing or malformed.
    """
    checks: tuple[Check, ...] = ()
    if checks_fault is None:
        checks = parse_checks(load_json(directory / CHECKS), directory / CHECKS)
    return parse_wire(read_log(directory / WIRE), directory / WIRE), checks


def read_case(run_dir: Path, key: CaseKey) -> CaseEvidence | None:
    """
    Read one case back; None when it was never launched to its end.

    :raises DecodeError: a file is missing or malformed.
    """
    directory = case_dir(run_dir, key)
    if not (directory / LAUNCH).is_file():
        return None
    launch = Reader(load_json(directory / LAUNCH), directory / LAUNCH).only(
        "schema",
        "ended",
        "adapter_fault",
        "checks_fault",
        "diagnostics",
        "client_stderr",
    )
    if launch.key("schema").integer() != SCHEMA:
        launch.key("schema").fail(f"this version reads evidence schema {SCHEMA}")
    adapter_fault = text_at(launch, "adapter_fault")
    checks_fault = text_at(launch, "checks_fault")
    adapter = None
    if adapter_fault is None:
        adapter = parse_adapter(load_json(directory / ADAPTER), directory / ADAPTER)
    log, checks = read_seen(directory, checks_fault)
    return CaseEvidence(
        ended=Ended.from_json(launch.key("ended")),
        adapter=adapter,
        adapter_fault=adapter_fault,
        checks=checks,
        checks_fault=checks_fault,
        wire=log,
        diagnostics=text_at(launch, "diagnostics"),
        client_stderr=text_at(launch, "client_stderr"),
    )


def text_at(reader: Reader, name: str) -> str | None:
    """A member that is text, or null or absent."""
    member = reader.get(name)
    return None if member is None else member.string()


def digests_of(run_dir: Path, keys: Iterable[CaseKey]) -> dict[str, str]:
    """
    ``sha256:`` of the run's records and of every file of the cases, by its path.

    Whatever is there of their reruns is among them, planned or not.
    """
    rounds = (rerun_dir(run_dir, number) for number in range(1, MAX_ROUNDS + 1))
    places = [run_dir, *(each for each in rounds if each.is_dir())]
    paths = [run_dir / RUN, run_dir / RERUNS]
    paths += [
        place / key.path / name for key in keys for place in places for name in FILES
    ]
    return {
        path.relative_to(run_dir).as_posix(): f"sha256:{sha256_of(path)}"
        for path in paths
        if path.is_file()
    }


def check_digests(
    run_dir: Path, keys: Iterable[CaseKey], digests: Mapping[str, str]
) -> None:
    """
    Hold the evidence against the digests of its closing record.

    :raises DecodeError: a file is missing, is not the one that was stored, or was not
        there when the run closed.
    """
    for name in sorted(set(digests_of(run_dir, keys)) - set(digests)):
        raise DecodeError(run_dir / name, "", "is not named by the closing record")
    for name, digest in digests.items():
        path = run_dir / name
        if not path.is_file():
            raise DecodeError(path, "", "is missing, and the closing record names it")
        if f"sha256:{sha256_of(path)}" != digest:
            raise DecodeError(path, "", f"is not the file that was stored ({digest})")


def read_log(path: Path) -> bytes:
    """
    A wire log, which is bounded.

    :raises DecodeError: it cannot be read, or is larger than any that we write.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_WIRE_BYTES + 1)
    except OSError as error:
        raise DecodeError(path, "", f"cannot be read: {error.strerror}") from None
    if len(content) > MAX_WIRE_BYTES:
        raise DecodeError(path, "", f"is larger than {MAX_WIRE_BYTES} bytes")
    return content


def text_of(path: Path) -> str:
    """What a program wrote, bounded already; nothing where it never started."""
    return bytes_of(path).decode("utf-8", "replace")


def bytes_of(path: Path) -> bytes:
    """The same, as it is."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def adapter_of(content: bytes) -> tuple[Json, str | None]:
    """A driver's record as it wrote it, or why there is none."""
    if not content:
        return None, "it was never written"
    try:
        value = parse_json(content, ADAPTER)
        parse_adapter(value, ADAPTER)
    except DecodeError as error:
        return None, f"{ADAPTER}: {error.where}: {error.problem}"
    return value, None


def parse_adapter(value: Json, source: Path | str) -> AdapterRecord:
    """
    Decode a driver's record.

    :raises DecodeError: not of the form drivers write.
    """
    reader = Reader(value, source).only(
        "schema",
        "driver",
        "steps",
        "end",
        "verdict",
        "error",
        "cpu_s",
        "results",
        "aftermath",
    )
    if reader.key("schema").integer() != SCHEMA:
        reader.key("schema").fail(f"this version reads adapter schema {SCHEMA}")
    end = reader.key("end").only("kind", "exit_code", "signal")
    exit_code, signal = end.get("exit_code"), end.get("signal")
    error, cpu_s = reader.get("error"), reader.get("cpu_s")
    results, aftermath = reader.get("results"), reader.get("aftermath")
    return AdapterRecord(
        driver=reader.key("driver").string(),
        verdict=_word(DriverVerdict, reader.key("verdict")),
        end=ClientEnd(
            kind=_word(EndKind, end.key("kind")),
            exit_code=exit_code.integer() if exit_code else None,
            signal=signal.string() if signal else None,
        ),
        error=error.string() if error else None,
        steps=tuple(
            (
                step.key("name").string(),
                step.key("ok").boolean(),
                step.key("detail").string(),
            )
            for step in reader.key("steps").items()
        ),
        cpu_s=cpu_s.number() if cpu_s else None,
        results=tuple(map(_result, results.items())) if results else None,
        aftermath=_aftermath(aftermath) if aftermath else None,
    )


def _result(reader: Reader) -> Mapping[str, Json]:
    reader.only(
        "id",
        *("ok", "value", "error", "unsupported", "timed_out"),
        *("t0_ms", "t1_ms", "fds", "children"),
    )
    reader.key("id").string()
    reader.key("t0_ms").number()
    reader.key("t1_ms").number()
    reader.key("children").strings()
    if fds := reader.get("fds"):
        fds.integer()
    if ok := reader.get("ok"):
        if ok.boolean():
            reader.key("value").object()
        else:
            _step_error(reader.key("error"))
    elif why := reader.get("unsupported"):
        why.string()
    elif not reader.key("timed_out").boolean():
        reader.fail("has no outcome")
    return reader.object()


def _step_error(reader: Reader) -> None:
    reader.only("kind", "message", "code")
    reader.key("kind").string()
    reader.key("message").string()
    if code := reader.get("code"):
        code.integer()


def _aftermath(reader: Reader) -> Mapping[str, Json]:
    reader.only("survivors", "temporary", "listening")
    reader.key("survivors").strings()
    reader.key("temporary").strings()
    for port in reader.key("listening").items():
        port.integer()
    return reader.object()


_Word = TypeVar("_Word", DriverVerdict, EndKind)


def _word(kind: type[_Word], reader: Reader) -> _Word:
    try:
        return kind(reader.string())
    except ValueError:
        reader.fail(f"unknown word {reader.value!r}; known: {', '.join(kind)}")
