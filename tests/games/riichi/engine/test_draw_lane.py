from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.table.rules import tenhou
from suphx.games.riichi.table.table import EXHAUSTIVE_DRAW, OWN_TURN
from suphx.games.riichi.table.tile import face_of_id
from suphx.games.riichi.table.wall import DEALT, DORA_POSITIONS, LAST_DRAW, NUM_DRAWS, RINSHAN, shuffle_wall
from suphx.selfplay.agents.agent import ScriptedAgent
from tests.games.riichi.builders.hands import choose

NUM_GAMES = 24


@dataclass(frozen=True)
class Draw:
    """A draw from the live wall, and what was known before it."""

    deal: tuple[int, int, int]
    """Seed, kyoku and honba."""
    seat: int
    tile: int
    face: int
    undrawn: frozenset[int]
    """Tiles that nobody had, of which one was drawn; without the dora indicators that had been turned over."""
    num_kans: int
    num_calls: int


@cache
def draws_with_lanes() -> list[Draw]:
    """Return all draws of games in which everybody calls and kans at random, in the order of each game."""
    simulator = Simulator(NUM_GAMES, tenhou(), has_draw_lanes=True)
    simulator.reset(range(NUM_GAMES))
    draws: list[list[Draw]] = [[] for _ in range(NUM_GAMES)]
    last = np.full((NUM_GAMES, 2), -1)
    while (waiting := simulator.waiting()).size:
        for i in waiting.tolist():
            t: Any = simulator.tables[i]
            now = int(t["num_kyoku"]), int(t["next_draw"])
            if t["phase"] == OWN_TURN and not t["is_rinshan"] and tuple(last[i]) != now:
                last[i] = now
                draws[i].append(draw_of(t))
        simulator.advance(waiting, choose(simulator.tables, waiting))
    return [draw for game in draws for draw in game]


def draw_of(t: Any) -> Draw:
    place = int(t["next_draw"]) - 1
    kans = int(t["num_kans"])
    gone = [*range(place), *RINSHAN[:kans], *(DORA_POSITIONS[i] for i in range(int(t["num_dora"])))]
    return Draw(
        deal=(int(t["wall_seed"]), int(t["kyoku"]), int(t["honba"])),
        seat=int(t["actor"]),
        tile=int(t["wall"][place]),
        face=int(t["drawn"]),
        undrawn=frozenset(np.delete(t["wall"], gone).tolist()),
        num_kans=kans,
        num_calls=int(t["num_calls"]),
    )


def test_every_seat_draws_from_its_lane_or_else_the_next_tile() -> None:
    places: dict[int, int] = {}
    draws = [0] * 4
    deal, num_moved = (-1, 0, 0), 0
    for draw in draws_with_lanes():
        if draw.deal != deal:
            deal, draws = draw.deal, [0] * 4
            wall = np.zeros(136, np.int16)
            shuffle_wall(*deal, wall)
            places = {place: int(wall[DEALT + place]) for place in range(NUM_DRAWS)}
        lane = (draw.seat - deal[1]) % 4 + 4 * draws[draw.seat]
        live = sorted(places)[: len(places) - draw.num_kans]
        place = min((place for place in live if place >= lane), default=live[0])
        assert draw.tile == places.pop(place)
        assert draw.face == face_of_id(draw.tile, 0b111)
        draws[draw.seat] += 1
        num_moved += place != lane
    assert num_moved > 100, "lanes ran into tiles that were gone"


def test_each_draw_is_any_undrawn_tile_with_equal_probability_whatever_was_called() -> None:
    random = np.random.default_rng(0)
    for calls in (range(1), range(1, 3), range(3, 20)):
        own = [draw for draw in draws_with_lanes() if draw.num_calls in calls]
        ranks = np.array([sorted(draw.undrawn).index(draw.tile) for draw in own])
        shares = (ranks + random.random(len(own))) / [len(draw.undrawn) for draw in own]
        counts = np.bincount((shares * 20).astype(int), minlength=20)
        expected = len(own) / 20
        chi_square = float(((counts - expected) ** 2 / expected).sum())
        assert chi_square < 19 + 5 * np.sqrt(2 * 19), "five standard deviations"
        # A draw says nothing about the next one, nor about the seat's next one.
        for step in (1, 4):
            assert abs(np.corrcoef(shares[:-step], shares[step:])[0, 1]) < 5 / np.sqrt(len(own))


def test_the_number_of_draws_is_that_of_the_ordinary_game() -> None:
    for has_draw_lanes in (False, True):
        simulator = Simulator(32, tenhou(), stops_at_kyoku_end=True, has_draw_lanes=has_draw_lanes)
        simulator.reset(range(32))
        while (waiting := simulator.waiting()).size:
            simulator.advance(waiting, choose(simulator.tables, waiting))
        t = simulator.tables[simulator.tables["result"] == EXHAUSTIVE_DRAW]
        assert t["num_kans"].max() > 0
        np.testing.assert_array_equal(t["next_draw"], LAST_DRAW - t["num_kans"])
        np.testing.assert_array_equal(np.sort(t["wall"], axis=1), np.tile(np.arange(136), (len(t), 1)))


def test_deals_end_as_often_in_each_way_as_in_the_ordinary_game() -> None:
    ordinary, with_lanes = (outcomes(range(first, first + 120), first > 0) for first in (0, 1000))
    for one, other in zip(ordinary, with_lanes, strict=True):
        assert chi2_contingency(np.stack([one, other])).pvalue > 1e-4


def outcomes(seeds: range, has_draw_lanes: bool) -> list[np.ndarray]:
    """Return counts of deals: by winner counted from the dealer (4: nobody), by draws in steps of ten, by calls."""
    simulator = Simulator(len(seeds), tenhou(), stops_at_kyoku_end=True, has_draw_lanes=has_draw_lanes)
    simulator.reset(seeds)
    agent = ScriptedAgent("ukeire")
    rows: list[np.ndarray] = []
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, agent.act(simulator.tables, waiting))
        ended = simulator.at_kyoku_end()
        t = simulator.tables[ended]
        winner = np.where(t["num_wins"] > 0, (t["win_seat"][:, 0] - t["kyoku"]) % 4, 4)
        rows.append(np.stack([winner, (t["next_draw"] - DEALT) // 10, np.minimum(t["num_calls"], 4)]))
        simulator.next_kyoku(ended)
    return [np.bincount(column, minlength=size) for column, size in zip(np.hstack(rows), (5, 8, 5), strict=True)]
