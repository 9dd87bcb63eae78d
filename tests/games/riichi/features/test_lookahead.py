from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.features.paper import encode
from suphx.games.riichi.features.paper_layout import CHANCE_BORDERS, CLAIM, PUBLIC
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import U8
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.builders.hands import table_with
from tests.games.riichi.features.builders.positions import near_win_tables, positions, put_into_river
from tests.games.riichi.twins.lookahead_twin import hand_at, lookahead_planes


def encoded(table: np.void, seat: int, action: int = -1) -> dict[str, U8]:
    """Return the look-ahead planes by name."""
    layout = PUBLIC if action < 0 else CLAIM
    row = np.zeros(layout.observation_bytes, np.uint8)
    encode(load_lookup(), table.view(np.recarray), seat, action, True, row)  # type: ignore[arg-type]
    planes = unpack_planes(row, layout.num_planes)
    return {part.name: planes[part.first : part.first + part.count] for part in layout.ranges if is_ours(part.name)}


def is_ours(name: str) -> bool:
    return "lookahead" in name


def differences(table: np.void, seat: int, action: int = -1) -> list[str]:
    """Return the names of the planes that the twin fills otherwise."""
    twin = lookahead_planes(hand_at(table, seat))
    if action >= 0:
        after = lookahead_planes(hand_at(table, seat, action))
        twin |= {name: planes for name, planes in after.items() if name.startswith("claim")}
    return [name for name, planes in encoded(table, seat, action).items() if not np.array_equal(planes, twin[name])]


def compare(games: Iterable[GameLog], num_positions: int, step: int) -> None:
    """Compare every ``step``-th position of games, with all its claims."""
    some = (position for game in games for position in positions(game))
    for position in islice(some, 0, num_positions * step, step):
        for action in [-1, *position.claims()]:
            assert differences(position.table, position.actor, action) == [], hand_at(position.table, position.actor)


def test_positions_of_hasty_games_look_ahead_as_the_slow_twin_does() -> None:
    compare([random_game(seed) for seed in range(8)], 20, 110)


@pytest.mark.parametrize(("number", "seed"), [(18, 3), pytest.param(4_000, 4, marks=pytest.mark.slow)])
def test_hands_near_rare_wins_look_ahead_as_the_slow_twin_does(number: int, seed: int) -> None:
    for table in near_win_tables(number, seed):
        assert differences(table, int(table["actor"])) == [], hand_at(table, int(table["actor"]))


def test_a_chance_exactly_on_its_border_reaches_it() -> None:
    table = table_with("123456789m1199p5s")  # giving up 5s it waits for two 1p and two 9p
    for tile in parse_kinds("222233334444555566667p"):
        put_into_river(table, 2, tile)
    assert differences(table, 1) == []
    # 136 - 14 - indicator - 21 discards = 100 unseen: 4 of them are 400 of 10,000
    is_reached = encoded(table, 1)["lookahead_chance"][: len(CHANCE_BORDERS[0]), parse_kinds("5s")[0]]
    assert is_reached.tolist() == [border <= 400 for border in CHANCE_BORDERS[0]]


@pytest.mark.slow
@pytest.mark.records
def test_real_positions_look_ahead_as_the_slow_twin_does(records: Path) -> None:
    compare(iter_records([records / "houou-hanchan-202205"], quarantine=Quarantine()), 3_000, 23)
