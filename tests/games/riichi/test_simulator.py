from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from suphx.games.game import Agent
from suphx.games.riichi import table as codes
from suphx.games.riichi.rules import Rules, tenhou, tonpuu
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import shuffle_wall
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import face_of_id
from suphx.kernel.record import Records
from tests.games.riichi.builders import hands
from tests.games.riichi.builders.games import choose_hastily
from tests.games.riichi.builders.table_builder import Deal
from tests.games.riichi.invariants import check_invariants, first_violation


def play(seeds: range, rules: Rules, batch: int) -> Records:
    """Play one game for each seed, ``batch`` at a time; return the final tables."""
    finished = []
    for start in range(0, len(seeds), batch):
        simulator = Simulator(len(seeds[start : start + batch]), rules)
        simulator.reset(seeds[start : start + batch])
        while (waiting := simulator.waiting()).size:
            simulator.advance(waiting, hands.choose(simulator.tables, waiting))
        finished.append(simulator.tables)
    return np.concatenate(finished)


@pytest.mark.parametrize("batch", [1, 3, 16])
def test_the_same_seeds_give_the_same_games_in_any_batch(batch: int) -> None:
    assert (play(range(16), tenhou(), batch) == play(range(16), tenhou(), 16)).all()


def test_a_reset_simulator_plays_like_a_new_one() -> None:
    used, fresh = Simulator(4, tenhou()), Simulator(4, tenhou())
    used.reset(range(100, 104))
    while (waiting := used.waiting()).size:
        used.advance(waiting, hands.choose(used.tables, waiting))
    used.reset(range(4))
    fresh.reset(range(4))
    for _ in range(500):
        waiting = used.waiting()
        np.testing.assert_array_equal(waiting, fresh.waiting())
        actions = hands.choose(used.tables, waiting)
        np.testing.assert_array_equal(actions, hands.choose(fresh.tables, waiting))
        used.advance(waiting, actions)
        fresh.advance(waiting, actions)
    np.testing.assert_array_equal(used.scores(), fresh.scores())


def test_a_simulator_can_wait_at_the_end_of_every_deal() -> None:
    simulator = Simulator(1, tenhou(), stops_at_kyoku_end=True)
    simulator.reset([7])
    deals = 0
    while simulator.tables["phase"][0] != codes.GAME_END:
        while (waiting := simulator.waiting()).size:
            simulator.advance(waiting, hands.choose(simulator.tables, waiting))
        assert simulator.at_kyoku_end().tolist() == [0]
        assert simulator.tables["phase"][0] == codes.KYOKU_END
        simulator.next_kyoku(np.array([0]))
        deals += 1
    assert deals == simulator.tables["num_kyoku"][0]
    assert simulator.placements().tolist() == play(range(7, 8), tenhou(), 1)["placement"].tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tables: tables.reset([-1, 0]), "seeds must lie in 0"),
        (lambda tables: tables.reset([0, 2**62]), "seeds must lie in 0"),
        (lambda tables: tables.reset([1, 2, 3]), "3 seeds for 2 tables"),
        (lambda tables: tables.reset([1.5, 2.5]), "seeds are float64: give integers"),
        (lambda tables: tables.reset([1, 2], [0, 0]), "a table is named twice"),
        (lambda tables: tables.reset([1, 2], [0, 2]), "there is no table 2: use 0 to 1"),
        (lambda tables: tables.next_kyoku([0, -1]), "there is no table -1: use 0 to 1"),
        (lambda tables: tables.advance(tables.waiting(), np.array([37])), "1 actions for 2 tables"),
        (lambda tables: tables.advance([0, 1, 0], [37] * 3), "table 0 is named twice: give each table one move"),
        (lambda tables: tables.advance([0, 2], [37] * 2), "there is no table 2: use 0 to 1"),
        (lambda tables: tables.advance([-1, 0], [37] * 2), "there is no table -1: use 0 to 1"),
        (lambda tables: tables.advance([0.0, 1.0], [37, 37]), "indices are float64: give integers"),
        (lambda tables: tables.advance([0, 1], [True, True]), "actions are bool: give integers"),
        (lambda tables: tables.advance([0, 1], np.zeros((2, 120))), r"actions have the shape \[2, 120\]: give a list"),
        (lambda tables: tables.advance(0, 37), r"indices have the shape \[\]: give a list"),
        (lambda tables: tables.advance([0, 1], [37, 65536 + 37]), "unknown action 65573 is not legal"),
        (lambda _: Simulator(0, tenhou()), "num_tables is 0"),
        (lambda _: Simulator(1, tenhou()).next_kyoku([0]), "table 0 has no game: reset it first"),
    ],
)
def test_wrong_numbers_seeds_and_tables_are_refused(call: Callable[[Simulator], object], message: str) -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    before = simulator.tables.tobytes()
    with pytest.raises(ValueError, match=message):
        call(simulator)
    assert simulator.tables.tobytes() == before


