"""Generated wins are worth the same by this engine and by the PyPI library ``mahjong``: yaku, han, fu, payments.

Differences are rule options of the library: red fives and open tanyao on, double yakuman off, no limit of six yakuman,
one yakuman at most for counted han, no rounding up to mangan.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from mahjong.constants import EAST
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, HandConstants, OptionalRules
from mahjong.hand_calculating.yaku_config import YAKU_ID_TO_TENHOU_ID
from mahjong.meld import Meld

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.yaku_number import YAKU_NAMES
from tests.games.riichi.peers.generated_win import Win, generate_win
from tests.games.riichi.peers.win_outcome import Outcome, outcome_of, payments

MELD_NAMES = {
    CHI_MELD: Meld.CHI,
    PON_MELD: Meld.PON,
    ANKAN_MELD: Meld.KAN,
    MINKAN_MELD: Meld.KAN,
    KAKAN_MELD: Meld.SHOUMINKAN,
}
DORA_YAKU = {52, 53, 54}  # dora, ura dora, red fives by Tenhou's numbers


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
    deltas = payments(win, result.cost["main"], result.cost["additional"])
    return yaku, 0 if is_yakuman else result.han or 0, 0 if is_yakuman else result.fu or 0, deltas


def compare(num_wins: int, seed: int) -> Counter[int]:
    """Compare ``num_wins`` wins that have a yaku; return how often each yaku came up."""
    rng = np.random.default_rng(seed)
    seen: Counter[int] = Counter()
    done = 0
    while done < num_wins:
        win = generate_win(rng)
        ours, theirs = outcome_of(win, tenhou()), their_outcome(win)
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
