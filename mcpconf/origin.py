"""
Whose report a file is: ours, an older one of ours, or the original harness's.

Those of others are refused with the name of the page that says how to come over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.record import Role

if TYPE_CHECKING:
    from mcpconf.decode import Reader

_SCHEMA_VERSION = 4
_MIGRATION = "see docs/migration.md"


def role_of(reader: Reader) -> Role:
    """
    Whose program a file is about; baselines and catalogues of clients need not say it.

    :raises DecodeError: no word for a role.
    """
    role = reader.get("role")
    return Role.CLIENT if role is None else role.word(Role)


def refuse_others(reader: Reader) -> None:
    """
    Refuse what looks like a report and is none of ours, by the name of what it is.

    :raises DecodeError: no object, or such a file.
    """
    members = reader.object()
    if "baselineKind" in members:
        reader.fail("is a baseline, not a report; give it as --baseline")
    if "reviewer" in members:
        reader.fail(
            "is a report of the original harness's review runner, which cannot be "
            f"gated here: run again with this one; {_MIGRATION}"
        )
    version = reader.key("schemaVersion").integer()
    if version != _SCHEMA_VERSION:
        reader.key("schemaVersion").fail(
            f"this version reads report schema {_SCHEMA_VERSION}, not {version}; "
            f"{_MIGRATION}"
        )
    lacking = [name for name in ("verdict", "client") if name not in members]
    if lacking:
        reader.fail(
            "is a report of the original harness (it has no "
            f"{' and no '.join(lacking)}): run again with this one; {_MIGRATION}"
        )
    if "selection" not in members or "role" not in members:
        reader.fail(
            "does not say what was selected, or of whom, as an older version of "
            "mcpconf wrote it: "
            "run again with this version"
        )
