"""Where PyPI ``riichienv`` 0.4.11 differs from us and we have looked why: each has its row in docs/rules.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD
from suphx.games.riichi.table import DORA_POSITIONS, ROB_KAN, WIN_RESULT
from suphx.games.riichi.tile import ALL_RED_FIVES, face_of_id

FACES = [face_of_id(tile, ALL_RED_FIVES) for tile in range(136)]

TENHOU, KOKUSHI, KOKUSHI_13_WAITS, SUUANKOU, CHANKAN, DORA_YAKU = 37, 47, 48, 40, 3, 52

Explains = Callable[[str, Any, Any, np.void], bool]
"""Tells whether a difference (what, ours, theirs, the table) is this divergence and nothing else."""


def is_tenhou_with_thirteen_waits(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The peer takes thirteen orphans dealt complete for 13 waits, whatever tile the dealer drew; worth the same."""
    return _is_tenhou_renamed(what, ours, theirs, 0)


def is_tenhou_counted_twice(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The same where 13 waits are two yakuman."""
    return _is_tenhou_renamed(what, ours, theirs, 13)


def _is_tenhou_renamed(what: str, ours: Any, theirs: Any, more_han: int) -> bool:
    if what != "wins" or len(ours) > 1 or ours.keys() != theirs.keys():
        return False
    (seat,) = ours
    named = ours[seat] | {"yaku": [TENHOU, KOKUSHI_13_WAITS], "han": ours[seat]["han"] + more_han}
    return bool(ours[seat]["yaku"] == [TENHOU, KOKUSHI] and theirs[seat] == named)


def is_counted_before_yakuman(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The peer prefers 13 or more counted han to four concealed triplets, which are worth the same."""
    if what != "wins" or ours.keys() != theirs.keys():
        return False
    others = [seat for seat in ours if ours[seat] != theirs[seat]]
    return all(
        ours[seat]["yaku"] == [SUUANKOU] and theirs[seat]["han"] >= 13 and max(_without_dora(theirs[seat]["yaku"])) < 37
        for seat in others
    )


def is_closed_kan_not_laid_down(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """While thirteen orphans may rob a closed kan, the peer still has it in the hand, we have it on the table."""
    if what != "table" or t["phase"] != ROB_KAN:
        return False
    caller = int(t["turn"])
    meld_type, kind, reds, *_ = ours["melds"][caller][-1]
    tiles = [kind] * (4 - reds) + [34 + kind // 9] * reds
    shown = {name: list(ours[name]) for name in ("hands", "melds")}
    shown["hands"][caller] = sorted([*shown["hands"][caller], *tiles])
    shown["melds"][caller] = shown["melds"][caller][:-1]
    return bool(meld_type == ANKAN_MELD and theirs == ours | shown)


def is_robbed_closed_kan_not_written(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """And when it is robbed, the peer's events do not say that there was a kan."""
    if what != "events":
        return False
    kan = next((i for i, event in enumerate(ours) if event["type"] == "hora"), 0) - 1
    return kan >= 0 and bool(ours[kan]["type"] == "ankan" and ours[:kan] + ours[kan + 1 :] == theirs)


def is_dora_due_while_robbing(what: str, ours: Any, theirs: Any, t: np.void) -> bool:
    """The peer turns over the dora of an earlier open kan before the next, added kan can be robbed; Tenhou after it."""
    if what != "table" or t["phase"] != ROB_KAN or not t["pending_dora"]:
        return False
    due = FACES[t["wall"][DORA_POSITIONS[int(t["num_dora"])]]]
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
    "thirteen orphans dealt complete count twice": is_tenhou_counted_twice,
    "counted han go before four concealed triplets": is_counted_before_yakuman,
    "a closed kan that can be robbed is still in the hand": is_closed_kan_not_laid_down,
    "a closed kan that is robbed is not written": is_robbed_closed_kan_not_written,
    "a due dora is shown before an added kan is robbed": is_dora_due_while_robbing,
    "a due dora is written before a kan is robbed": is_dora_due_before_robbing,
    "a due dora counts for a robbed kan": is_robbed_with_dora_due,
}
CHANGES_POINTS = {"a due dora counts for a robbed kan", "thirteen orphans dealt complete count twice"}


def accepted_name(what: str, ours: Any, theirs: Any, t: np.void) -> str | None:
    """Return the name of the accepted divergence that explains a difference, or None."""
    return next((name for name, explains in ACCEPTED.items() if explains(what, ours, theirs, t)), None)
