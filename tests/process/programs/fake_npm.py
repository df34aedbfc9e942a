"""
An npm that needs no registry: fake_npm.py NOTE BEHAVIOUR npm's own words.

Appends its words and home to the file NOTE, lays out the packages that the lockfile
or the manifest declares, and then behaves as told.
"""

# ruff: noqa: T201  printing is how a program speaks
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SUITE = "@modelcontextprotocol/conformance"


def main() -> None:
    note, behaviour, command, *options = sys.argv[1:]
    (prefix,) = (each for each in options if each.startswith("--prefix="))
    directory = Path(prefix.partition("=")[2])
    child = None
    if behaviour == "hangs":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    words = {
        "command": command,
        "options": options,
        "home": os.environ.get("HOME"),
        "registry": os.environ.get("NPM_CONFIG_REGISTRY"),
        "pids": [os.getpid(), *([child.pid] if child else [])],
    }
    with Path(note).open("a") as stream:
        stream.write(json.dumps(words) + "\n")  # one write: a reader sees all of it
    if behaviour == "fails":
        print("npm error code E401", file=sys.stderr)
        print("npm error //host.example/:_authToken=hunter2hunter2", file=sys.stderr)
        sys.exit(1)
    declared = json.loads((directory / "package.json").read_text())["dependencies"]
    for package, version in declared.items():
        given = "0.0.1" if behaviour == "installs-another-version" else version
        lay_out(directory, package, given, native=behaviour != "has-no-native-binary")
    if behaviour == "dies-half-way":
        (directory / "node_modules" / SUITE / "dist" / "index.js").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "hangs":
        time.sleep(60)


def lay_out(directory: Path, package: str, version: str, *, native: bool) -> None:
    home = directory / "node_modules" / package
    (home / "dist").mkdir(parents=True)
    (home / "dist" / "index.js").write_text("the entry")
    manifest = {"name": package, "version": version, "repository": "owner/name"}
    (home / "package.json").write_text(json.dumps(manifest))
    if native and package == "@openai/codex":
        name = "codex.exe" if os.name == "nt" else "codex"
        program = home.with_name("codex-here-x64") / "vendor" / "here" / "bin" / name
        program.parent.mkdir(parents=True)
        program.write_bytes(b"the native program")
        program.chmod(0o755)
    lock = directory / "package-lock.json"
    if not lock.exists():
        entry = {"version": version, "integrity": "sha512-from-the-registry"}
        lock.write_text(json.dumps({"packages": {f"node_modules/{package}": entry}}))


if __name__ == "__main__":
    main()
