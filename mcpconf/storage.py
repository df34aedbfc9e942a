"""
Files appear whole or not at all.

Bytes go to a temporary name beside their destination, reach the disk, and are
renamed over it; a reader sees the old file or the new one. JSON is written sorted,
indented and in UTF-8, so that equal values are equal bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from typing import TYPE_CHECKING

from mcpconf.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.decode import Json


def write_whole(path: Path, content: bytes, *, durable: bool = False) -> None:
    """
    Write `content` to `path` in one step, making parent directories.

    `durable` forces the bytes to the disk first: for files that are the only copy.

    :raises StorageError: the path cannot be written; nothing was left behind.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(
            prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent
        )
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)  # mkstemp is private; a report is to be read
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise StorageError(path, f"cannot be written: {error.strerror}") from None


def json_bytes(value: Json) -> bytes:
    """The one rendering of JSON we store: sorted, indented, UTF-8, a final newline."""
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    # A lone surrogate cannot be encoded; keep it visible instead of failing late.
    return (text + "\n").encode("utf-8", "backslashreplace")


def write_json(path: Path, value: Json, *, durable: bool = False) -> None:
    """Write `value` as `json_bytes` in one step."""
    write_whole(path, json_bytes(value), durable=durable)


def sha256_of(path: Path) -> str:
    """The sha256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
