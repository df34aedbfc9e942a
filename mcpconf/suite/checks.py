"""
The suite's ``checks.json``: found, bounded, decoded, repeats collapsed.

There must be exactly one below the output directory. None, several, one that is not
JSON, not an array or too large: each is a fault with a name, and never an empty pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.decode import Reader, load_json
from mcpconf.errors import DecodeError
from mcpconf.record import Check, CheckStatus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mcpconf.decode import Json

FILE_NAME = "checks.json"
#: Ten times the largest honest one (auth traces: about 120 KiB).
MAX_BYTES = 4 * 1024 * 1024


def find_checks(out_dir: Path) -> tuple[Json, str | None]:
    """
    The decoded file without its HTTP trace, or None and the name of the fault.

    The suite puts it into a dated folder of its own below `out_dir`.
    """
    found = sorted(out_dir.rglob(FILE_NAME)) if out_dir.is_dir() else []
    if not found:
        return None, f"the suite wrote no {FILE_NAME}"
    if len(found) > 1:
        return None, f"the suite wrote {len(found)} {FILE_NAME}"
    if not found[0].is_file():  # opening a pipe would wait for ever
        return None, f"{FILE_NAME} is not a file"
    try:
        value = load_json(found[0], max_bytes=MAX_BYTES)
        parse_checks(value, FILE_NAME)
    except DecodeError as error:
        place = f"{error.where}: " if error.where else ""
        return None, f"{FILE_NAME}: {place}{error.problem}"
    return _without_trace(value), None


def _without_trace(value: Json) -> Json:
    """The checks without INFO: an HTTP trace that the wire log has better."""
    if not isinstance(value, list):
        return value
    return [
        each
        for each in value
        if not isinstance(each, dict) or each.get("status") != CheckStatus.INFO.value
    ]


def parse_checks(value: Json, source: Path | str) -> tuple[Check, ...]:
    """
    The checks in order of first appearance; INFO (the suite's HTTP trace) is dropped.

    Repeats of an id collapse to the most severe status, whose error and description
    are kept, and are counted.

    :raises DecodeError: not an array of checks.
    """
    collapsed: dict[str, Check] = {}
    for reader in Reader(value, source).items():
        check = _check(reader)
        if check.status is CheckStatus.INFO:
            continue
        seen = collapsed.get(check.check_id)
        if seen is None:
            collapsed[check.check_id] = check
            continue
        worst = min(seen, check, key=lambda each: each.status.severity)
        collapsed[check.check_id] = _counted(worst, seen.count + 1)
    return tuple(collapsed.values())


def _counted(check: Check, count: int) -> Check:
    return Check(
        check_id=check.check_id,
        name=check.name,
        status=check.status,
        description=check.description,
        error=check.error,
        pages=check.pages,
        count=count,
    )


def _check(reader: Reader) -> Check:
    check_id = reader.key("id").string()
    if not check_id:
        reader.key("id").fail("is empty")
    status = reader.key("status")
    try:
        decoded = CheckStatus(status.string())
    except ValueError:
        status.fail(f"unknown status {status.value!r}; known: {', '.join(CheckStatus)}")
    name = reader.get("name")
    description = reader.get("description")
    error = reader.get("errorMessage") or _message(reader.get("details"))
    references = reader.get("specReferences")
    return Check(
        check_id=check_id,
        name=name.string() if name else check_id,
        status=decoded,
        description=description.string() if description else check_id,
        error=error.string() if error else None,
        pages=_pages(references.items()) if references else (),
    )


def _message(details: Reader | None) -> Reader | None:
    """The suite's reason, where it stands beside the description only."""
    if details is None or not isinstance(details.value, dict):
        return None
    message = details.get("message")
    return message if message and isinstance(message.value, str) else None


def _pages(references: Iterable[Reader]) -> tuple[str, ...]:
    urls = (reference.get("url") for reference in references)
    return tuple(url.string() for url in urls if url is not None)
