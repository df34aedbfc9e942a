"""
Codex's empty databases, made once a run instead of in every home.

In a new home the app-server makes five SQLite databases and brings each to its present
form in dozens of written-through steps: half of its processor time in a short drive.
So the first drive of a run has an app-server make them in a home of its own, where it
is told nothing but who its host is, and each drive begins with a copy of those files.
"""

from __future__ import annotations

import contextlib
import os

from mcpconf.client.codex.app_server import AppServer
from mcpconf.client.codex.registration import (
    codex_environment,
    codex_home,
    lean_tables,
)
from mcpconf.client.codex.session import Session
from mcpconf.client.job import ClientError, Record

_NAME = "codex-databases"
#: A database, and what an app-server that left in haste has not yet put into it.
_SUFFIXES = (".sqlite", ".sqlite-wal")


def lay_out(record: Record) -> None:
    """
    Put the databases into the drive's new home, where the job names a shared place.

    Without one, or where Codex made none, it makes them itself as for any new home.
    """
    shared = record.job.shared
    if shared is None:
        return
    place = os.path.join(shared, _NAME)
    if not os.path.isdir(place):
        _make(record, place)
    home = codex_home(record)
    os.makedirs(home, mode=0o700, exist_ok=True)
    for name in os.listdir(place):
        with open(os.path.join(place, name), "rb") as database:
            content = database.read()
        with open(os.path.join(home, name), "wb") as copy:
            copy.write(content)


def _make(record: Record, place: str) -> None:
    import shutil  # noqa: PLC0415 (10 ms, and one drive needs it)

    own = f"{place}.{os.getpid()}"
    os.mkdir(own, 0o700)
    with open(os.path.join(own, "config.toml"), "w", encoding="utf-8") as stream:
        stream.write("\n".join(lean_tables(stateless=False)) + "\n")
    _start_and_end(record, own)
    for name in os.listdir(own):
        path = os.path.join(own, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif not name.endswith(_SUFFIXES):
            os.remove(path)
    _settle(own)
    try:
        os.rename(own, place)
    except OSError:  # another drive of the run was faster
        shutil.rmtree(own)


def _settle(place: str) -> None:
    """Put into the databases what lies beside them, else every home does it anew."""
    try:
        import sqlite3  # noqa: PLC0415 (one drive needs it)
    except ImportError:  # a Python built without it: the files are whole as they are
        return
    for name in os.listdir(place):
        if name.endswith(_SUFFIXES[0]):
            with contextlib.suppress(sqlite3.Error):
                database = sqlite3.connect(os.path.join(place, name))
                try:
                    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    database.close()


def _start_and_end(record: Record, home: str) -> None:
    # What goes wrong here goes wrong in the drive too, and is told there.
    aside = Record(record.job)
    environment = {**codex_environment(record), "CODEX_HOME": home}
    try:
        with AppServer(aside, environment, dict) as app:
            Session(aside, app, {}).initialise()
    except ClientError:
        return
