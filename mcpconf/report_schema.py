"""Reports against the JSON Schema we ship: ours when written, any when read."""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from mcpconf.decode import REPORT_BYTES, Reader, load_json
from mcpconf.errors import DecodeError, McpconfError
from mcpconf.origin import refuse_others

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcpconf.decode import Json


class ReportError(McpconfError):
    """A report we built does not follow the schema we ship: a fault of ours."""


def load_report(path: Path) -> dict[str, Any]:
    """
    Read a stored report.

    :raises DecodeError: unreadable, not JSON, or not of the shipped schema.
    """
    value: Any = load_json(path, max_bytes=REPORT_BYTES)
    refuse_others(Reader(value, path))
    problem = _schema_problem(value)
    if problem is not None:
        raise DecodeError(path, *problem)
    report: dict[str, Any] = value
    return report


def load_schema() -> Json:
    """The JSON Schema every report follows, as shipped."""
    resource = files("mcpconf") / "data" / "report-schema-4.json"
    schema: Json = json.loads(resource.read_text("utf-8"))
    return schema


@functools.cache
def _validator() -> jsonschema_rs.Validator:
    schema: Any = load_schema()
    return jsonschema_rs.validator_for(schema)


def _schema_problem(value: object) -> tuple[str, str] | None:
    """The first place where a value leaves the shipped schema, and how."""
    try:
        error = next(_validator().iter_errors(value), None)
    except UnicodeEncodeError:  # a name with a lone surrogate cannot be compared
        return "$", "a member's name is no text that UTF-8 can hold"
    if error is None:
        return None
    steps = (f"[{e}]" if isinstance(e, int) else f".{e}" for e in error.instance_path)
    return f"${''.join(steps)}", error.message[:300]


def validate(value: Mapping[str, Any]) -> None:
    """
    Hold a report of ours against the shipped JSON Schema.

    :raises ReportError: it does not follow it; names the place.
    """
    problem = _schema_problem(value)
    if problem is not None:
        raise ReportError(f"report: {problem[0]}: {problem[1]}")
