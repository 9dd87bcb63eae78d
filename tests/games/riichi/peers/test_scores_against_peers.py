"""Generated wins are worth the same by this engine and by the PyPI libraries ``mahjong`` and ``riichienv``.

Compared are yaku, han, fu and payments. ``mahjong`` has Tenhou's options: red fives and open tanyao on, double yakuman
off, no limit of six yakuman, one yakuman at most for counted han, no rounding up to mangan. The evaluator of
``riichienv`` scores by Mahjong Soul's rules (four yakuman count twice); only its games know other rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from mahjong.constants import EAST
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, HandConstants, OptionalRules
from mahjong.hand_calculating.yaku_config import YAKU_ID_TO_TENHOU_ID
from mahjong.meld import Meld
from riichienv import Conditions, HandEvaluator, MeldType, Wind
from riichienv import Meld as RiichiEnvMeld

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.ending import end_by_wins
from suphx.games.riichi.legal import score_win
from suphx.games.riichi.rules import Rules, apply_rules, mahjong_soul, tenhou
from suphx.games.riichi.table import CLAIM, DORA_POSITIONS, LAST_DRAW, OWN_TURN, ROB_KAN, TABLE, URA_POSITIONS
from suphx.games.riichi.tile import ALL_RED_FIVES, face_of_id
from suphx.games.riichi.yaku_number import YAKU_NAMES
from tests.games.riichi.peers.generated_win import Win, generate_win
from tests.games.riichi.peers.peer_divergence import KOKUSHI, KOKUSHI_13_WAITS, SUUANKOU, TENHOU
from tests.games.riichi.peers.peer_game import yaku_number

DORA_YAKU = {52, 53, 54}  # dora, ura dora, red fives by Tenhou's numbers

Outcome = tuple[frozenset[int], int, int, list[int]]
"""Yaku by Tenhou's numbers, han (0 for yakuman), fu (the same), score changes of the four seats."""


def our_outcome(win: Win, rules: Rules) -> Outcome | None:
    """Return what a win is worth by our engine, None without a yaku."""
    tables = np.zeros(1, TABLE)
    apply_rules(tables, rules)
    t: Any = tables[0]
    loser = (win.seat + 1) % 4
    t["phase"] = OWN_TURN if win.is_tsumo else ROB_KAN if win.is_chankan else CLAIM
    t["kyoku"], t["turn"], t["actor"] = win.kyoku, win.seat if win.is_tsumo else loser, win.seat
    held = [face_of_id(tile, ALL_RED_FIVES) for tile in win.concealed]
    win_face = face_of_id(win.win_tile, ALL_RED_FIVES)
    t["drawn" if win.is_tsumo else "claimed_face"] = win_face
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


MELD_NAMES = {
    CHI_MELD: Meld.CHI,
    PON_MELD: Meld.PON,
    ANKAN_MELD: Meld.KAN,
    MINKAN_MELD: Meld.KAN,
    KAKAN_MELD: Meld.SHOUMINKAN,
}


def outcome_by_mahjong(win: Win) -> Outcome | None:
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


MELD_TYPES = {
    CHI_MELD: MeldType.Chi,
    PON_MELD: MeldType.Pon,
    ANKAN_MELD: MeldType.Ankan,
    MINKAN_MELD: MeldType.Daiminkan,
    KAKAN_MELD: MeldType.Kakan,
}
WINDS = (Wind.East, Wind.South, Wind.West, Wind.North)


def outcome_by_riichienv(win: Win) -> Outcome | None:
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
    melds = [RiichiEnvMeld(MELD_TYPES[meld], sorted(ids), meld != ANKAN_MELD) for meld, ids in win.melds]
    result = HandEvaluator(held, melds).calc(win.win_tile, win.dora, conditions, win.ura if win.riichi else [])
    if not result.is_win:
        return None
    yaku = frozenset(yaku_number(yaku, seat_wind, round_wind) for yaku in result.yaku) - DORA_YAKU
    han, fu = (0, 0) if result.yakuman else (result.han, result.fu)
    is_dealer = win.seat == win.kyoku % 4
    of_tsumo = result.tsumo_agari_ko if is_dealer else result.tsumo_agari_oya
    main = of_tsumo if win.is_tsumo else result.ron_agari
    return yaku, han, fu, payments(win, main, result.tsumo_agari_ko if win.is_tsumo else 0)


def is_accepted(ours: Outcome, theirs: Outcome) -> bool:
    """Tell whether a difference is one of the two divergences of riichienv about yaku in docs/rules.md."""
    is_dealt = ours[0] == {TENHOU, KOKUSHI} and theirs[0] == {TENHOU, KOKUSHI_13_WAITS}
    is_counted = ours[0] == {SUUANKOU} and theirs[1] >= 13 and ours[3] == theirs[3]
    return is_dealt or is_counted


class Peer(NamedTuple):
    rules: Rules
    outcome: Callable[[Win], Outcome | None]
    has_divergences: bool


PEERS = {
    "mahjong": Peer(tenhou(), outcome_by_mahjong, False),
    "riichienv": Peer(mahjong_soul(), outcome_by_riichienv, True),
}


def compare(name: str, num_wins: int, seed: int) -> Counter[int]:
    """Compare ``num_wins`` wins that have a yaku; return how often each yaku came up."""
    peer = PEERS[name]
    rng = np.random.default_rng(seed)
    seen: Counter[int] = Counter()
    done = 0
    while done < num_wins:
        win = generate_win(rng)
        ours, theirs = our_outcome(win, peer.rules), peer.outcome(win)
        is_known = peer.has_divergences and ours is not None and theirs is not None and is_accepted(ours, theirs)
        assert ours == theirs or is_known, win
        if ours is not None:
            seen.update(ours[0])
            done += 1
    return seen


@pytest.mark.parametrize("name", PEERS)
def test_generated_wins_are_worth_the_same(name: str) -> None:
    compare(name, 1000, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_100000_generated_wins_are_worth_the_same_and_show_every_yaku(name: str) -> None:
    seen = compare(name, 100_000, 1)
    # Nobody plays renhou here, and no game continues into a North round.
    assert {YAKU_NAMES[number] for number in range(52) if seen[number] == 0} == {"renhou", "round wind north"}
