"""
One YAML document, without what makes it more than data.

Anchors and aliases (which let a small file mean a huge one), tags and further
documents are refused, all at once and by their lines. Keys are the caller's to compare:
nodes keep what a decoded mapping would lose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from mcpconf.errors import DecodeError

if TYPE_CHECKING:
    from pathlib import Path

#: Of lists and mappings in each other; ours have three.
MAX_DEPTH = 20


def compose(text: str, source: Path | str) -> yaml.Node | None:
    """
    The root node of the one document in `text`; None where there is none.

    :raises DecodeError: not YAML, nested too deeply, or with one of the above.
    """
    problems = []
    documents = depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            documents += isinstance(event, yaml.DocumentStartEvent)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:  # before the parser, which is slow in the deep
                raise DecodeError(source, "", "is nested too deeply")
            unwanted = _unwanted(event)
            if unwanted is not None and event.start_mark is not None:
                problems.append(f"line {event.start_mark.line + 1}: {unwanted}")
        if documents > 1:
            problems.append("holds several documents; expected one")
        if problems:
            raise DecodeError(source, "", "; ".join(problems))
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark else ""
        raise DecodeError(source, where, f"is no YAML: {error.problem}") from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        what = str(error).splitlines()[0]
        raise DecodeError(source, "", f"is no YAML: {what}") from None
    return node


def line_of(node: yaml.Node) -> int:
    """Where a node begins, from 1."""
    return int(node.start_mark.line) + 1 if node.start_mark is not None else 1


def _unwanted(event: yaml.Event) -> str | None:
    if isinstance(event, yaml.AliasEvent):
        return f"an alias, *{event.anchor}; write its value"
    if not isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)):
        return None
    if event.anchor is not None:
        return f"an anchor, &{event.anchor}; take it out"
    if event.tag is not None:
        return f"a tag, {event.tag}; take it out"
    return None
