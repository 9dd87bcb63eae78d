"""Where PyPI ``riichienv`` 0.4.11 differs from us and we have looked why: each has its row in docs/rules.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suphx.riichi.table import ROB_KAN, WIN_RESULT
from suphx.riichi.wall import DORA
from tests.riichi.peer_action import FACES

TENHOU, KOKUSHI, KOKUSHI_13_WAITS, CHANKAN, DORA_YAKU = 37, 47, 48, 3, 52

Explains = Callable[[str, Any, Any, np.void], bool]
"""Tells whether a difference (what, ours, theirs, the table) is this divergence and nothing else."""


def is_tenhou_with_thirteen_waits(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The peer takes thirteen orphans dealt complete for 13 waits, whatever tile the dealer drew; worth the same."""
    if what != "wins" or len(ours) > 1 or ours.keys() != theirs.keys():
        return False
    (seat,) = ours
    named = ours[seat] | {"yaku": [TENHOU, KOKUSHI_13_WAITS]}
    return bool(ours[seat]["yaku"] == [TENHOU, KOKUSHI] and theirs[seat] == named)


def is_dora_due_while_robbing(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The peer turns over the dora of an earlier open kan before the next, added kan can be robbed; Tenhou after it."""
    if what != "table" or t["phase"] != ROB_KAN or not t["pending_dora"]:
        return False
    due = FACES[t["wall"][DORA - 2 * int(t["num_dora"])]]
    return bool(theirs == ours | {"dora": [*ours["dora"], due]})


def is_dora_due_before_robbing(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The same in the events: dora stands between the added kan and the win."""
    if what != "events":
        return False
    kakan = next((i for i, event in enumerate(theirs) if event["type"] == "hora"), 0) - 2
    types = [event["type"] for event in theirs[kakan : kakan + 3]]
    return types == ["kakan", "dora", "hora"] and theirs[: kakan + 1] + theirs[kakan + 2 :] == ours


def is_robbed_with_dora_due(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The same dora counts for whoever robs the kan, by the peer; everything but its han is equal."""
    if what != "wins" or t["result"] != WIN_RESULT or not t["pending_dora"] or ours.keys() != theirs.keys():
        return False
    return all(
        CHANKAN in ours[seat]["yaku"]
        and _without_dora(ours[seat]["yaku"]) == _without_dora(theirs[seat]["yaku"])
        and ours[seat]["fu"] == theirs[seat]["fu"]
        and ours[seat]["han"] <= theirs[seat]["han"]
        for seat in ours
    )


def _without_dora(yaku: list[int]) -> list[int]:
    return [number for number in yaku if number < DORA_YAKU]


ACCEPTED: dict[str, Explains] = {
    "thirteen orphans dealt complete have 13 waits": is_tenhou_with_thirteen_waits,
    "a due dora is shown before an added kan is robbed": is_dora_due_while_robbing,
    "a due dora is written before a kan is robbed": is_dora_due_before_robbing,
    "a due dora counts for a robbed kan": is_robbed_with_dora_due,
}
CHANGES_POINTS = {"a due dora counts for a robbed kan"}


def accepted_name(what: str, ours: Any, theirs: Any, t: np.void) -> str | None:
    """Return the name of the accepted divergence that explains a difference, or None."""
    return next((name for name, explains in ACCEPTED.items() if explains(what, ours, theirs, t)), None)
