"""
Read a baseline file of either version, or say everything that is wrong with it.

What cannot mean anything is refused by name: a typing error in a baseline would
otherwise excuse nothing for ever, or a failure that nobody meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from mcpconf.baseline.decode_v1 import decode_v1
from mcpconf.baseline.decode_v2 import decode_v2
from mcpconf.baseline.entry import KIND_V1, KIND_V2
from mcpconf.baseline.problem import Problems
from mcpconf.decode import REPORT_BYTES, Reader, load_json
from mcpconf.origin import role_of
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    import datetime as dt
    from pathlib import Path

    from mcpconf.baseline.entry import Baseline
    from mcpconf.decode import Json
    from mcpconf.suite.catalogue import Catalogue

#: The page for whoever comes from the original harness.
MIGRATION = "docs/migration.md"


def load_baseline(
    path: Path,
    *,
    today: dt.date,
    catalogue: Catalogue | None = None,
    is_forerunner: bool = False,
) -> Baseline:
    """
    The baseline in a file; `today` is a UTC date, as are all dates of a baseline.

    It is held against the committed catalogue of its role, unless one is given.

    A forerunner is only extracted over: it may name checks that no longer exist.

    :raises DecodeError: unreadable, or not a baseline that holds: every problem at
        once, each with its place in the file.
    """
    return from_json(
        load_json(path, max_bytes=REPORT_BYTES),
        path,
        catalogue=catalogue,
        today=today,
        is_forerunner=is_forerunner,
    )


def from_json(
    value: Json,
    source: Path | str,
    *,
    today: dt.date,
    catalogue: Catalogue | None = None,
    is_forerunner: bool = False,
) -> Baseline:
    """
    Decode a stored baseline.

    :raises DecodeError: as `load_baseline`.
    """
    reader = Reader(value, source)
    if "baselineKind" not in reader.object():
        _refuse_another_file(reader)
    kind = reader.key("baselineKind")
    problems = Problems(source)
    catalogue = catalogue or load_catalogue(role=role_of(reader))
    if kind.value == KIND_V1:
        baseline = decode_v1(reader, problems, catalogue)
    elif kind.value == KIND_V2:
        baseline = decode_v2(
            reader, problems, catalogue, today, is_forerunner=is_forerunner
        )
    else:
        kind.fail(
            f"{kind.value!r} is read by no part of this version, which reads {KIND_V1}"
            f" and {KIND_V2}; for other files of the original harness see {MIGRATION}"
        )
    problems.raise_any()
    return baseline


def _refuse_another_file(reader: Reader) -> NoReturn:
    members = reader.object()
    if "cases" not in members:
        reader.fail("is not a baseline: baselineKind is missing")
    if "verdict" in members:
        reader.fail(
            "is a report, not a baseline; make one of it: `invoke baseline.extract`"
        )
    reader.fail(
        f"is a report of the original harness, not a baseline; see {MIGRATION} for how"
        " to come over"
    )