@pytest.mark.parametrize("action", [codes.PASS, -1, 120, 5000])
def test_an_illegal_action_is_refused_with_the_legal_ones_and_changes_nothing(action: int) -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    before = simulator.tables.tobytes()
    with pytest.raises(ValueError, match=r"table 1, seat 0: .* is not legal; legal: discard .*tsumogiri"):
        simulator.advance(simulator.waiting(), np.array([37, action]))
    assert simulator.tables.tobytes() == before


def test_lists_name_tables_and_actions() -> None:
    simulator, same = Simulator(2, tenhou()), Simulator(2, tenhou())
    simulator.reset([7, 8])
    same.reset([7], [0])
    same.reset([8], [1])
    simulator.advance([0, 1], [37, 37])
    same.advance(np.array([0, 1], np.int32), np.array([37, 37], np.int8))
    assert simulator.tables.tobytes() == same.tables.tobytes()
    simulator.advance([], [])
    simulator.next_kyoku([])


def test_a_copy_has_the_games_and_none_of_the_large_tables_of_the_engine() -> None:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    data = pickle.dumps(simulator)
    assert len(data) < simulator.tables.nbytes + 10_000
    copied = pickle.loads(data)
    for each in (simulator, copied):
        each.advance([0, 1], [37, 37])
    assert simulator.tables.tobytes() == copied.tables.tobytes()


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
            if t["phase"] == codes.OWN_TURN and not t["is_rinshan"] and tuple(last[i]) != now:
                last[i] = now
                draws[i].append(draw_of(t))
        simulator.advance(waiting, hands.choose(simulator.tables, waiting))
    return [draw for game in draws for draw in game]


