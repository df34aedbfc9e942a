"""Programs that take steps: for real, with programs that go wrong in every way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpconf import evidence
from mcpconf.client.job import ClientError, DriverVerdict
from mcpconf.client.steps import shaped
from mcpconf.decode import load_json
from mcpconf.process import EndKind

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="a descriptor is handed on"),
]

ENTRY = Path(evidence.__file__).parent / "client" / "entry.py"
PATIENCE_S = 30.0
#: Answers every step; a line of a test may change `answer`.
PROGRAM = """
import json, os, sys
results = os.fdopen(int(os.environ["MCPCONF_RESULTS_FD"]), "w")
def say(line):
    print(line, file=results, flush=True)
def answer(step):
    value = {"verb": step["verb"], "items": []}
    say(json.dumps({"id": step["id"], "ok": True, "value": value}))
__MORE__
for line in sys.stdin:
    answer(json.loads(line))
"""
#: A parent to which nobody but the drive belongs; it adopts, and ends, what is left.
PARENT = """
import ctypes, os, signal, subprocess, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
code = subprocess.call(sys.argv[1:])
try:
    with open(f"/proc/self/task/{os.getpid()}/children") as stream:
        for child in stream.read().split():
            os.kill(int(child), signal.SIGKILL)
except OSError:
    pass
