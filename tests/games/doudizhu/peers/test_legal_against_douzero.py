"""With ``douzero_kickers``, the legal moves of a position are those of PyPI ``douzero``'s generator, as sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from douzero.env.game import GameEnv

from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.moves.legal import list_legal
from suphx.games.doudizhu.moves.move_table import load_moves, move_text
from tests.games.doudizhu.builders.random_position import random_positions, scratch_for
from tests.games.doudizhu.peers.douzero_cards import cards_list, pack_list

MOVES = load_moves(douzero_kickers=True)
PASS = MOVES.num_moves - 1


def generated(game: Any, hand: int, to_beat: int) -> set[int]:
    """Return the packed moves of DouZero's generator."""
    game.info_sets["landlord"].player_hand_cards = cards_list(hand)
    game.card_play_action_seq = [] if to_beat == PASS else [cards_list(int(MOVES.cards[to_beat]))]
    return {pack_list(move) for move in game.get_legal_card_play_actions()}


def new_game() -> Any:
    game = GameEnv(dict.fromkeys(("landlord", "landlord_up", "landlord_down")))
    game.acting_player_position = "landlord"
    return game


def compare(positions: list[tuple[int, int]]) -> None:
    game, out = new_game(), scratch_for(MOVES)
    for hand, to_beat in positions:
        ours = MOVES.cards[out[: list_legal(MOVES, hand, to_beat, out, 0)]].tolist()
        where = f"{cards_list(hand)} against {move_text(MOVES, to_beat)}"
        assert len(set(ours)) == len(ours), where
        assert set(ours) == generated(game, hand, to_beat), where


def positions_of_random_games(number: int, *, seed: int) -> list[tuple[int, int]]:
    simulator = Simulator(100, Rules(douzero_kickers=True))
    rng, next_seed = np.random.default_rng(seed), 0
    positions: list[tuple[int, int]] = []
    while len(positions) < number:
        idle = np.flatnonzero(simulator.tables["phase"] != 1)
        simulator.reset(range(next_seed, next_seed + len(idle)), idle)
        next_seed += len(idle)
        waiting = simulator.waiting()
        tables = simulator.tables[waiting]
        hands = tables["hands"][np.arange(len(waiting)), tables["actor"]]
        positions += zip(hands.tolist(), tables["to_beat"].tolist(), strict=True)
        offsets, legal = simulator.legal(waiting)
        simulator.advance(waiting, legal[rng.integers(offsets[:-1], offsets[1:])])
    return positions[:number]


def test_legal_moves_of_some_positions_are_those_of_douzero() -> None:
    compare(list(random_positions(MOVES, 300, seed=7)))


@pytest.mark.slow
def test_legal_moves_of_60000_random_positions_are_those_of_douzero() -> None:
    compare(list(random_positions(MOVES, 60_000, seed=5)))


@pytest.mark.slow
def test_legal_moves_in_40000_decisions_of_random_games_are_those_of_douzero() -> None:
    compare(positions_of_random_games(40_000, seed=6))
