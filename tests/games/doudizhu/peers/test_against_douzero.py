"""What our nets see is what PyPI ``douzero``'s ``get_obs`` gives, number by number, in games of random moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from douzero.env.game import GameEnv

from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.features import encode_rows, move_columns, num_state_columns
from suphx.games.doudizhu.moves import list_legal, load_moves, move_text
from suphx.games.doudizhu.table import Rules
from tests.games.doudizhu.builders import random_positions, scratch_for
from tests.games.doudizhu.peers.douzero import DouZeroGame, cards_list, pack_list

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


RULES = Rules(douzero_kickers=True)


def compare_observations(num_decisions: int, *, seed: int) -> None:
    """Play games at one table until so many observations were equal."""
    simulator, rng = Simulator(1, RULES), np.random.default_rng(seed)
    columns, only = move_columns(simulator.moves), np.zeros(1, np.int64)
    while num_decisions > 0:
        simulator.reset([int(rng.integers(2**40))])
        theirs = DouZeroGame(simulator.tables[0])
        while simulator.waiting().size and num_decisions > 0:
            offsets, legal = simulator.legal(only)
            seat = int(simulator.tables["actor"][0])
            states, history = np.split(
                encode_rows(simulator.tables, simulator.moves, only, seat), [num_state_columns(seat)], axis=1
            )
            seen = theirs.observe()
            np.testing.assert_array_equal(states[0], seen["x_no_action"])
            np.testing.assert_array_equal(history[0], seen["z"].ravel())
            candidates = np.hstack([np.repeat(states, offsets[1], axis=0), columns[legal]])
            assert sorted(map(bytes, candidates)) == sorted({bytes(row) for row in seen["x_batch"].astype(np.uint8)})
            move = legal[rng.integers(len(legal))]
            theirs.play(int(simulator.moves.cards[move]))
            simulator.advance(only, legal[[np.flatnonzero(legal == move)[0]]])
            num_decisions -= 1


def test_observations_of_some_decisions_are_those_of_douzero() -> None:
    compare_observations(200, seed=1)


@pytest.mark.slow
def test_observations_of_10000_decisions_are_those_of_douzero() -> None:
    compare_observations(10_000, seed=2)
