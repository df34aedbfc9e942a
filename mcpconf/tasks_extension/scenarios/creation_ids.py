"""What the ids of new tasks are like: whether one tells another."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from mcpconf.redaction import PLACEHOLDER
from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.tasks_extension.looks import shown
from mcpconf.tasks_extension.session import task_id_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.tasks_extension.observation import Observation

#: So many ids are compared; so long they are to be, and so many characters to differ.
IDS, LEAST, DIFFERING = 5, 16, 12
#: Who has an id and tries so many up and down has found its neighbours.
STEP = 1000
_BASES = ("0123456789", "0123456789abcdef", "0123456789abcdefghijklmnopqrstuvwxyz")


def _compared(seen: Observation) -> list[str] | Finding:
    """The ids in the order in which the tasks were made."""
    ids = [
        task_id
        for each in seen.labelled("create")
        if (task_id := task_id_of(each)) is not None
    ]
    if len(ids) < IDS:
        return unobserved(f"only {len(ids)} tasks were created; {IDS} are compared")
    if any(PLACEHOLDER in each for each in ids):
        return not_applicable("the ids are written like secrets, and were not kept")
    return ids


def ids_do_not_count(seen: Observation) -> Finding:
    """No id is there twice, and they are no sequence of numbers."""
    ids = _compared(seen)
    if isinstance(ids, Finding):
        return ids
    if len(set(ids)) < len(ids):
        return broken(f"two tasks have the same id: {shown(ids)}")
    if _counts(ids):
        return broken(f"the ids go on by {STEP} or less at a time: {shown(ids)}")
    return holds(f"{len(ids)} ids, and none is the next to another: {shown(ids[0])}, …")


def _counts(ids: Sequence[str]) -> bool:
    """Whether what differs in them is a number in small steps, all up or all down."""
    start = _shared(ids)
    end = _shared([each[start:][::-1] for each in ids])
    # A common beginning or end may be digits of the number too; its steps are the same.
    parts = [each[start : len(each) - end] or "0" for each in ids]
    digits = ["".join(filter(str.isalnum, each)).lower() for each in parts]
    known = next(
        (base for base in _BASES if all(set(each) <= set(base) for each in digits)),
        None,
    )
    if known is None:
        return False
    numbers = [int(each or "0", len(known)) for each in digits]
    steps = [later - earlier for earlier, later in pairwise(numbers)]
    is_one_way = all(each > 0 for each in steps) or all(each < 0 for each in steps)
    return is_one_way and all(abs(each) <= STEP for each in steps)


def ids_have_room(seen: Observation) -> Finding:
    """Each is long, and much of it is its own."""
    ids = _compared(seen)
    if isinstance(ids, Finding):
        return ids
    short = min(ids, key=len)
    if len(short) < LEAST:
        return broken(f"{shown(short)} has {len(short)} characters; {LEAST} are asked")
    differing = min(len(short) - _common(ids), len(short))
    if differing < DIFFERING:
        return broken(
            f"{len(ids)} ids differ in {differing} characters or less: {shown(ids)}"
        )
    return holds(
        f"{len(ids)} ids of at least {len(short)} characters differ in {differing}"
    )


def _common(ids: Sequence[str]) -> int:
    """How many characters all ids share at their beginnings and their ends."""
    start = _shared(ids)
    return start + _shared([each[start:][::-1] for each in ids])


def _shared(texts: Sequence[str]) -> int:
    """How many characters all of them begin with."""
    columns = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda each: len(set(each)) == 1, columns))
