"""docs/migration.md leaves nothing of the original out, and names nothing we lack."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from make_expected_failures import make_baseline, make_failure, make_identity

from mcpconf import cli_arguments
from mcpconf.baseline.encode import to_json
from mcpconf.fixture_server import arguments
from mcpconf.fixture_server.profile import PROFILES
from mcpconf.gate_record import GatePolicy, GateResult, GateVerdict
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.tasks import collection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "migration.md"
PAGE = PATH.read_text("utf-8")
SCHEMA = ROOT / "mcpconf" / "data" / "report-schema-4.json"
CHECKS = {
    f"{scenario.name}:{check.id}"
    for scenario in SCENARIOS.values()
    for check in scenario.checks
}

#: What the original has, by the page's section: flags of its parsers, and so on.
MAIN_FLAGS = """
    codex_binary --mode --transport --server-script --adapter-script --conformance-cli
    --official-scenario --auth --no-auth --require-automatic-auth --timeout --report
    --baseline-report --write-baseline --extract-baseline --json --artifact-parent
    --keep-artifacts --enable-modern-feature --no-enable-modern-feature
"""
REVIEW_FLAGS = """
    codex_binary --mode --timeout --server-script --report --baseline-report
    --write-baseline --extract-baseline --artifact-parent --keep-artifacts --json
"""
FIXTURE = """
    --mode --transport --profile --host --port --endpoint --allowed-origin
    default review-regressions repeated-cursor discovery-mismatched-id
    discovery-null-id sse-cr-comments sse-comment-flood catalog-max catalog-over-limit
"""
VARIABLES = """
    CODEX_CONFORMANCE_BINARY CODEX_CONFORMANCE_HOME CODEX_CONFORMANCE_ADAPTER_REPORT
    CODEX_CONFORMANCE_TIMEOUT CODEX_CONFORMANCE_ENABLE_MODERN_FEATURE
    CODEX_CONFORMANCE_REQUIRE_AUTOMATIC_AUTH CODEX_CONFORMANCE_CLIENT_REGISTRATION
    MCP_CONFORMANCE_SCENARIO MCP_CONFORMANCE_PROTOCOL_VERSION MCP_CONFORMANCE_CONTEXT
    MCP_CONFORMANCE_CLIENT_SECRET CODEX_MCP_PROTOCOL_VERSION
"""
FILES = """
    server.py codex_conformance_adapter.py official_conformance.py stdout.txt stderr.txt
    checks.json
"""
REPORT = """
    schemaVersion success startedAt finishedAt codexBinary codexVersion
    modernFeatureEnablement automaticAuthRequired officialConformance.repository
    officialConformance.gitRef officialConformance.scope
    officialConformance.authenticationIncluded officialConformance.scenarios
    versionCheck summary modeSummaries testMatrix cases cases.transport cases.mode
    cases.success cases.duration_seconds cases.diagnostics cases.checks.name
    cases.checks.success cases.checks.detail cases.checks.status cases.checks.source
    cases.checks.scenario cases.checks.check_id cases.checks.category artifacts
    regressionGate
"""
BASELINE = """
    baselineKind schemaVersion requiredModes transports versionCheck
    modernFeatureEnablement automaticAuthRequired officialConformance.repository
    officialConformance.gitRef officialConformance.authenticationIncluded
    officialConformance.scenarios checks.passing checks.failing
"""
GATE = """
    success requiredModes baselineReport configurationErrors newFailures missingChecks
    knownFailures fixedChecks
"""
MAIN_CHECKS = """
    mcp_add mcp_get app_server_initialize modern_feature_enablement inventory
    ephemeral_thread echo_tool unicode_resource_read per_request_metadata
    request_scoped_notifications multi_round_trip_request http_header_mirroring
    mcp_remove isolated_config_cleanup app_server_protocol case_runtime
"""
#: Each begins with ``review/``.
REVIEW_CHECKS = """
    modern-feature-configuration mcp-registration app-server-initialize
    modern-feature-enablement isolated-registration-cleanup client-runtime
    ephemeral-thread server-discovery modern-paginated-tools-page-two
    exact-large-integer-tool-schema exact-large-integer-tool-round-trip
    legacy-reserved-stdio-environment-preserved exact-large-integer-elicitation-schema
    exact-large-integer-elicitation-round-trip mrtr-input-requests-bounded-to-64
    repeated-pagination-cursor-bounded reject-mismatched-discovery-response-id
    reject-null-discovery-response-id sse-cr-discovery
    sse-carriage-return-and-comment-framing
    sse-comment-flood-excluded-from-event-size-limit
    catalog-at-limit/startup-ready catalog-at-limit/configured-server
    catalog-at-limit/server-info catalog-at-limit/tool-count
    catalog-over-limit/startup-failed catalog-over-limit/exact-limit-error
    catalog-over-limit/configured-server catalog-over-limit/server-info
    catalog-over-limit/tool-count
