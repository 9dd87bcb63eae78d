from __future__ import annotations

import numpy as np

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.records.view.game_text import hand_text
from suphx.games.riichi.records.view.seat_text import seat_text
from suphx.games.riichi.table.rules import tenhou

HIDDEN = "13 tiles"


def test_a_seat_sees_its_own_hand_and_no_other() -> None:
    simulator = Simulator(1, tenhou())
    simulator.reset([3])
    table = simulator.tables[0]
    for seat in range(4):
        lines = seat_text(table, seat).splitlines()
        assert lines[0].startswith("East 1, 0 sticks, dora indicators ")
        assert hand_text(table, seat) in lines[1 + seat]
        assert [HIDDEN in line or "14 tiles" in line for line in lines[1:]] == [other != seat for other in range(4)]
    assert [line[0] for line in lines[1:]] == [">", " ", " ", " "]


def test_the_end_of_a_game_has_the_places() -> None:
    simulator, melds = Simulator(1, tenhou()), 0
    simulator.reset([3])
    random = np.random.default_rng(2)
    while simulator.waiting().size:
        table = simulator.tables[0]
        melds += seat_text(table, 0).count("[]") < 4
        simulator.advance(np.zeros(1, np.int64), random.choice(np.flatnonzero(table["legal"]), 1))
    assert melds > 0
    text = seat_text(simulator.tables[0], 0)
    for seat, place in enumerate(simulator.placements()[0]):
        assert f"seat {seat} {place} ({simulator.scores()[0, seat]:,} points)" in text
