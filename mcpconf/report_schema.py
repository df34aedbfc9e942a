"""Reports against the JSON Schema we ship: ours when written, any when read."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mcpconf.decode import load_json
from mcpconf.errors import DecodeError, McpconfError

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
    value: Any = load_json(path, max_bytes=64 * 1024 * 1024)
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


def _schema_problem(value: object) -> tuple[str, str] | None:
    """The first place where a value leaves the shipped schema, and how."""
    import jsonschema  # noqa: PLC0415 (0.1 s, and only a closed report is validated)

    schema: Any = load_schema()
    validator = jsonschema.Draft202012Validator(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    return None if error is None else (error.json_path, error.message[:300])


def validate(value: Mapping[str, Any]) -> None:
    """
    Hold a report of ours against the shipped JSON Schema.

    :raises ReportError: it does not follow it; names the place.
    """
    problem = _schema_problem(value)
    if problem is not None:
        raise ReportError(f"report: {problem[0]}: {problem[1]}")