"""
KNOWN_FAILURES = """
    auth/metadata-var3 auth/scope-from-www-authenticate auth/scope-step-up
    auth/pre-registration elicitation-sep1034-client-defaults
    review/exact-large-integer-elicitation-schema
    review/exact-large-integer-elicitation-round-trip
    review/mrtr-input-requests-bounded-to-64 review/catalog-over-limit
"""
WANTED: Mapping[str, list[str]] = {
    "Flags of the main runner": MAIN_FLAGS.split(),
    "Flags of the review runner": REVIEW_FLAGS.split(),
    "Flags and profiles of the fixture server": FIXTURE.split(),
    "Environment variables": VARIABLES.split(),
    "Files": FILES.split(),
    "Exit codes": [],
    "Report, schema 4": REPORT.split(),
    "Baseline": BASELINE.split(),
    "Gate": GATE.split(),
    "Checks of the main runner": MAIN_CHECKS.split(),
    "Checks of the review runner": [f"review/{each}" for each in REVIEW_CHECKS.split()],
    "Its known failures": KNOWN_FAILURES.split(),
}

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
CODE = re.compile(r"`([^`]+)`")
ROW = re.compile(r"^\| .* \|$", re.MULTILINE)


def sections(page: str) -> dict[str, str]:
    """Heading → text."""
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(text: str) -> Iterator[list[str]]:
    """The rows of a text's tables, headings and rulers apart."""
    for line in ROW.findall(text):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if cells[0] not in {"original", "original profile", "version 1", "---"}:
            yield cells


def codes(text: str) -> list[str]:
    return CODE.findall(text)


def options(parser: Any) -> set[str]:
    found = set(parser._option_string_actions)
    for action in parser._actions:
        if isinstance(action.choices, dict):
            found |= {
                name for each in action.choices.values() for name in options(each)
            }
    return found


def has_member(schema: Mapping[str, Any], path: str) -> bool:
    """Whether a JSON Schema describes a member; arrays are looked through."""
    here: Any = schema
    for name in path.split("."):
        while "$ref" in here or "items" in here:
            here = (
                schema["$defs"][here["$ref"].rpartition("/")[2]]
                if "$ref" in here
                else here["items"]
            )
        if name not in here.get("properties", {}):
            return False
        here = here["properties"][name]
    return True


def is_in(value: Any, path: str) -> bool:
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True


def incomplete(page: str) -> Iterator[str]:
    """What of the original has no row, or what is no part of the original."""
    by_name = sections(page)
    for name, wanted in WANTED.items():
        found = [
            code for cells in rows(by_name.get(name, "")) for code in codes(cells[0])
        ]
        yield from (
            f"{name}: no row for {each}" for each in wanted if each not in found
        )
        yield from (
            f"{name}: {each} is not the original's" for each in set(found) - set(wanted)
        )
        yield from (
            f"{name}: a row of {len(cells)} cells"
            for cells in rows(by_name.get(name, ""))
            if len(cells) != 3
        )
    exits = {cells[0] for cells in rows(by_name.get("Exit codes", ""))}
    if not {"0", "1", "2"} <= exits:
        yield "Exit codes: no row for each of 0, 1, 2"


def unknown(page: str) -> Iterator[str]:
    """What the page says is here and is not."""
    run, fixture = options(cli_arguments.parser()), options(arguments._parser())
    for name, text in sections(page).items():
        ours = [cell for cells in rows(text) for cell in cells[1:]]
        known = run | (fixture if "fixture server" in name else set())
        known |= {"--out"} if "invoke baseline.extract" in text else set()
        for flag in FLAG.findall(" ".join([*ours, ROW.sub("", text)])):
            if flag not in known:
                yield f"{name}: {flag} is no flag here"
    for task in re.findall(r"`invoke\s+([a-z.-]+)", page):
        if task not in known_tasks():
            yield f"{task} is no task"
    for ref in re.findall(r"`([a-z0-9-]+:[a-z0-9-]+)`", page):
        if ref not in CHECKS | {"scenario:check-id"}:
            yield f"{ref} is no check of ours"
    yield from _unknown_members(page)
    yield from _unknown_places(page)