sys.exit(code)
"""


class Desk:
    """A case directory, and the entry started in it with a program of steps."""

    def __init__(self, place: Path) -> None:
        self.report = place / "adapter.json"
        self.place, self.tmp = place, place / "tmp"
        self.tmp.mkdir()
        self.job: dict[str, Any] = {
            "driver": "command",
            "home": str(place),
            "cwd": str(place),
            "report": str(self.report),
            "scenario": "made-up",
            "revision": "2025-11-25",
            "deadline_s": PATIENCE_S,
            "request_s": PATIENCE_S,
            "environment": {"TMPDIR": str(self.tmp)},
            "options": {},
            "kind": "supplemental",
            "transport": "stdio",
            "servers": {"subject": {"argv": ["server"], "env": {}}},
            "steps": [{"id": "one", "verb": "list"}, {"id": "two", "verb": "close"}],
            "request_timeout_s": 10.0,
            "tmp": str(self.tmp),
        }

    def drive(self, more: str = "", *, words: tuple[str, ...] = ()) -> int:
        """Drive `PROGRAM` with some of it replaced; the exit status of the entry."""
        program = PROGRAM.replace("__MORE__", more)
        self.job["argv"] = [sys.executable, "-I", "-S", "-c", program]
        job = self.place / "job.json"
        job.write_text(json.dumps(self.job), "utf-8")
        entry = [sys.executable, "-I", "-S", str(ENTRY), str(job), *words]
        return subprocess.run(
            [sys.executable, "-I", "-S", "-c", PARENT, *entry],
            env={"OTHER": "of the suite"},
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
        ).returncode

    def record(self) -> evidence.AdapterRecord:
        return evidence.parse_adapter(load_json(self.report), self.report)

    def results(self) -> list[Any]:
        return list(self.record().results or ())


def _value(verb: str) -> dict[str, Any]:
    """What `PROGRAM` answers."""
    return {"verb": verb, "items": []}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_each_step_has_its_result_and_what_the_driver_saw(desk: Desk) -> None:
    assert desk.drive() == 0

    record = desk.record()
    assert record.verdict is DriverVerdict.DONE
    assert (record.end.kind, record.end.exit_code) == (EndKind.EXITED, 0)
    one, two = desk.results()
    assert (one["id"], one["ok"], one["value"]) == ("one", True, _value("list"))
    assert two["value"] == _value("close")
    assert one["t0_ms"] <= one["t1_ms"] <= two["t0_ms"] <= two["t1_ms"]
    if sys.platform == "linux":
        assert one["fds"] == 4  # stdin, stdout, stderr, results
    assert one["children"] == []
    assert record.aftermath == {"survivors": [], "temporary": [], "listening": []}


def test_a_program_is_told_what_the_contract_says_and_nothing_else(desk: Desk) -> None:
    desk.drive(
        "def answer(step):\n"
        "    value = {'environment': dict(os.environ), 'arguments': sys.argv[1:],\n"
        "             'items': []}\n"
        "    say(json.dumps({'id': step['id'], 'ok': True, 'value': value}))\n"
    )

    value = desk.results()[0]["value"]
    environment = value["environment"]
    assert int(environment.pop("MCPCONF_RESULTS_FD")) > 2
    environment.pop("LC_CTYPE", None)  # Python sets it for itself
    assert json.loads(environment.pop("MCPCONF_SERVERS")) == desk.job["servers"]
    assert environment == {
        "TMPDIR": str(desk.tmp),
        "MCPCONF_SCENARIO": "made-up",
        "MCPCONF_REVISION": "2025-11-25",
        "MCPCONF_TRANSPORT": "stdio",
        "MCPCONF_REQUEST_TIMEOUT_S": "10",
    }
    assert value["arguments"] == []


def test_errors_and_unsupported_steps_are_results_of_a_drive_that_is_done(
    desk: Desk,
) -> None:
    error = {"kind": "rpc", "message": "no", "code": -32601}
    said = {
        "one": {"id": "one", "ok": False, "error": error},
        "two": {"id": "two", "unsupported": "never heard of it"},
    }

    assert desk.drive(f"def answer(step): say(json.dumps({said!r}[step['id']]))") == 0

    one, two = desk.results()
    assert (one["ok"], one["error"]) == (False, error)
    assert two["unsupported"] == "never heard of it"


def test_a_step_that_hangs_is_timed_out_and_the_rest_is_missing(desk: Desk) -> None:
    desk.job["request_timeout_s"] = -2.5  # half a second with the driver's own grace

    code = desk.drive(
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "def answer(step): signal.pause()"
    )

    assert code == 1
    record = desk.record()
    assert record.end.kind is EndKind.TIMED_OUT
    assert [(each["id"], each["timed_out"]) for each in desk.results()] == [
        ("one", True)
    ]


def test_a_program_that_stays_after_the_last_step_is_timed_out(desk: Desk) -> None:
    desk.job["deadline_s"] = 1.0

    code = desk.drive("import atexit, signal; atexit.register(signal.pause)")

    assert code == 1
    assert desk.record().end.kind is EndKind.TIMED_OUT
    assert [each["id"] for each in desk.results()] == ["one", "two"]


#: What follows happens instead of the second answer.
_SECOND = """
first = answer
def answer(step):
    if step["id"] == "one":
        return first(step)
    """


@pytest.mark.parametrize(
    ("last_words", "end", "error"),
    [
        ("sys.exit(0)", (EndKind.EXITED, 0, None), "exited before its result"),
        ("sys.exit(7)", (EndKind.EXITED, 7, None), "exited with 7"),
        ("os.abort()", (EndKind.SIGNALLED, None, "SIGABRT"), "killed by SIGABRT"),
    ],
)
def test_a_program_that_leaves_midway_is_recorded_as_it_ended(
    desk: Desk,
    last_words: str,
    end: tuple[EndKind, int | None, str | None],
    error: str,
) -> None:
    assert desk.drive(_SECOND + last_words) == 1

    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert (record.end.kind, record.end.exit_code, record.end.signal) == end
    assert error in (record.error or "")
    assert [each["id"] for each in desk.results()] == ["one"]


@pytest.mark.parametrize("more", ["sys.exit(69)", _SECOND + "sys.exit(69)"])
def test_exit_69_says_unsupported_at_any_time(desk: Desk, more: str) -> None:
    assert desk.drive(more) == 69

    assert desk.record().verdict is DriverVerdict.UNSUPPORTED


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("garbage", "not JSON: b'garbage'"),
        ("[1]", "not an object: b'[1]'"),
        ('{"id": "two", "ok": true, "value": {}}', "under the id 'two'"),
        ('{"id": "one", "ok": true, "value": {"x": NaN}}', "not JSON"),
        ('{"id": "one", "ok": true}', "wrote no result"),
        ('{"id": "one", "ok": false, "error": {"kind": "odd"}}', "kind 'odd'"),
    ],
)
def test_a_line_that_is_no_result_is_the_programs_failure(
    desk: Desk, line: str, error: str
) -> None:
    assert desk.drive(f"def answer(step): say({line!r})") == 1

    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert error in (record.error or "")
    assert (record.end.kind, record.end.exit_code) == (EndKind.EXITED, 0)
    assert record.results == ()


def _nested(levels: int) -> str:
    """A result of so many levels, the line's own object and its value's among them."""
    inside = levels - 2
    value = '{"items": [], "x": ' + "[" * inside + "]" * inside + "}"
    return '{"id": "one", "ok": true, "value": ' + value + "}"


@pytest.mark.parametrize("levels", [65, 500, 100_000])
def test_a_line_is_bounded_in_its_depth(desk: Desk, levels: int) -> None:
    (desk.place / "line").write_text(_nested(levels), "utf-8")

    assert desk.drive("def answer(step): say(open('line').read())") == 1

    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert """one: the program wrote a line of over 64 levels: b'{"id": "one",""" in (
        record.error or ""
    )
    assert record.results == ()


