"""
The shards of one run become one report, the same as if it had not been divided.

Only parts of the same run go together: every ``--shard i/n`` once, the same client, the
same suite, the same policy. Evidence stays where each shard left it; the merged report
names it below ``runs/<id of the shard>``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from mcpconf.client.manifest import manifest_of
from mcpconf.decode import Reader
from mcpconf.errors import DecodeError, UsageError
from mcpconf.identity import variant_of
from mcpconf.record import Role
from mcpconf.report_assembly import LABELS, Report, Row, assemble
from mcpconf.selection import Selection, select, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpconf.suite.catalogue import Catalogue

    Value = Mapping[str, Any]
    Place = tuple[str, str, str, str | None]


def merge(reports: Sequence[tuple[str, Value]], catalogue: Catalogue) -> Report:
    """
    One report of the stored reports of all shards, given with their names.

    :raises UsageError: they are not all the parts of one run; says which and why.
    :raises DecodeError: a report's selection cannot be read, or it is at odds with
        itself.
    """
    selections = [_selection(name, report) for name, report in reports]
    problems = [*_parts(reports, selections), *_differences(reports)]
    if problems:
        raise UsageError("; ".join(problems))
    pairs = sorted(zip(selections, reports, strict=True), key=_number)
    reports = [report for _, report in pairs]
    first = reports[0][1]
    if first["officialConformance"]["catalogue"]["digest"] != catalogue.digest:
        version = first["run"]["mcpconf"]
        raise UsageError(
            f"{reports[0][0]}: was made with another catalogue of the suite; merge "
            f"with mcpconf {version}"
        )
    selection = whole(selections[0])
    rows = _in_order(reports, selection, catalogue)
    closings = [report["closing"] for _, report in reports]
    return assemble(
        _head(reports, selection), rows, selection, catalogue, _closing(closings)
    )


def _selection(name: str, report: Value) -> Selection:
    reader = Reader(dict(report), name)
    return Selection.from_json(reader.key("selection"), reader.key("role").word(Role))


def _number(pair: tuple[Selection, object]) -> int:
    return pair[0].shard.index if pair[0].shard else 0


def _parts(
    reports: Sequence[tuple[str, Value]], selections: Sequence[Selection]
) -> Iterator[str]:
    """What is not there, or there twice."""
    shards = []
    for (name, _), selection in zip(reports, selections, strict=True):
        if selection.shard is None:
            yield f"{name}: is no shard; run it with --shard 1/{max(len(reports), 2)}"
        else:
            shards.append((selection.shard.index, selection.shard.of))
    if len(shards) < len(reports) or not shards:
        return
    sizes = {of for _, of in shards}
    if len(sizes) > 1:
        yield f"shards of different runs: of {' and of '.join(map(str, sorted(sizes)))}"
        return
    (of,) = sizes
    seen = Counter(index for index, _ in shards)
    yield from (f"shard {i}/{of} is given {n} times" for i, n in seen.items() if n > 1)
    missing = [i for i in range(1, of + 1) if i not in seen]
    yield from (f"shard {index}/{of} is missing" for index in missing)


def _identity(report: Value) -> dict[str, Any]:
    """What all parts of one run have in common."""
    suite = report["officialConformance"]["suite"]
    selection = report["selection"]
    client = report["client"]
    return {
        "role": report.get("role"),
        # The same program may stand elsewhere on another machine, under another Node.
        "client": {name: client[name] for name in client if name != "binary"},
        "suite": {name: suite[name] for name in suite if name != "node_version"},
        "catalogue": report["officialConformance"]["catalogue"],
        "auth mode": report["automaticAuthRequired"],
        "feature setting": report["modernFeatureEnablement"],
        "version check": report["versionCheck"],
        "policy": report["policy"],
        "selection": {name: selection[name] for name in selection if name != "shard"},
        "mcpconf": report["run"]["mcpconf"],
    }


def _differences(reports: Sequence[tuple[str, Value]]) -> Iterator[str]:
    first_name, first = reports[0][0], _identity(reports[0][1])
    for name, report in reports[1:]:
        other = _identity(report)
        for what, value in first.items():
            if other[what] != value:
                yield f"{name}: another {what} than {first_name}"


def _in_order(
    reports: Sequence[tuple[str, Value]], selection: Selection, catalogue: Catalogue
) -> list[Row]:
    """Every row of every shard, in the order of the plan."""
    rows: dict[Place, Row] = {}
    for name, report in reports:
        mine = _rows(name, report)
        for place in mine:
            if place in rows:
                leg, revision, scenario, _ = place
                raise UsageError(
                    f"{name}: {leg} {revision} / {scenario} is in another shard, too"
                )
        rows |= mine
    name = reports[0][1]["client"]["name"]
    manifest = manifest_of(selection.role, name)
    ordered = []
    for case in select(selection, catalogue, manifest.variants):
        key = case.key
        label = LABELS[key.source, key.transport]
        row = rows.pop((label, key.revision.value, key.scenario, key.variant), None)
        if row is None:
            raise UsageError(f"{key}: is in no shard, and should be in one")
        ordered.append(row)
    for label, revision, scenario, _ in rows:
        raise UsageError(f"{label} {revision} / {scenario}: belongs to no shard")
    return ordered


def _rows(name: str, report: Value) -> dict[Place, Row]:
    """The rows of one shard; what a gate would refuse in it, no merge mends."""
    folder = report["artifacts"]
    rows: dict[Place, Row] = {}
    for case in report["cases"]:
        checks: dict[tuple[str, str | None], list[Value]] = {}
        for check in (*case["checks"], *case["notScored"]):
            variant = variant_of(case["transport"], check["source"], check["check_id"])
            checks.setdefault((check["scenario"], variant), []).append(check)
        for entry in case["scenarios"]:
            scenario, variant = entry["scenario"], entry["variant"]
            place = (case["transport"], case["mode"], scenario, variant)
            if place in rows:
                raise DecodeError(name, f"{place[0]} {place[1]}", f"{scenario}: twice")
            again = [_placed(each, folder) for each in entry["reruns"]]
            rows[place] = Row(
                transport=case["transport"],
                revision=case["mode"],
                scenario=_placed(entry, folder) | {"reruns": again},
                checks=tuple(
                    _placed(each, folder)
                    for each in checks.pop((scenario, variant), ())
                ),
            )
        for scenario, _ in checks:
            where = f"{case['transport']} {case['mode']}"
            raise DecodeError(name, where, f"{scenario}: has checks, and is not listed")
    return rows


def _placed(entry: Value, folder: str) -> dict[str, Any]:
    """An entry whose evidence says in which run's folder it is."""
    evidence = entry.get("evidence")
    return (
        dict(entry)
        if evidence is None
        else {
            **entry,
            "evidence": f"{folder}/{evidence}",
        }
    )


def _head(reports: Sequence[tuple[str, Value]], selection: Selection) -> dict[str, Any]:
    values = [report for _, report in reports]
    ids = sorted(report["run"]["id"] for report in values)
    finished = [report["finishedAt"] for report in values]
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return {
        **values[0],
        "startedAt": min(report["startedAt"] for report in values),
        "finishedAt": None if None in finished else max(finished),
        "selection": selection.to_json(),
        "run": {
            "id": f"merged-{digest[:12]}",
            "mcpconf": values[0]["run"]["mcpconf"],
            "shards": ids,
        },
        "artifacts": None,
    }


def _closing(closings: Sequence[Value | None]) -> dict[str, Any] | None:
    """All closed: what any complains of; else there is no closing record."""
    closed = [each for each in closings if each is not None]
    if len(closed) < len(closings):
        return None
    return {
        "complete": all(each["complete"] for each in closed),
        **{
            name: [problem for each in closed for problem in each[name]]
            for name in ("faults", "openPorts", "temporary")
        },
    }
