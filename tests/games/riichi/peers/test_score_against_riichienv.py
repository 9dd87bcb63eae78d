"""Generated wins are worth the same by this engine and by PyPI ``riichienv``: yaku, han, fu, points.

The peer's evaluator scores by Mahjong Soul's rules (four yakuman count twice); only its games know other rules.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from riichienv import Conditions, HandEvaluator, Meld, MeldType, Wind

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.rules import mahjong_soul
from suphx.games.riichi.yaku_number import YAKU_NAMES
from tests.games.riichi.peers.generated_win import Win, generate_win
from tests.games.riichi.peers.peer_divergence import KOKUSHI, KOKUSHI_13_WAITS, SUUANKOU, TENHOU
from tests.games.riichi.peers.peer_game import yaku_number
from tests.games.riichi.peers.win_outcome import Outcome, outcome_of, payments

MELD_TYPES = {
    CHI_MELD: MeldType.Chi,
    PON_MELD: MeldType.Pon,
    ANKAN_MELD: MeldType.Ankan,
    MINKAN_MELD: MeldType.Daiminkan,
    KAKAN_MELD: MeldType.Kakan,
}
WINDS = (Wind.East, Wind.South, Wind.West, Wind.North)
DORA_YAKU = {52, 53, 54}


def their_outcome(win: Win) -> Outcome | None:
    seat_wind, round_wind = (win.seat - win.kyoku) % 4, win.kyoku // 4
    conditions = Conditions(
        tsumo=win.is_tsumo,
        riichi=win.riichi > 0,
        double_riichi=win.riichi == 2,
        ippatsu=win.has_ippatsu,
        haitei=win.is_last_tile and win.is_tsumo,
        houtei=win.is_last_tile and not win.is_tsumo,
        rinshan=win.is_rinshan,
        chankan=win.is_chankan,
        tsumo_first_turn=win.is_first_turn,
        player_wind=WINDS[seat_wind],
        round_wind=WINDS[round_wind],
    )
    held = list(win.concealed)
    held.remove(win.win_tile)
    melds = [Meld(MELD_TYPES[meld], sorted(ids), meld != ANKAN_MELD) for meld, ids in win.melds]
    result = HandEvaluator(held, melds).calc(win.win_tile, win.dora, conditions, win.ura if win.riichi else [])
    if not result.is_win:
        return None
    yaku = frozenset(yaku_number(yaku, seat_wind, round_wind) for yaku in result.yaku) - DORA_YAKU
    han, fu = (0, 0) if result.yakuman else (result.han, result.fu)
    return yaku, han, fu, _payments(win, result)


def _payments(win: Win, result: Any) -> list[int]:
    if not win.is_tsumo:
        return payments(win, result.ron_agari, 0)
    is_dealer = win.seat == win.kyoku % 4
    return payments(win, result.tsumo_agari_ko if is_dealer else result.tsumo_agari_oya, result.tsumo_agari_ko)


def is_accepted(ours: Outcome | None, theirs: Outcome | None) -> bool:
    """Tell whether a difference is one of the two divergences about yaku in docs/rules.md."""
    if ours is None or theirs is None:
        return False
    is_dealt = ours[0] == {TENHOU, KOKUSHI} and theirs[0] == {TENHOU, KOKUSHI_13_WAITS}
    is_counted = ours[0] == {SUUANKOU} and theirs[1] >= 13 and ours[3] == theirs[3]
    return is_dealt or is_counted


def compare(num_wins: int, seed: int) -> Counter[int]:
    """Compare ``num_wins`` wins that have a yaku; return how often each yaku came up."""
    rng = np.random.default_rng(seed)
    seen: Counter[int] = Counter()
    done = 0
    while done < num_wins:
        win = generate_win(rng)
        ours, theirs = outcome_of(win, mahjong_soul()), their_outcome(win)
        assert ours == theirs or is_accepted(ours, theirs), win
        if ours is not None:
            seen.update(ours[0])
            done += 1
    return seen


def test_5000_generated_wins_are_worth_the_same() -> None:
    compare(5000, 0)


@pytest.mark.slow
def test_100000_generated_wins_are_worth_the_same_and_show_every_yaku() -> None:
    seen = compare(100_000, 1)
    # Nobody plays renhou here, and no game goes on into a North round.
    assert {YAKU_NAMES[number] for number in range(52) if seen[number] == 0} == {"renhou", "round wind north"}
