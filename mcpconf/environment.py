"""
The environment a launched program gets: an allow-list, and homes of its own.

Nothing of ours reaches it by accident: no token of a CI system, no cloud key, no
proxy, no variable that changes what Node, Python or the dynamic loader load. Every
place a program keeps its files in lies inside the isolated home, which is deleted
afterwards.

Certificate bundles (`SSL_CERT_FILE` and its kin) are not passed either: the mock
servers are on the loopback interface, and a bundle in somebody's home is not part of
a result that others can derive again. A client that needs one asks for it by name.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpconf.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

#: Taken from the parent: where programs are, and what time it is there.
INHERITED = ("PATH", "TZ")

#: Without these, Windows programs cannot load libraries, open sockets or run scripts.
INHERITED_ON_WINDOWS = (
    "COMSPEC",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "WINDIR",
)

#: One language and one encoding, so that messages read alike on every machine.
#: `LC_ALL` overrides every other `LC_*`; `LANG` is for programs that read only it.
LOCALE = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


def base_environment(
    parent: Mapping[str, str],
    home: Path,
    tmp: Path,
    *,
    extra: Mapping[str, str] | None = None,
    pass_names: Iterable[str] = (),
    platform: str = sys.platform,
) -> dict[str, str]:
    """
    The whole environment of a program that lives in `home` and `tmp`.

    `pass_names` are taken from `parent` where they are set there; `extra` is added
    last and wins.

    :raises UsageError: `pass_names` asks for a name that would undo the isolation.
    """
    is_windows = platform == "win32"

    def key_of(name: str) -> str:
        # Windows does not tell Path from PATH.
        return name.upper() if is_windows else name

    own = LOCALE | _places(home, tmp, is_windows=is_windows)
    wanted = {*INHERITED, *(INHERITED_ON_WINDOWS if is_windows else ())}
    for name in map(key_of, pass_names):
        if name in own:
            raise UsageError(f"{name} is set for every program; it cannot be passed on")
        wanted.add(name)
    passed = {key_of(name): value for name, value in parent.items()}
    environment = {name: passed[name] for name in sorted(wanted & passed.keys())}
    return environment | own | {key_of(k): v for k, v in (extra or {}).items()}


def _places(home: Path, tmp: Path, *, is_windows: bool) -> dict[str, str]:
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
        # It must exist and be private. So is `tmp`, and its path is short enough for
        # a socket.
        "XDG_RUNTIME_DIR": tmp,
        "TMPDIR": tmp,
        "TEMP": tmp,
        "TMP": tmp,
    }
    if is_windows:
        places |= {
            "APPDATA": home / "AppData" / "Roaming",
            "LOCALAPPDATA": home / "AppData" / "Local",
        }
    return {name: str(place) for name, place in places.items()}