def test_a_line_of_the_greatest_depth_is_taken(desk: Desk) -> None:
    desk.job["steps"] = desk.job["steps"][:1]

    assert desk.drive(f"def answer(step): say({_nested(64)!r})") == 0


def test_an_answer_that_is_ahead_of_its_step_is_none(desk: Desk) -> None:
    """What is written before the step is known cannot come of doing it."""
    code = desk.drive(
        "def answer(step):\n"
        "    lines = [json.dumps({'id': each, 'ok': True, 'value': {'items': []}})\n"
        "             for each in ('one', 'two')]\n"
        "    say('\\n'.join(lines))"
    )

    assert code == 1
    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert "two: the program wrote ahead of the step" in (record.error or "")
    assert [each["id"] for each in desk.results()] == ["one"]


_CALLED = {"result": {"content": []}, "notifications": [], "elicitations": []}


@pytest.mark.parametrize(
    ("verb", "value", "problem"),
    [
        ("connect", {"serverInfo": "x"}, "serverInfo is not an object"),
        ("connect", {"protocolVersion": 1}, "protocolVersion is not a string"),
        ("connect", {"capabilities": []}, "capabilities is not an object"),
        ("connect", {"instructions": {}}, "instructions is not a string"),
        ("list", {}, "items is not a list of objects"),
        ("list", {"items": True}, "items is not a list of objects"),
        ("list", {"items": [{}, []]}, "items is not a list of objects"),
        ("list", {"items": [{}, {"name": {}}]}, "items.1.name is not a string"),
        ("list", {"items": [{"uri": []}]}, "items.0.uri is not a string"),
        (
            "list",
            {"items": [{"uriTemplate": 1}]},
            "items.0.uriTemplate is not a string",
        ),
        ("call", {}, "result is not an object"),
        ("call", {**_CALLED, "result": []}, "result is not an object"),
        (
            "call",
            {**_CALLED, "result": {"content": [1]}},
            "result.content is not a list of objects",
        ),
        (
            "call",
            {**_CALLED, "result": {"content": [], "isError": 1}},
            "result.isError is not a boolean",
        ),
        (
            "call",
            {**_CALLED, "notifications": "x"},
            "notifications is not a list of objects",
        ),
        (
            "call",
            {**_CALLED, "notifications": [{"params": {}}]},
            "notifications.0.method is not a string",
        ),
        (
            "call",
            {**_CALLED, "notifications": [{"method": "m", "params": [1]}]},
            "notifications.0.params is not an object",
        ),
        (
            "call",
            {**_CALLED, "elicitations": None},
            "elicitations is not a list of objects",
        ),
        ("read", {"contents": 1.5}, "contents is not a list of objects"),
        ("prompt", {"messages": None}, "messages is not a list of objects"),
        (
            "prompt",
            {"messages": [{"content": None}]},
            "messages.0.content is not an object",
        ),
        ("await", {"params": None}, "params is not an object"),
        ("listen", {}, "notifications is not a list of objects"),
        (
            "listen",
            {"notifications": [{"method": 5}]},
            "notifications.0.method is not a string",
        ),
    ],
)
def test_a_value_of_another_shape_is_the_clients_failure(
    verb: str, value: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ClientError) as caught:
        shaped(value, {"id": "one", "verb": verb})

    assert str(caught.value) == f"step one: value.{problem}"


@pytest.mark.parametrize(
    ("verb", "value"),
    [
        ("connect", {"serverInfo": None}),
        ("list", {"items": [{"name": "n", "uri": None}]}),
        ("call", {**_CALLED, "notifications": None}),
        ("call", {**_CALLED, "notifications": [{"method": "m"}]}),
        ("call", {**_CALLED, "result": {"structuredContent": [1]}}),
        ("cancel", {}),
        ("close", {"more": 1}),
    ],
)
def test_what_is_unknown_or_beyond_the_shape_is_taken(
    verb: str, value: dict[str, Any]
) -> None:
    assert shaped(value, {"id": "one", "verb": verb}) == value


