"""A launched program sees an allow-list, and homes of its own."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest

from mcpconf.environment import base_environment
from mcpconf.errors import UsageError

HOME = Path("/case/home")
TMP = Path("/case/tmp")

#: What a developer's shell or a CI job may hold, and no program under test may see.
CANARIES = (
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "ALL_PROXY",
    "ANTHROPIC_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AZURE_CLIENT_SECRET",
    "BASH_ENV",
    "CI",
    "CODEX_HOME",
    "DYLD_INSERT_LIBRARIES",
    "ENV",
    "GITHUB_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_TOKEN",
    "OPENAI_API_KEY",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
    "https_proxy",
    "npm_config_registry",
)


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_no_canary_passes(platform: str) -> None:
    parent = {name: f"canary of {name}" for name in CANARIES}

    environment = base_environment(parent, HOME, TMP, platform=platform)

    assert not [value for value in environment.values() if "canary" in value]


def test_the_path_and_the_time_zone_pass() -> None:
    parent = {"PATH": "/opt/bin:/bin", "TZ": "Europe/Vienna", "TERM": "dumb"}

    environment = base_environment(parent, HOME, TMP, platform="linux")

    assert environment["PATH"] == "/opt/bin:/bin"
    assert environment["TZ"] == "Europe/Vienna"
    assert "TERM" not in environment


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_every_place_to_keep_files_is_isolated(platform: str) -> None:
    """Whatever the parent says, and whatever is added to the record later."""
    users = {
        "HOME": "/users/me",
        "USERPROFILE": "/users/me",
        "XDG_CONFIG_HOME": "/users/me/.config",
        "XDG_DATA_HOME": "/users/me/.local/share",
        "XDG_STATE_HOME": "/users/me/.local/state",
        "XDG_CACHE_HOME": "/users/me/.cache",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "TMPDIR": "/users/me/tmp",
        "TEMP": "/users/me/tmp",
        "TMP": "/users/me/tmp",
    }
    environment = base_environment(users, HOME, TMP, platform=platform)

    assert users.keys() <= environment.keys()
    for name in users:
        assert environment[name].startswith("/case/"), name
    assert environment["TMPDIR"] == str(TMP)
    assert environment["HOME"] == str(HOME)


def test_the_language_is_the_same_on_every_machine() -> None:
    parent = {"LANG": "de_AT", "LC_MESSAGES": "de_AT", "LC_ALL": "C"}

    environment = base_environment(parent, HOME, TMP, platform="linux")

    assert {k: v for k, v in environment.items() if k.startswith(("LANG", "LC_"))} == {
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }


def test_windows_gets_what_its_programs_cannot_do_without() -> None:
    parent = {"Path": r"C:\bin", "SystemRoot": r"C:\Windows", "UserDomain": "canary"}

    environment = base_environment(parent, HOME, TMP, platform="win32")

    assert environment["PATH"] == r"C:\bin"
    assert environment["SYSTEMROOT"] == r"C:\Windows"
    assert PureWindowsPath(environment["APPDATA"]).name == "Roaming"
    assert "canary" not in environment.values()


def test_posix_gets_nothing_of_windows() -> None:
    parent = {"SYSTEMROOT": "canary"}

    environment = base_environment(parent, HOME, TMP, platform="linux")

    assert "canary" not in environment.values()
    assert "APPDATA" not in environment


def test_names_that_are_asked_for_pass_where_they_are_set() -> None:
    parent = {"CLIENT_FLAG": "on", "CLIENT_SECRET": "canary"}
    names = ("CLIENT_FLAG", "CLIENT_UNSET")

    environment = base_environment(
        parent, HOME, TMP, pass_names=names, platform="linux"
    )

    assert environment["CLIENT_FLAG"] == "on"
    assert "CLIENT_UNSET" not in environment
    assert "canary" not in environment.values()


@pytest.mark.parametrize("name", ["HOME", "XDG_RUNTIME_DIR", "TMPDIR", "LC_ALL"])
def test_a_name_that_would_undo_the_isolation_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is set for every program"):
        base_environment({name: "/users/me"}, HOME, TMP, pass_names=(name,))


def test_what_is_added_explicitly_wins() -> None:
    extra = {"PATH": "/only/here", "CODEX_HOME": "/case/home/codex"}

    environment = base_environment(
        {"PATH": "/bin"}, HOME, TMP, extra=extra, platform="linux"
    )

    assert environment.items() >= extra.items()


def test_the_parent_is_left_as_it_was() -> None:
    parent = {"PATH": "/bin"}

    base_environment(parent, HOME, TMP)["PATH"] = "/changed"

    assert parent == {"PATH": "/bin"}