def draw_of(t: Any) -> Draw:
    place = int(t["next_draw"]) - 1
    kans = int(t["num_kans"])
    gone = [*range(place), *codes.RINSHAN[:kans], *(codes.DORA_POSITIONS[i] for i in range(int(t["num_dora"])))]
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
            places = {place: int(wall[codes.DEALT + place]) for place in range(codes.NUM_DRAWS)}
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
            simulator.advance(waiting, hands.choose(simulator.tables, waiting))
        t = simulator.tables[simulator.tables["result"] == codes.EXHAUSTIVE_DRAW]
        assert t["num_kans"].max() > 0
        np.testing.assert_array_equal(t["next_draw"], codes.LAST_DRAW - t["num_kans"])
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
        rows.append(np.stack([winner, (t["next_draw"] - codes.DEALT) // 10, np.minimum(t["num_calls"], 4)]))
        simulator.next_kyoku(ended)
    return [np.bincount(column, minlength=size) for column, size in zip(np.hstack(rows), (5, 8, 5), strict=True)]


def play_checked(seeds: range, agent: Agent | None) -> int:
    """Play a batch of games and check every state of each; return the number of checks. No agent: hasty choices."""
    simulator = Simulator(len(seeds), tenhou(), stops_at_kyoku_end=True)
    simulator.reset(seeds)
    rng = np.random.default_rng(seeds.start)
    checks = 0
    while (waiting := simulator.waiting()).size:
        if agent is None:
            actions: NDArray[np.integer[Any]] = np.array([choose_hastily(simulator.tables[i], rng) for i in waiting])
        else:
            actions = agent.act(simulator.tables, waiting)
        simulator.advance(waiting, actions)
        first_violation(simulator.tables, waiting, 100_000)
        checks += len(waiting)
        simulator.next_kyoku(simulator.at_kyoku_end())
    assert (simulator.tables["phase"] == codes.GAME_END).all()
    return checks


@pytest.mark.parametrize(
    ("agent", "num_games", "num_checks"), [("random", 100, 100_000), ("ukeire", 100, 50_000), ("hasty", 8, 3000)]
)
def test_nothing_is_lost_in_games(agent: str, num_games: int, num_checks: int) -> None:
    player = None if agent == "hasty" else ScriptedAgent(agent)
    assert play_checked(range(num_games), player) > num_checks


@pytest.mark.slow
def test_nothing_is_lost_in_10000_random_games() -> None:
    with ThreadPoolExecutor(2) as pool:
        batches = (range(first, first + 500) for first in range(0, 10_000, 500))
        assert sum(pool.map(lambda seeds: play_checked(seeds, ScriptedAgent("random")), batches)) > 10_000_000


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scores", (25_000, 25_000, 25_000, 24_000), "points and sticks do not add up"),
        ("num_legal", 0, "the legal mask is empty"),
        ("waits", (1, 0, 0, 0), "waits of seat 0 are stale"),
        ("river_kinds", (0, 1, 0, 0), "river kinds of seat 1 are stale"),
        ("missed_win", (0, 0, 2, 0), "seat 2 is furiten for good without riichi"),
        ("next_draw", 55, "tiles are not conserved"),
        ("riichi", (0, 0, 0, 1), "seat 3 has no riichi tile"),
        ("red", "the others", "tiles are not conserved|a red five without a five"),
        ("kyotaku", 1, "points and sticks do not add up"),
        ("num_legal", 3, "num_legal is not the number"),
        ("phase", 4, "seat 0 holds a wrong number of tiles"),
        ("forbidden", 1, "seat 0 may discard or claim with tiles that it does not hold"),
    ],
)
def test_a_damaged_state_is_noticed(name: str, value: object, message: str) -> None:
    deal = Deal(["147m258p369s1234z", "", "", ""], draws="5z")
    check_invariants(deal.table)
    deal.table[name] = 7 - deal.table["red"] if name == "red" else value
    with pytest.raises(AssertionError, match=message):
        check_invariants(deal.table)


# --- who deals next


@pytest.mark.parametrize(
    ("result", "winners", "tenpai", "expected"),
    [
        (codes.WIN_RESULT, (0,), (), (0, 3)),  # the dealer won
        (codes.WIN_RESULT, (1,), (), (1, 0)),
        (codes.WIN_RESULT, (2, 0), (), (0, 3)),  # a double ron with the dealer
        (codes.EXHAUSTIVE_DRAW, (), (0, 1), (0, 3)),
        (codes.EXHAUSTIVE_DRAW, (), (1, 2, 3), (1, 3)),
        (codes.NAGASHI_MANGAN, (), (0,), (0, 3)),
        (codes.NAGASHI_MANGAN, (), (), (1, 3)),
        (codes.NINE_TERMINALS_DRAW, (), (), (0, 3)),
        (codes.FOUR_WINDS_DRAW, (), (), (0, 3)),
        (codes.FOUR_RIICHI_DRAW, (), (), (0, 3)),
        (codes.TRIPLE_RON_DRAW, (), (), (0, 3)),
    ],
)
def test_the_dealer_stays_after_a_win_tenpai_or_an_abortive_draw(
    result: int, winners: Sequence[int], tenpai: Sequence[int], expected: tuple[int, int]
) -> None:
    assert (
        hands.next_deal(hands.after(hands.EAST_1, result=result, winners=winners, tenpai=tenpai, honba=2)) == expected
    )


# --- the end


@pytest.mark.parametrize(
    ("scores", "winners", "is_over"),
    [
        (hands.OTHER_LEADS, (0,), True),  # somebody has the target after South 4
        (hands.EVEN, (0,), False),  # nobody has: on into West
        ((29_900, 29_900, 20_100, 20_100), (0,), False),
        ((30_000, 29_000, 20_900, 20_100), (0,), True),
        (hands.DEALER_LEADS, (3,), True),  # the last dealer won and leads
        (hands.OTHER_LEADS, (3,), False),  # it won and does not lead
        ((25_000, 25_000, 20_100, 29_900), (3,), False),  # it leads below the target
        ((30_000, 24_000, 16_000, 30_000), (3,), False),  # a tie is lost to the seat nearer to East
    ],
)
def test_after_south_4(scores: Sequence[int], winners: Sequence[int], is_over: bool) -> None:
    assert (hands.after(hands.SOUTH_4, scores, winners=winners)["phase"] == codes.GAME_END) == is_over


TENPAI_DRAW: dict[str, Any] = {"result": codes.EXHAUSTIVE_DRAW, "tenpai": (3,)}
GOES_ON, DEALER_GOES_ON = Rules(tenpai_ends_game=False), Rules(dealer_win_ends_game=False)
FOUR_WINDS, NO_EXTRA_WIND = Rules(num_winds=4, extra_wind=False), Rules(extra_wind=False)
LOW_LEAD, NORTH_4 = (24_000, 24_000, 24_000, 28_000), 15
DEALER_TENPAI = {"result": codes.EXHAUSTIVE_DRAW, "tenpai": (0,)}
NINE_TERMINALS = {"result": codes.NINE_TERMINALS_DRAW}


def with_lowest(points: int) -> tuple[int, ...]:
    """Return scores of which the first one is the lowest."""
    return (points, 30_000, 40_000, 30_000 - points)


@pytest.mark.parametrize(
    ("kyoku", "scores", "options", "expected"),
    [
        (
            hands.SOUTH_4 - 1,
            (40_000, 20_000, 20_000, 20_000),
            {"winners": (0,)},
            (hands.SOUTH_4, 0),
        ),  # the target comes too early
        (hands.SOUTH_4, hands.DEALER_LEADS, TENPAI_DRAW, None),  # the leading last dealer is tenpai
        (hands.SOUTH_4, hands.DEALER_LEADS, TENPAI_DRAW | {"rules": GOES_ON}, (hands.SOUTH_4, 1)),
        (hands.SOUTH_4, hands.DEALER_LEADS, {"result": codes.EXHAUSTIVE_DRAW}, None),  # noten: it loses the deal
        (hands.SOUTH_4, hands.DEALER_LEADS, {"result": codes.NINE_TERMINALS_DRAW}, (hands.SOUTH_4, 1)),
        (hands.SOUTH_4, hands.EVEN, {"winners": (0,)}, (hands.WEST_1, 0)),
        (hands.WEST_1, hands.OTHER_LEADS, {"winners": (1,)}, None),  # West ends as soon as somebody has the target
        (hands.WEST_1, hands.EVEN, {"winners": (1,)}, (hands.WEST_1 + 1, 0)),
        (hands.WEST_4, hands.EVEN, {"winners": (0,)}, None),  # and at its end below the target too
        (hands.WEST_4, hands.EVEN, {"winners": (3,)}, (hands.WEST_4, 1)),
        (hands.EAST_4, hands.OTHER_LEADS, {"winners": (0,), "rules": tonpuu()}, None),
        (hands.EAST_4, hands.EVEN, {"winners": (0,), "rules": tonpuu()}, (hands.EAST_4 + 1, 0)),
        (hands.SOUTH_4, hands.EVEN, {"winners": (0,), "rules": tonpuu()}, None),
        (hands.EAST_4, hands.OTHER_LEADS, {"winners": (0,)}, (hands.EAST_4 + 1, 0)),
        # options: the planned winds, with or without another one
        (hands.SOUTH_4, hands.OTHER_LEADS, {"winners": (0,), "rules": Rules(num_winds=3)}, (hands.WEST_1, 0)),
        (hands.WEST_4, hands.OTHER_LEADS, {"winners": (0,), "rules": Rules(num_winds=3)}, None),
        (hands.WEST_4, hands.EVEN, {"winners": (0,), "rules": FOUR_WINDS}, (hands.WEST_4 + 1, 0)),
        (NORTH_4, hands.EVEN, {"winners": (0,), "rules": FOUR_WINDS}, None),
        (hands.SOUTH_4, hands.EVEN, {"winners": (0,), "rules": NO_EXTRA_WIND}, None),
        (hands.SOUTH_4, LOW_LEAD, {"winners": (3,), "rules": NO_EXTRA_WIND}, None),
        (hands.SOUTH_4, LOW_LEAD, {"winners": (3,)}, (hands.SOUTH_4, 1)),
        # the target, the last dealer who leads, and who keeps the deal
        (hands.SOUTH_4, hands.OTHER_LEADS, {"winners": (0,), "rules": Rules(target_points=31_000)}, None),
        (hands.SOUTH_4, hands.OTHER_LEADS, {"winners": (0,), "rules": Rules(target_points=31_100)}, (hands.WEST_1, 0)),
        (hands.SOUTH_4, hands.DEALER_LEADS, {"winners": (3,)}, None),
        (hands.SOUTH_4, hands.DEALER_LEADS, {"winners": (3,), "rules": DEALER_GOES_ON}, (hands.SOUTH_4, 1)),
        (hands.EAST_1, hands.EVEN, {**DEALER_TENPAI, "rules": Rules(tenpai_keeps_dealer=True)}, (0, 1)),
        (hands.EAST_1, hands.EVEN, {**DEALER_TENPAI, "rules": Rules(tenpai_keeps_dealer=False)}, (1, 1)),
        (hands.EAST_1, hands.EVEN, {**NINE_TERMINALS, "rules": Rules(tenpai_keeps_dealer=False)}, (0, 1)),
        # a bust
        (hands.EAST_1, with_lowest(-100), {"winners": (2,), "rules": Rules(bust="below zero")}, None),
        (hands.EAST_1, with_lowest(0), {"winners": (2,), "rules": Rules(bust="below zero")}, (1, 0)),
        (hands.EAST_1, with_lowest(-100), {"winners": (2,), "rules": Rules(bust="at zero")}, None),
        (hands.EAST_1, with_lowest(0), {"winners": (2,), "rules": Rules(bust="at zero")}, None),
        (hands.EAST_1, with_lowest(100), {"winners": (2,), "rules": Rules(bust="at zero")}, (1, 0)),
        (hands.EAST_1, with_lowest(-100), {"winners": (2,), "rules": Rules(bust="never")}, (1, 0)),
    ],
)
def test_the_game_ends_or_goes_on_to_this_deal_and_honba(
    kyoku: int, scores: Sequence[int], options: dict[str, Any], expected: tuple[int, int] | None
) -> None:
    table = hands.after(kyoku, scores, **options)
    assert (table["phase"] == codes.GAME_END) == (expected is None)
    assert expected is None or hands.next_deal(table) == expected


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        ((20_000, 31_000, 9000, 40_000), [3, 2, 4, 1]),
        ((20_000, 30_000, 20_000, 30_000), [3, 1, 4, 2]),  # a tie: nearer to the first dealer
    ],
)
def test_places_follow_points(scores: Sequence[int], places: list[int]) -> None:
    assert hands.after(hands.SOUTH_4, scores, winners=(0,))["placement"].tolist() == places
