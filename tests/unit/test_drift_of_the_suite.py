"""The step from one suite version to the next, as its catalogues tell it."""

from __future__ import annotations

from pathlib import Path

from mcpconf.decode import load_json
from mcpconf.suite.catalogue import from_json, load_catalogue
from mcpconf.suite.drift import compare

OLD = Path(__file__).parents[2] / "fixtures/catalogues/catalogue-0.2.0-alpha.11.json"
RESOURCE = {
    f"check resource-parameter-{name}"
    for name in (
        "consistency",
        "in-authorization",
        "in-token",
        "matches-prm",
        "valid-uri",
    )
}


def test_alpha_12_adds_four_scenarios_and_the_resource_checks() -> None:
    found = compare(from_json(load_json(OLD), OLD), load_catalogue())

    assert len(found) == 54
    scenarios = [each for each in found if each.revision == "any revision"]
    assert [(each.kind, each.scenario) for each in scenarios] == [
        ("added", f"sep-2640-client-{name}")
        for name in (
            "no-prefetch",
            "verify-digest",
            "verify-frontmatter",
            "verify-size",
        )
    ]
    (changed,) = [each for each in found if each.kind == "changed"]
    # Until then a client that sent nothing had rejected the foreign resource.
    assert changed.detail == "silence no longer earns resource-mismatch-rejected"
    rest = set(found) - {changed, *scenarios}
    assert {each.kind for each in rest} == {"added"}
    assert {each.detail for each in rest} == RESOURCE
