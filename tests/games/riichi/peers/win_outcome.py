"""What a generated win is worth by this engine, in the form in which the tests compare it with other engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from suphx.games.riichi.ending import end_by_wins
from suphx.games.riichi.legal import score_win
from suphx.games.riichi.rules import Rules, apply_rules
from suphx.games.riichi.table import CLAIM, DORA_POSITIONS, LAST_DRAW, OWN_TURN, ROB_KAN, TABLE, URA_POSITIONS
from suphx.games.riichi.tile import ALL_RED_FIVES, face_of_id
from tests.games.riichi.peers.generated_win import Win

Outcome = tuple[frozenset[int], int, int, list[int]]
"""Yaku by Tenhou's numbers, han (0 for yakuman), fu (the same), score changes of the four seats."""


def outcome_of(win: Win, rules: Rules) -> Outcome | None:
    """Return what a win is worth by our engine, None without a yaku."""
    tables = np.zeros(1, TABLE)
    apply_rules(tables, rules)
    t: Any = tables[0]
    loser = (win.seat + 1) % 4
    t["phase"] = OWN_TURN if win.is_tsumo else ROB_KAN if win.is_chankan else CLAIM
    t["kyoku"], t["turn"], t["actor"] = win.kyoku, win.seat if win.is_tsumo else loser, win.seat
    faces = [face_of_id(tile, ALL_RED_FIVES) for tile in win.concealed]
    win_face = face_of_id(win.win_tile, ALL_RED_FIVES)
    t["drawn" if win.is_tsumo else "claimed_face"] = win_face
    held = list(faces)
    if not win.is_tsumo:
        held.remove(win_face)
    for face in held:
        t["hand"][win.seat, face if face < 34 else 4 + 9 * (face - 34)] += 1
        t["red"][win.seat] |= 1 << (face - 34) if face >= 34 else 0
    t["num_melds"][win.seat] = len(win.melds)
    for i, (meld, ids) in enumerate(win.melds):
        t["meld_type"][win.seat, i], t["meld_kind"][win.seat, i] = meld, min(ids) // 4
        t["meld_red"][win.seat, i] = sum(face_of_id(tile, ALL_RED_FIVES) >= 34 for tile in ids)
    t["num_dora"] = len(win.dora)
    for i, (indicator, ura) in enumerate(zip(win.dora, win.ura, strict=True)):
        t["wall"][DORA_POSITIONS[i]], t["wall"][URA_POSITIONS[i]] = indicator, ura
    t["riichi"][win.seat], t["ippatsu"][win.seat] = win.riichi, win.has_ippatsu
    t["is_rinshan"], t["is_first_turn"][win.seat] = win.is_rinshan, win.is_first_turn
    t["next_draw"] = LAST_DRAW if win.is_last_tile else 60
    t["pao_dragons"] = t["pao_winds"] = -1
    if score_win(tables[0], win.seat, win.win_tile >> 2, 0)[0] == 0:
        return None
    end_by_wins(tables[0], 1 << win.seat)
    yaku = frozenset(number for number in range(52) if int(t["win_yaku"][0]) >> number & 1)
    return yaku, int(t["win_han"][0]), int(t["win_fu"][0]), t["deltas"].tolist()


def payments(win: Win, main: int, additional: int) -> list[int]:
    """Return the payments: ``main`` from the loser or the dealer, ``additional`` from the others."""
    deltas = [0, 0, 0, 0]
    dealer = win.kyoku % 4
    for seat in range(4):
        if seat == win.seat or (not win.is_tsumo and seat != (win.seat + 1) % 4):
            continue
        share = main if not win.is_tsumo or seat == dealer or win.seat == dealer else additional
        deltas[seat] -= share
        deltas[win.seat] += share
    return deltas
