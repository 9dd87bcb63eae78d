"""``check_invariants``: what must hold between any two decisions, recomputed slowly and independently."""

from __future__ import annotations

import numpy as np

from suphx.riichi.shanten import waiting_kinds
from suphx.riichi.suit_table import Suits
from suphx.riichi.table import (
    ANKAN_MELD,
    CALLED_FLAG,
    CHI_MELD,
    CLAIM,
    KYOKU_END,
    OWN_TURN,
    PON_MELD,
    RIICHI_FLAG,
    ROB_KAN,
)
from suphx.riichi.tile import kind_of_face


def check_invariants(table: np.void, suits: Suits, start_points: int = 25_000) -> None:
    """Raise AssertionError when ``table`` (a TABLE record) contradicts the rules; for tests, not for speed."""
    _check_tiles(table)
    _check_points(table, start_points)
    _check_hands(table)
    if table["phase"] != KYOKU_END:
        _check_waits(table, suits)
        _check_furiten(table)
        assert table["num_legal"] > 0, "the legal mask is empty"
        assert table["num_legal"] == table["legal"].sum(), "num_legal is not the number of legal actions"


def _check_tiles(table: np.void) -> None:
    """All 136 tiles: hands, melds, uncalled river tiles and the rest of the wall."""
    counts = table["hand"].sum(axis=0).astype(int)
    for seat in range(4):
        for i in range(table["num_melds"][seat]):
            kind = int(table["meld_kind"][seat, i])
            if table["meld_type"][seat, i] == CHI_MELD:
                counts[kind : kind + 3] += 1
            else:
                counts[kind] += 3 if table["meld_type"][seat, i] == PON_MELD else 4
        for i in range(table["river_length"][seat]):
            if not table["river_flags"][seat, i] & CALLED_FLAG:
                counts[kind_of_face(int(table["river"][seat, i]))] += 1
    if table["phase"] == ROB_KAN or (table["phase"] == KYOKU_END and _ended_by_robbing(table)):
        pass  # the robbed tile is already counted in the added kan
    undrawn = [int(table["wall"][i]) >> 2 for i in _undrawn_places(table)]
    counts += np.bincount(undrawn, minlength=34)
    assert (counts == 4).all(), f"tiles are not conserved: {np.flatnonzero(counts != 4)} have {counts[counts != 4]}"


def _ended_by_robbing(table: np.void) -> bool:
    return bool(table["win_yaku"][0] >> 3 & 1)


def _undrawn_places(table: np.void) -> list[int]:
    kans = int(table["num_kans"])
    rinshan = [134, 135, 132, 133][kans:]
    return [*range(int(table["next_draw"]), 122), *range(122, 132), *rinshan]


def _check_points(table: np.void, start_points: int) -> None:
    total = int(table["scores"].sum()) + 1000 * int(table["kyotaku"])
    assert total == 4 * start_points, f"points and sticks add up to {total}"


def _check_hands(table: np.void) -> None:
    for seat in range(4):
        size = int(table["hand"][seat].sum()) + 3 * int(table["num_melds"][seat])
        has_turn = seat == table["turn"] and table["phase"] not in (CLAIM, ROB_KAN, KYOKU_END)
        if table["phase"] != KYOKU_END:
            assert size == 13 + has_turn, f"seat {seat} holds {size} tiles in phase {table['phase']}"
        for suit in range(3):
            if table["red"][seat] >> suit & 1:
                assert table["hand"][seat, 9 * suit + 4] > 0, f"seat {seat} has a red five without a five"
        if table["riichi"][seat]:
            types = set(table["meld_type"][seat, : table["num_melds"][seat]].tolist())
            assert types <= {ANKAN_MELD}, f"seat {seat} declared riichi with an open hand"
            flags = table["river_flags"][seat, : table["river_length"][seat]]
            declared = int((flags & RIICHI_FLAG != 0).sum()) + (table["is_stick_due"] and table["turn"] == seat)
            assert declared >= 1, f"seat {seat} has no riichi tile"


def _check_waits(table: np.void, suits: Suits) -> None:
    for seat in range(4):
        hand = table["hand"][seat].copy()
        num_melds = int(table["num_melds"][seat])
        if hand.sum() % 3 == 1:
            assert table["waits"][seat] == waiting_kinds(suits, hand, num_melds), f"waits of seat {seat} are stale"
        elif table["phase"] == OWN_TURN:
            hand[kind_of_face(int(table["drawn"]))] -= 1
            assert table["waits"][seat] == waiting_kinds(suits, hand, num_melds), f"waits of seat {seat} are stale"


def _check_furiten(table: np.void) -> None:
    for seat in range(4):
        river = 0
        for i in range(table["river_length"][seat]):
            river |= 1 << kind_of_face(int(table["river"][seat, i]))
        assert table["river_kinds"][seat] == river, f"river kinds of seat {seat} are stale"
        if table["missed_win"][seat] == 2:
            assert table["riichi"][seat], f"seat {seat} is furiten for good without riichi"
        kans = sum(t >= ANKAN_MELD for t in table["meld_type"][seat, : table["num_melds"][seat]])
        assert kans <= 4, f"seat {seat} has {kans} kans"
