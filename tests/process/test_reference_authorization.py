"""
The reference client under the real suite, and every way of breaking it.

A broken client fails exactly the check ids that ``table.json`` names, and no other. The
cases that pytest collected are started together, two at a time, and each test waits for
its own.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from mcpconf import run
from mcpconf.client.install import install_pypi_client
from mcpconf.client.manifest import REFERENCE
from mcpconf.render.progress import LineProgress
from mcpconf.revision import Revision
from mcpconf.setup import RunOptions, resolve
from mcpconf.suite.install import install_suite

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.process, pytest.mark.suite]

FIXTURES = Path(__file__).parents[2] / "fixtures" / "clients" / "authorization"
BROKEN = FIXTURES / "broken.py"
EXTENSIONS = (
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
)
SEVERITY = ("INFO", "SUCCESS", "WARNING", "FAILURE")
REVISIONS = (Revision.V2025_11_25, Revision.V2026_07_28)


class Row(NamedTuple):
    """One broken client in one scenario, as the table has it."""

    name: str
    #: After "a client that".
    does: str
    scenario: str
    revision: str
    fails: list[str]
    #: Only a WARNING of the suite; fails a scenario as long as warnings do.
    warns: list[str]
    #: Of the scenario, where nothing fails.
    outcome: str = "passed"

    @property
    def asked(self) -> Asked:
        """The case to run."""
        return Asked(self.scenario, Revision(self.revision), self.name)


class Asked(NamedTuple):
    """One case to run; no `broken`: with the client as it is shipped."""

    scenario: str
    revision: Revision
    broken: str | None = None

    def __str__(self) -> str:
        words = (self.broken or "good", self.scenario, self.revision.value)
        return "-".join(each.removeprefix("auth/") for each in words)


class Seen(NamedTuple):
    """What the report says of it."""

    scenario: dict[str, Any]
    #: Check id → what the suite said, at its worst.
    official: dict[str, str]


ROWS = [
    Row(**each) for each in json.loads((FIXTURES / "table.json").read_text("utf-8"))
]
GOOD = [Asked(name, each) for name in EXTENSIONS for each in REVISIONS]


def judge(asked: Asked, output: Path, python: Path) -> Seen:
    words = None if asked.broken is None else (str(python), str(BROKEN), asked.broken)
    setup = resolve(
        RunOptions(
            client=REFERENCE.name,
            client_command=words and shlex.join(words),
            revisions=(asked.revision,),
            scenarios=(asked.scenario,),
            output_dir=output,
            jobs=1,
        )
    )
    (leg,) = run.perform(setup, LineProgress(1)).value["cases"]
    (scenario,) = leg["scenarios"]
    said = [
        (SEVERITY.index(each["suite_status"]), each["check_id"], each["suite_status"])
        for each in (*leg["checks"], *leg["notScored"])
        if each["source"] == "official"
    ]
    # An id that is said several times is as bad as its worst.
    official = {check_id: status for _, check_id, status in sorted(said)}
    return Seen(scenario, official)


@pytest.fixture(scope="module")
def python() -> Path:
    """The Python of the reference client's environment."""
    data = Path(str(resources.files("mcpconf"))) / "data" / "clients"
    return install_pypi_client(data / REFERENCE.name / "requirements.txt")


@pytest.fixture(scope="module")
def judged(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    python: Path,
) -> Iterator[dict[Asked, Future[Seen]]]:
    """Every case that one of the collected tests asks for."""
    begun: dict[Asked, Future[Seen]] = {}
    with ThreadPoolExecutor(2) as pool:
        for item in request.session.items:
            spec: Any = getattr(item, "callspec", None)
            asked = spec.params.get("asked") if spec is not None else None
            if isinstance(asked, Asked) and asked not in begun:
                place = tmp_path_factory.mktemp("judged")
                begun[asked] = pool.submit(judge, asked, place, python)
        yield begun
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("asked", GOOD, ids=str)
def test_the_reference_client_passes(
    judged: dict[Asked, Future[Seen]], asked: Asked
) -> None:
    seen = judged[asked].result()

    assert seen.scenario["reason"] == "passed"
    assert asked.revision.value in seen.scenario["revision"]["offered"]
    assert set(seen.official.values()) <= {"INFO", "SUCCESS"}
    assert "SUCCESS" in seen.official.values()


@pytest.mark.parametrize(
    ("asked", "row"), [pytest.param(row.asked, row, id=str(row.asked)) for row in ROWS]
)
def test_a_broken_client_fails_the_checks_that_are_named_and_no_other(
    judged: dict[Asked, Future[Seen]], asked: Asked, row: Row
) -> None:
    seen = judged[asked].result()

    wrong = {
        name: said
        for name, said in seen.official.items()
        if said in {"WARNING", "FAILURE"}
    }
    assert wrong == {
        **dict.fromkeys(row.fails, "FAILURE"),
        **dict.fromkeys(row.warns, "WARNING"),
    }
    assert seen.scenario["outcome"] == ("failed" if wrong else row.outcome)


def test_every_broken_client_is_in_the_table(python: Path) -> None:
    listed = subprocess.run(
        (str(python), str(BROKEN)),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert set(listed.stdout.split()) == {row.name for row in ROWS}


def test_every_scenario_is_broken_at_both_revisions() -> None:
    tried = {row.asked[:2] for row in ROWS if row.fails or row.warns}
    assert tried == {asked[:2] for asked in GOOD}


def test_every_check_of_the_extensions_has_a_broken_client() -> None:
    pattern = r"`((?:wif|client-credentials|complete-flow|sep-1932-client)-[a-z-]+)`"
    known = set(re.findall(pattern, install_suite().entry.read_text("utf-8")))
    named = {each for row in ROWS for each in (*row.fails, *row.warns)}
    assert known
    assert known <= named
