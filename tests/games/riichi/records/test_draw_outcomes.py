from __future__ import annotations

import numpy as np

from suphx.games.riichi.records.draw_outcomes import DrawColumn, deal_draws
from suphx.games.riichi.records.game_log import GameLog, KyokuLog, move
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.shanten import count_shanten
from suphx.games.riichi.table import PON
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import dora_of_indicator, face_of_id
from suphx.selfplay.rollouts.rollout import play_games

ALL_SUITS = 0b111
"""Have a red five by Tenhou's rules."""


def games(name: str, number: int) -> list[GameLog]:
    return list(play_games([ScriptedAgent(name)], np.zeros((number, 4), np.int64), range(number), tenhou()))


def state(ids: list[int], indicator: int) -> int:
    """Return the state of concealed tiles, computed from their ids alone."""
    kinds = [tile >> 2 for tile in ids]
    faces = [face_of_id(tile, ALL_SUITS) for tile in ids]
    num_dora = kinds.count(dora_of_indicator(indicator >> 2)) + sum(face >= 34 for face in faces)
    return 4 * (int(count_shanten(np.bincount(kinds, minlength=34)[None])[0]) + 1) + min(num_dora, 3)


def dealt(log: KyokuLog) -> list[list[int]]:
    """Return the first 13 tile ids of each seat."""
    hands: list[list[int]] = [[], [], [], []]
    for i, tile in enumerate(log.wall[:52].tolist()):
        hands[(log.kyoku + (i // 4 % 4 if i < 48 else i % 4)) % 4].append(tile)
    return hands


def test_dealt_hands_and_first_draws_are_those_of_the_wall() -> None:
    for game in games("ukeire", 4):
        for log, deal in zip(game.kyokus, deal_draws(game), strict=True):
            wall, hands, seat = log.wall.tolist(), dealt(log), log.kyoku % 4
            indicator = wall[130]
            assert deal.hands.tolist() == [state(hand, indicator) for hand in hands]
            first = deal.draws[0]
            assert (first[DrawColumn.SEAT], first[DrawColumn.TILES_LEFT]) == (seat, 69)
            assert first[DrawColumn.STATE] == state([*hands[seat], wall[52]], indicator)
            others = [state([*hands[seat], tile], indicator) for i, tile in enumerate(wall) if i >= 52 and i != 130]
            assert first[DrawColumn.OUTCOMES :].tolist() == np.bincount(others, minlength=32).tolist()


def test_every_draw_of_a_game_is_one_of_its_outcomes() -> None:
    num_calls = 0
    for game in games("ukeire", 20):
        for log, deal in zip(game.kyokus, deal_draws(game), strict=True):
            outcomes = deal.draws[:, DrawColumn.OUTCOMES :].astype(np.int64)
            assert (outcomes[np.arange(len(outcomes)), deal.draws[:, DrawColumn.STATE]] > 0).all()
            left = outcomes.sum(axis=1)
            assert left[0] == 83
            assert (np.diff(left) <= -1).all()  # a kan also turns an indicator
            num_calls += np.isin(log.moves, [move(seat, PON) for seat in range(4)]).sum()
    assert num_calls > 0


def test_a_deal_ends_where_the_rules_forbid_the_next_move() -> None:
    (game,) = games("tsumogiri", 1)
    whole = len(deal_draws(game)[0].draws)
    game.kyokus[0].moves[5] = move(3, PON)
    assert len(deal_draws(game)[0].draws) < whole