def test_the_shape_of_a_value_is_asked_for_when_it_is_taken(desk: Desk) -> None:
    line = '{"id": "one", "ok": true, "value": {"items": true}}'

    assert desk.drive(f"def answer(step): say({line!r})") == 1

    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    problem = "step one: value.items is not a list of objects"
    assert problem in (record.error or "")
    assert record.results == ()


def test_a_line_without_an_end_is_bounded(desk: Desk) -> None:
    assert desk.drive("def answer(step): say('x' * (9 * 1024 * 1024))") == 1

    assert "over 8388608 bytes" in (desk.record().error or "")


def test_what_a_program_leaves_in_its_temporary_directory_is_named(desk: Desk) -> None:
    desk.drive(
        "place = os.environ['TMPDIR'] + '/a'\n"
        "os.mkdir(place)\n"
        "open(place + '/b', 'w').close()"
    )

    aftermath = desk.record().aftermath
    assert aftermath is not None
    assert aftermath["temporary"] == ["a/", "a/b"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_child_that_outlives_the_program_is_a_survivor(desk: Desk) -> None:
    """It holds the results pipe open, too, which must not look like a silent step."""
    child = desk.place / "stays_behind.py"
    child.write_text("import signal\nsignal.pause()\n", "utf-8")

    code = desk.drive(
        "import subprocess\n"
        f"subprocess.Popen([sys.executable, {str(child)!r}], close_fds=False)\n"
        + _SECOND
        + "sys.exit(7)"
    )

    assert code == 1
    record = desk.record()
    assert (record.end.kind, record.end.exit_code) == (EndKind.EXITED, 7)
    assert record.aftermath is not None
    survivors = record.aftermath["survivors"]
    assert isinstance(survivors, list)
    assert [str(each).split()[-1] for each in survivors] == ["stays_behind.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_launcher_does_not_hide_what_its_program_leaks(desk: Desk) -> None:
    inner = desk.place / "inner.py"
    leak = "def leaks(step): os.dup(0); os.dup(0); os.dup(0); first(step)"
    more = f"first = answer\n{leak}\nanswer = leaks"
    inner.write_text(PROGRAM.replace("__MORE__", more), "utf-8")

    code = desk.drive(
        "import subprocess\n"
        "pipe = int(os.environ['MCPCONF_RESULTS_FD'])\n"
        f"words = [sys.executable, '-I', '-S', {str(inner)!r}]\n"
        "sys.exit(subprocess.call(words, pass_fds=(pipe,)))"
    )

    assert code == 0
    one, two = desk.results()
    assert (one["fds"], two["fds"]) == (4 + 4 + 3, 4 + 4 + 6)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_server_that_still_runs_is_not_what_a_program_leaks(desk: Desk) -> None:
    server = [sys.executable, "-c", "input()", "a server"]
    desk.job["servers"] = {"subject": {"argv": server, "env": {}}}

    desk.drive(
        "import atexit, subprocess\n"
        f"child = subprocess.Popen({server!r}, stdin=subprocess.PIPE)\n"
        "atexit.register(lambda: (child.stdin.close(), child.wait()))"
    )

    one, _ = desk.results()
    assert len(one["children"]) == 1
    assert one["fds"] == 4 + 1  # and its end of the server's input


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_children_and_ports_are_noted_while_the_program_runs(desk: Desk) -> None:
    desk.drive(
        "import socket, subprocess\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "child = subprocess.Popen([sys.executable, '-c', 'input()'],\n"
        "                         stdin=subprocess.PIPE)\n"
        "def answer(step):\n"
        "    value = {'port': listener.getsockname()[1], 'items': []}\n"
        "    say(json.dumps({'id': step['id'], 'ok': True, 'value': value}))\n"
        "import atexit; atexit.register(lambda: (child.stdin.close(), child.wait()))"
    )

    one, _ = desk.results()
    assert len(one["children"]) == 1
    aftermath = desk.record().aftermath
    assert aftermath is not None
    assert aftermath["listening"] == [one["value"]["port"]]
    assert aftermath["survivors"] == []


def test_a_url_is_refused_where_the_servers_are_in_the_job(desk: Desk) -> None:
    assert desk.drive(words=("http://127.0.0.1:1/mcp",)) == 64

    assert not desk.report.exists()
