from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.bots.seat_play import EVERY_SEAT, NO_SCRIPT, advance_tables, fill_planes, play_to_seats
from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.features.layout.planes import observation_bytes, unpack_planes
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.table.rules import tenhou
from suphx.games.riichi.table.table import GAME_END

ALL = np.arange(6)
SCRIPTED = np.zeros(4, np.int64)


def new_tables() -> tuple[Simulator, np.ndarray]:
    simulator = Simulator(len(ALL), tenhou())
    simulator.reset(range(len(ALL)))
    return simulator, np.array(simulator.tables["scores"])


def test_settled_scores_change_when_a_kyoku_ends_and_are_the_final_ones_after_the_game() -> None:
    simulator, settled = new_tables()
    before, num_kyoku = settled.copy(), simulator.tables["num_kyoku"].copy()
    while (waiting := simulator.waiting()).size:
        advance_tables(
            simulator.tables, load_suits(), waiting, simulator.tables["legal"][waiting].argmax(axis=1), settled
        )
        has_ended = (simulator.tables["num_kyoku"] != num_kyoku) | (simulator.tables["phase"] == GAME_END)
        assert (settled == before)[~has_ended].all()
        assert (settled.sum(axis=1) + 1000 * simulator.tables["kyotaku"] == 100_000)[has_ended].all()
        before, num_kyoku = settled.copy(), simulator.tables["num_kyoku"].copy()
    assert (settled == simulator.scores()).all()


def test_opponents_play_to_the_seat_of_the_player() -> None:
    simulator, settled = new_tables()
    seats = ALL % 4
    play_to_seats(simulator.tables, load_suits(), ALL, seats, SCRIPTED, settled)
    assert (simulator.tables["actor"] == seats).all()
    assert simulator.tables["num_decisions"][3] > 0


@pytest.mark.parametrize("seats", [np.full(6, EVERY_SEAT), np.full(6, 2)], ids=["every seat", "no scripts"])
def test_who_has_no_script_is_not_played(seats: np.ndarray) -> None:
    simulator, settled = new_tables()
    play_to_seats(simulator.tables, load_suits(), ALL, seats, np.full(4, NO_SCRIPT), settled)
    assert not simulator.tables["num_decisions"].any()


@pytest.mark.parametrize("num_planes", [1, 3, 838])
def test_planes_are_unpacked_into_their_rows(num_planes: int) -> None:
    rows = np.random.default_rng(1).integers(0, 256, (3, observation_bytes(num_planes)), np.uint8)
    planes = np.full((3, num_planes * 34), 9, np.uint8)
    fill_planes(rows, np.array([2, 0]), planes)
    assert (planes[1] == 9).all()
    for index in (0, 2):
        assert (planes[index].reshape(num_planes, 34) == unpack_planes(rows[index], num_planes)).all()
