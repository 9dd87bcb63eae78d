"""Names for what happens in a game, to count that a comparison of two engines has met everything that matters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from suphx.games.riichi.hand.yaku_number import YAKU_NAMES
from suphx.games.riichi.table.action import ANKAN, KAKAN, RIICHI
from suphx.games.riichi.table.table import (
    CALL_DISCARD,
    CLAIM,
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    KAKAN_MELD,
    MINKAN_MELD,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    OWN_TURN,
    ROB_KAN,
    TRIPLE_RON_DRAW,
    WIN_RESULT,
)
from suphx.games.riichi.table.tile import kind_of_face

DRAWS = {
    EXHAUSTIVE_DRAW: "exhaustive draw",
    NAGASHI_MANGAN: "nagashi mangan",
    NINE_TERMINALS_DRAW: "nine terminals",
    FOUR_WINDS_DRAW: "four winds",
    FOUR_RIICHI_DRAW: "four riichi",
    FOUR_KANS_DRAW: "four kans",
    TRIPLE_RON_DRAW: "triple ron",
}


def list_turn_situations(t: np.void) -> Iterator[str]:
    """Name what is special about the decision that a table waits for."""
    phase, seat, legal = t["phase"], t["actor"], t["legal"]
    yield "decision"
    if phase == ROB_KAN:
        yield "kan that can be robbed"
    if phase == CLAIM:
        if t["is_stick_due"]:
            yield "claim of a riichi discard"
        kind = kind_of_face(int(t["claimed_face"]))
        if int(t["waits"][seat]) >> kind & 1 and t["missed_win"][seat]:
            yield f"furiten by a missed win, {'riichi' if t['riichi'][seat] else 'this turn'}"
    if phase == CALL_DISCARD and t["forbidden"] & _held(t, seat):
        yield "kuikae forbids a tile of the hand"
    if phase == OWN_TURN and legal[RIICHI]:
        yield "riichi allowed"
    if phase == OWN_TURN and t["riichi"][seat] and legal[ANKAN:KAKAN].any():
        yield "closed kan after riichi"


def _held(t: np.void, seat: int) -> int:
    return sum(1 << kind for kind in np.flatnonzero(t["hand"][seat]).tolist())


def list_end_situations(t: np.void) -> Iterator[str]:
    """Name how a deal ended, at KYOKU_END."""
    yield "deal"
    if t["kyoku"] >= 4 * t["num_winds"]:
        yield "deal of the extra wind"
    if t["result"] != WIN_RESULT:
        yield DRAWS[int(t["result"])]
        if t["result"] == EXHAUSTIVE_DRAW:
            yield f"draw with {int(t['tenpai'].sum())} tenpai"
        return
    yield from _list_win_situations(t)


def _list_win_situations(t: np.void) -> Iterator[str]:
    is_tsumo = t["win_loser"][0] == t["win_seat"][0]
    yield "tsumo" if is_tsumo else "double ron" if t["num_wins"] == 2 else "ron"
    if t["is_stick_due"]:
        yield "ron of a riichi discard"
    if t["kyotaku"] == 0 and t["honba"] > 0:
        yield "win with honba"
    for w in range(t["num_wins"]):
        seat = t["win_seat"][w]
        yield from (YAKU_NAMES[number] for number in range(52) if int(t["win_yaku"][w]) >> number & 1)
        for name in ("dora", "red", "ura"):
            if t[f"win_{name}"][w]:
                yield f"{name} dora"
        if t["win_yakuman"][w] > 1:
            yield "several yakuman"
        if t["win_liable"][w] >= 0:
            yield f"pao by {'tsumo' if is_tsumo else 'ron'}"
        types = t["meld_type"][seat, : t["num_melds"][seat]]
        if t["is_rinshan"] and (types == MINKAN_MELD).any():
            yield "rinshan with an open kan"
        if (types == KAKAN_MELD).any():
            yield "win with an added kan"


def list_game_situations(t: np.void) -> Iterator[str]:
    """Name how a game ended, at GAME_END (the table still shows its last deal)."""
    yield "game"
    if (t["scores"] < 0).any():
        yield "game ended below zero"
    elif t["kyoku"] < 4 * t["num_winds"] - 1:
        yield "game ended early"
    elif t["kyoku"] >= 4 * t["num_winds"]:
        yield "game ended in the extra wind"
    if len(set(t["scores"].tolist())) < 4:
        yield "places of equal scores"
