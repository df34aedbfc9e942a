"""
Write a baseline: sorted, so that equal baselines are equal bytes.

Version 1 has exactly the original harness's members, in its order of entries; version 2
groups what passes by leg and scenario, so that a change of one check is a diff of one
line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.baseline.decode_v1 import SCHEMA_VERSION, SCOPE
from mcpconf.baseline.entry import KIND_V1, KIND_V2
from mcpconf.baseline.field import REVISIONS

if TYPE_CHECKING:
    from mcpconf.baseline.entry import (
        Baseline,
        ExpectedFailure,
        ExpectedUnsupported,
        Explanation,
    )
    from mcpconf.decode import Json


def to_json(baseline: Baseline) -> Json:
    """The stored form of a baseline, of its own version."""
    return _version_1(baseline) if baseline.version == 1 else _version_2(baseline)


def _version_1(baseline: Baseline) -> Json:
    return {
        "baselineKind": KIND_V1,
        "schemaVersion": SCHEMA_VERSION,
        "requiredModes": list(REVISIONS),
        "transports": list(SCOPE.transports),
        "versionCheck": {"success": True},
        "modernFeatureEnablement": True,
        "automaticAuthRequired": baseline.strict_auth,
        "officialConformance": {
            "repository": baseline.suite.repository,
            "gitRef": baseline.suite.git_ref,
            "authenticationIncluded": True,
            "scenarios": {
                revision: list(names) for revision, names in baseline.scenarios.items()
            },
        },
        "checks": {
            "passing": [each.to_json() for each in sorted(baseline.passing)],
            "failing": [each.to_json() for each in sorted(baseline.failing)],
        },
    }


def _version_2(baseline: Baseline) -> Json:
    suite, scope, warnings = baseline.suite, baseline.scope, baseline.warnings
    failing = [baseline.failing[each] for each in sorted(baseline.failing)]
    unsupported = sorted(
        baseline.unsupported, key=lambda each: (each.leg.revision, each.scenario)
    )
    return {
        "baselineKind": KIND_V2,
        "role": scope.role.value,
        "client": {"name": baseline.client, "version": baseline.client_version},
        "suite": {
            "repository": suite.repository,
            "gitRef": suite.git_ref,
            "integrity": suite.integrity,
            "catalogue": suite.catalogue,
        },
        "automaticAuthRequired": baseline.strict_auth,
        "modernFeatureEnablement": True,
        "revisionPolicy": baseline.revision_policy,
        "warnings": {
            "default": warnings.default.value,
            "checks": {ref: each.value for ref, each in warnings.checks.items()},
        },
        "shipping": list(baseline.shipping),
        "scope": {
            "revisions": list(scope.revisions),
            "transports": list(scope.transports),
            "sources": list(scope.sources),
            "authentication": scope.authentication,
        },
        "checks": {
            "passing": _passing(baseline),
            "failing": [_failure(each) for each in failing],
            "unsupported": [_unsupported(each) for each in unsupported],
        },
    }


def _passing(baseline: Baseline) -> dict[str, Json]:
    legs: dict[str, dict[str, list[Json]]] = {}
    for each in sorted(baseline.passing):
        scenarios = legs.setdefault(str(each.leg), {})
        ids = scenarios.setdefault(each.scenario, [])
        ids.append(f"{each.source}:{each.check_id}")
    return {leg: {**scenarios} for leg, scenarios in legs.items()}


def _explanation(explanation: Explanation | None) -> dict[str, Json]:
    if explanation is None:
        raise ValueError("an entry of version 2 has an explanation")
    return {
        "reason": explanation.reason,
        "class": explanation.failure_class.value,
        "link": explanation.link,
        "since": explanation.since,
        "expires": explanation.expires,
    }


def _failure(entry: ExpectedFailure) -> Json:
    return {
        **entry.identity.to_json(),
        "status": entry.state.value,
        "outcome": entry.outcome,
        **_explanation(entry.explanation),
    }


def _unsupported(entry: ExpectedUnsupported) -> Json:
    return {
        "mode": entry.leg.revision,
        "transport": entry.leg.transport,
        "scenario": entry.scenario,
        **_explanation(entry.explanation),
    }
