"""
What a directory held when it was stamped, and whether it still does.

A stamp lists every file with size, modification time and sha256, and every symbolic
link. A check compares sizes and times, and hashes only files whose time differs: a
copied or restored directory has other times and the same content. Files that came
later are not its business.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.decode import Reader, load_json
from mcpconf.errors import McpconfError
from mcpconf.storage import sha256_of, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.decode import Json

NAME = ".mcpconf-stamp.json"
_SCHEMA = 1


class ChangedError(McpconfError):
    """A directory no longer holds what its stamp says."""


@dataclass(frozen=True, slots=True)
class StampedFile:
    """One file as it was."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """The files and links of a directory; paths are relative, with slashes."""

    key: str
    files: Mapping[str, StampedFile]
    links: Mapping[str, str]

    def to_json(self) -> Json:
        """The form on disk."""
        files: dict[str, Json] = {
            place: [file.size, file.mtime_ns, file.sha256]
            for place, file in self.files.items()
        }
        links: dict[str, Json] = dict(self.links)
        return {"schema": _SCHEMA, "key": self.key, "files": files, "links": links}


def from_json(reader: Reader) -> Stamp:
    """
    The stamp that `Stamp.to_json` gave.

    :raises DecodeError: it has another form.
    """
    reader.only("schema", "key", "files", "links")
    if reader.key("schema").integer() != _SCHEMA:
        reader.key("schema").fail("is not one we write")
    files = {}
    for place, member in reader.key("files").members():
        match tuple(member.items()):
            case (size, mtime_ns, sha256):
                files[place] = StampedFile(
                    size.integer(), mtime_ns.integer(), sha256.string()
                )
            case _:
                member.fail("expected size, time and sha256")
    links = {place: link.string() for place, link in reader.key("links").members()}
    return Stamp(key=reader.key("key").string(), files=files, links=links)


def stamp_of(directory: Path, key: str) -> Stamp:
    """The stamp of a directory as it is now; reads all of it."""
    files = {}
    links = {}
    for path in _walk(directory):
        place = path.relative_to(directory).as_posix()
        if path.is_symlink():
            links[place] = str(path.readlink())
        elif place != NAME:
            status = path.stat()
            files[place] = StampedFile(
                status.st_size, status.st_mtime_ns, sha256_of(path)
            )
    return Stamp(key=key, files=files, links=links)


def load_stamp(directory: Path) -> Stamp:
    """
    The stamp that lies in `directory`.

    :raises DecodeError: there is none, or it is damaged.
    """
    path = directory / NAME
    return from_json(Reader(load_json(path), path))


def write_stamp(directory: Path, stamp: Stamp) -> None:
    """Put `stamp` into `directory`, where `load_stamp` finds it."""
    write_json(directory / NAME, stamp.to_json())


def check(stamp: Stamp, directory: Path) -> Stamp:
    """
    The same stamp with the times as they are now; equal to `stamp` as a rule.

    :raises ChangedError: a file or link is missing or differs; says which.
    """
    files = dict(stamp.files)
    try:
        for place, file in stamp.files.items():
            path = os.path.join(directory, place)  # noqa: PTH118  thousands of them
            status = os.lstat(path)
            if status.st_size != file.size:
                raise ChangedError(f"{place} has another size")
            if status.st_mtime_ns != file.mtime_ns:
                if sha256_of(Path(path)) != file.sha256:
                    raise ChangedError(f"{place} has other content")
                files[place] = replace(file, mtime_ns=status.st_mtime_ns)
        for place, target in stamp.links.items():
            if str((directory / place).readlink()) != target:
                raise ChangedError(f"{place} points elsewhere")
    except OSError as error:
        raise ChangedError(f"{error.filename}: {error.strerror}") from None
    return replace(stamp, files=files)


def _walk(directory: Path) -> Iterator[Path]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)
            elif entry.name != "__pycache__":  # Python rewrites these as it likes
                yield from _walk(Path(entry.path))
