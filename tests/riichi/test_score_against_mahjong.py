"""Generated wins are worth the same by this engine and by the PyPI library ``mahjong``: yaku, han, fu, payments.

Differences are rule options of the library: red fives and open tanyao on, double yakuman off, no limit of six yakuman,
one yakuman at most for counted han, no rounding up to mangan.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from mahjong.constants import EAST
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, HandConstants, OptionalRules
from mahjong.hand_calculating.yaku_config import YAKU_ID_TO_TENHOU_ID
from mahjong.meld import Meld

from suphx.riichi.kyoku_end import end_by_wins
from suphx.riichi.legal import score_win
from suphx.riichi.rules import tenhou
from suphx.riichi.simulator import apply_rules
from suphx.riichi.table import (
    ANKAN_MELD,
    CHI_MELD,
    CLAIM,
    KAKAN_MELD,
    MINKAN_MELD,
    OWN_TURN,
    PON_MELD,
    ROB_KAN,
    TABLE,
)
from suphx.riichi.tile import face_of_id
from suphx.riichi.wall import DORA, LAST_DRAW, URA
from suphx.riichi.yaku import YAKU_NAMES
from tests.riichi.generated_win import Win, generate_win

MELD_NAMES = {
    CHI_MELD: Meld.CHI,
    PON_MELD: Meld.PON,
    ANKAN_MELD: Meld.KAN,
    MINKAN_MELD: Meld.KAN,
    KAKAN_MELD: Meld.SHOUMINKAN,
}
DORA_YAKU = {52, 53, 54}  # dora, ura dora, red fives by Tenhou's numbers

Outcome = tuple[frozenset[int], int, int, list[int]]
"""Yaku by Tenhou's numbers, han (0 for yakuman), fu (the same), score changes of the four seats."""


def our_outcome(win: Win) -> Outcome | None:
    tables = np.zeros(1, TABLE)
    apply_rules(tables, tenhou())
    t: Any = tables[0]
    loser = (win.seat + 1) % 4
    t["phase"] = OWN_TURN if win.is_tsumo else ROB_KAN if win.is_chankan else CLAIM
    t["kyoku"], t["turn"], t["actor"] = win.kyoku, win.seat if win.is_tsumo else loser, win.seat
    faces = [face_of_id(tile, 1) for tile in win.concealed]
    win_face = face_of_id(win.win_tile, 1)
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
        t["meld_red"][win.seat, i] = sum(face_of_id(tile, 1) >= 34 for tile in ids)
    t["num_dora"] = len(win.dora)
    for i, (indicator, ura) in enumerate(zip(win.dora, win.ura, strict=True)):
        t["wall"][DORA - 2 * i], t["wall"][URA - 2 * i] = indicator, ura
    t["riichi"][win.seat], t["ippatsu"][win.seat] = win.riichi, win.has_ippatsu
    t["is_rinshan"], t["is_first_turn"][win.seat] = win.is_rinshan, win.is_first_turn
    t["next_draw"] = LAST_DRAW if win.is_last_tile else 60
    t["pao_dragons"] = t["pao_winds"] = -1
    if score_win(tables[0], win.seat, win.win_tile >> 2, 0)[0] == 0:
        return None
    end_by_wins(tables[0], 1 << win.seat)
    yaku = frozenset(number for number in range(52) if int(t["win_yaku"][0]) >> number & 1)
    return yaku, int(t["win_han"][0]), int(t["win_fu"][0]), t["deltas"].tolist()


def their_outcome(win: Win) -> Outcome | None:
    seat_wind = EAST + (win.seat - win.kyoku) % 4
    config = HandConfig(
        is_tsumo=win.is_tsumo,
        is_riichi=win.riichi == 1,
        is_daburu_riichi=win.riichi == 2,
        is_ippatsu=win.has_ippatsu,
        is_rinshan=win.is_rinshan,
        is_chankan=win.is_chankan,
        is_haitei=win.is_last_tile and win.is_tsumo,
        is_houtei=win.is_last_tile and not win.is_tsumo,
        is_tenhou=win.is_first_turn and seat_wind == EAST,
        is_chiihou=win.is_first_turn and seat_wind != EAST,
        player_wind=seat_wind,
        round_wind=EAST + win.kyoku // 4,
        options=OptionalRules(
            has_open_tanyao=True,
            has_aka_dora=True,
            has_double_yakuman=False,
            kazoe_limit=HandConstants.KAZOE_LIMITED,
            kiriage=False,
            limit_to_sextuple_yakuman=False,
        ),
    )
    melds = [Meld(MELD_NAMES[meld], ids, opened=meld != ANKAN_MELD) for meld, ids in win.melds]
    tiles = win.concealed + [tile for _, ids in win.melds for tile in ids]
    result = HandCalculator.estimate_hand_value(
        tiles, win.win_tile, melds, win.dora, config, ura_dora_indicators=win.ura
    )
    if result.error is not None:
        assert result.error == HandCalculator.ERR_NO_YAKU, result.error
        return None
    assert result.yaku is not None
    assert result.cost is not None
    is_yakuman = any(yaku.is_yakuman for yaku in result.yaku)
    yaku = frozenset(YAKU_ID_TO_TENHOU_ID[yaku.yaku_id] for yaku in result.yaku) - DORA_YAKU
    deltas = _deltas(win, result.cost["main"], result.cost["additional"])
    return yaku, 0 if is_yakuman else result.han or 0, 0 if is_yakuman else result.fu or 0, deltas


def _deltas(win: Win, main: int, additional: int) -> list[int]:
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


def compare(num_wins: int, seed: int) -> Counter[int]:
    """Compare ``num_wins`` wins that have a yaku; return how often each yaku came up."""
    rng = np.random.default_rng(seed)
    seen: Counter[int] = Counter()
    done = 0
    while done < num_wins:
        win = generate_win(rng)
        ours, theirs = our_outcome(win), their_outcome(win)
        assert ours == theirs, win
        if ours is not None:
            seen.update(ours[0])
            done += 1
    return seen


def test_5000_generated_wins_are_worth_the_same() -> None:
    compare(5000, 0)


@pytest.mark.slow
def test_100000_generated_wins_are_worth_the_same_and_show_every_yaku() -> None:
    seen = compare(100_000, 1)
    # Tenhou does not play renhou, and no game goes on into a North round.
    assert {YAKU_NAMES[number] for number in range(52) if seen[number] == 0} == {"renhou", "round wind north"}