def known_tasks() -> set[str]:
    """Every task there is, and those that are being added with this page."""
    return {
        *(
            f"{name}.{each}"
            for name, group in collection().collections.items()
            for each in group.tasks
        ),
        *collection().tasks,
        "gate",
        *(
            f"baseline.{each}"
            for each in (
                "extract",
                "diff",
                "migrate",
                "explain",
                "export-expected-failures",
                "import-expected-failures",
            )
        ),
    }


def _unknown_members(page: str) -> Iterator[str]:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    baseline = to_json(make_baseline([make_failure(make_identity())]))
    gate = GateResult(verdict=GateVerdict.GREEN, policy=GatePolicy(), scope="whole")
    kinds: list[tuple[str, str, Callable[[str], bool]]] = [
        ("Report, schema 4", "member of a report", partial(has_member, schema)),
        ("Baseline", "member of a baseline", partial(is_in, baseline)),
        ("Gate", "member of a gate's answer", partial(is_in, gate.to_json())),
        (
            "Flags and profiles of the fixture server",
            "profile",
            lambda each: each in PROFILES or each.startswith("--"),
        ),
    ]
    for section, what, is_known in kinds:
        for cells in rows(sections(page)[section]):
            for each in codes(cells[1]):
                if not is_known(each):
                    yield f"{each} is no {what}"


def _unknown_places(page: str) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)#]+)", page):
        if not (PATH.parent / target).exists():
            yield f"{target}: a link to nothing"
    for target in re.findall(r"\]\(#([^)]+)\)", page):
        anchors = {each.lower().replace(" ", "-") for each in sections(page)}
        if target not in anchors:
            yield f"#{target}: no such heading"
    for cells in rows(sections(page)["Files"]):
        for place in codes(cells[1]):
            if place.startswith("mcpconf/") and not (ROOT / place).exists():
                yield f"{place}: no such file"


def test_everything_of_the_original_has_a_row() -> None:
    assert list(incomplete(PAGE)) == []


def test_everything_the_page_names_is_there() -> None:
    assert list(unknown(PAGE)) == []


def _mapped_rows() -> list[str]:
    """Each row that something of the original stands in."""
    return [
        line
        for name, text in sections(PAGE).items()
        if WANTED.get(name)
        for line in ROW.findall(text)
        if set(codes(line.split(" | ")[0])) & set(WANTED[name])
    ]


def test_a_row_that_is_taken_out_is_missed() -> None:
    lines = _mapped_rows()
    assert len(lines) > 100
    by_count = {line: PAGE.count(line) for line in lines}
    for line in lines:
        # Two runners share some rows: then one is missed all the same.
        assert by_count[line] >= 1
        assert list(incomplete(PAGE.replace(f"{line}\n", "", 1))), line


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("| `--revision` |", "| `--revisions` |", "--revisions is no flag here"),
        ("--ratchet`. Plant", "--rachet`. Plant", "--rachet is no flag here"),
        ("| `--host` | `--host`", "| `--host` | `--listen`", "--listen is no flag"),
        ("invoke baseline.migrate", "invoke baseline.migrat", "is no task"),
        ("`basics:echo`", "`basics:ecko`", "basics:ecko is no check of ours"),
        ("`basics:echo`", "`basic:echo`", "basic:echo is no check of ours"),
        ("| `opening-other-id` |", "| `opening-id` |", "opening-id is no profile"),
        ("| `testMatrix` | `testMatrix`", "| `testMatrix` | `matrix`", "of a report"),
        ("| `scope.authentication` |", "| `authentication` |", "of a baseline"),
        ("| `newFailures` | `newFailures`", "| `newFailures` | `new`", "of a gate"),
        ("(launch.md)", "(lunch.md)", "lunch.md: a link to nothing"),
        ("(#its-known-failures)", "(#known)", "#known: no such heading"),
        ("| `mcpconf/suite/`", "| `mcpconf/suites/`", "mcpconf/suites/: no such file"),
    ],
)
def test_a_name_that_does_not_exist_is_found_out(old: str, new: str, said: str) -> None:
    assert old in PAGE
    assert any(said in each for each in unknown(PAGE.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| `mcp_add` |", "| `mcp_ad` |"),
        ("| 1 | 1 |", "| 4 | 1 |"),
        ("| `echo_tool` | `basics:echo` | |", "| `echo_tool` | `basics:echo` |"),
    ],
)
def test_a_row_that_is_spoilt_is_found_out(old: str, new: str) -> None:
    assert old in PAGE
    page = PAGE.replace(old, new, 1)
    for other in ("| 1 | 2 |", "| 1 | 3 |"):  # the rows that would make up for it
        page = page.replace(other, other.replace("1", "5"))
    assert list(incomplete(page))
