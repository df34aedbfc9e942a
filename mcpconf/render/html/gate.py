"""The gate's answer, where there is one, as what a page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcpconf.render.html.model import key_of
from mcpconf.render.html.text import clipped, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_MEANING = {
    "GREEN": "Nothing got worse.",
    "REGRESSED": "Something got worse.",
    "REFUSED": "Baseline and report cannot be compared.",
    "INCOMPLETE": "The run has a hole.",
}
#: Member → title; the first that are not empty are open on the page.
_FINDINGS = {
    "newFailures": "New failures",
    "missingChecks": "Missing checks",
    "changedFailures": "Changed for the worse",
    "flaky": "Flaky",
    "fixedChecks": "Fixed: take out of the baseline",
    "warnings": "Warnings",
    "knownFailures": "Known failures",
    "newChecks": "New passing checks",
}
_SAID = {
    "configurationErrors": "Cannot be compared",
    "holes": "Holes",
    "demands": "Demands",
}
#: Sentences that make nothing red.
_ASIDE = {
    "notCompared": "Not compared",
    "unreasoned": "Entries without a reason",
}
_OPEN = {"newFailures", "missingChecks", "changedFailures"}
_DETAIL = 600
#: Findings of one list that a page shows.
_LISTED = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFindingView:
    """One finding, and the cell it is about."""

    #: Empty where the report has no such cell.
    href: str
    title: str
    detail: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateList:
    """One list of the gate's answer."""

    title: str
    is_open: bool
    count: int
    findings: tuple[GateFindingView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateView:
    """The whole answer."""

    verdict: str
    meaning: str
    scope: str
    lists: tuple[GateList, ...]


def view_gate(gate: Mapping[str, Any], keys: Collection[str]) -> GateView:
    """A stored gate (``gate.json``) as a page shows it; `keys` are the page's cells."""
    found = [
        GateList(
            title=title,
            is_open=name in _OPEN,
            count=len(gate[name]),
            findings=tuple(_finding(each, keys) for each in gate[name][:_LISTED]),
        )
        for name, title in _FINDINGS.items()
        if gate.get(name)
    ]
    verdict = str(gate["verdict"])
    return GateView(
        verdict=verdict,
        meaning=_MEANING.get(verdict, ""),
        scope=str(gate["scope"]),
        lists=(
            *_sentences(gate, _SAID, is_open=True),
            *found,
            *_sentences(gate, _ASIDE, is_open=False),
        ),
    )


def _sentences(
    gate: Mapping[str, Any], titles: Mapping[str, str], *, is_open: bool
) -> Iterator[GateList]:
    for name, title in titles.items():
        texts = gate.get(name)
        if texts:
            findings = tuple(
                GateFindingView(
                    href="", title=clipped(shown(text), _DETAIL), detail="", reason=""
                )
                for text in texts[:_LISTED]
            )
            yield GateList(
                title=title, is_open=is_open, count=len(texts), findings=findings
            )


def _finding(finding: Mapping[str, Any], keys: Collection[str]) -> GateFindingView:
    leg = (finding["transport"], finding["mode"], finding["scenario"])
    # A variant is one check whose id is the variant.
    variant_key = key_of(*leg, finding["check_id"])
    key = variant_key if variant_key in keys else key_of(*leg, None)
    check = quote(shown(finding["check_id"]), safe="")
    place = f"#/{quote(key, safe='/@:')}?check={check}"
    title = f"{finding['transport']} {finding['mode']} / {finding['scenario']}"
    return GateFindingView(
        href=place if key in keys else "",
        title=shown(f"{title}:{finding['check_id']}"),
        detail=clipped(shown(finding["detail"] or ""), _DETAIL),
        reason=clipped(shown(finding.get("reason") or ""), _DETAIL),
    )
