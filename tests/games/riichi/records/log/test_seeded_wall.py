from __future__ import annotations

import lzma
import re
from itertools import islice
from pathlib import Path

import pytest

from suphx.games.riichi.records.log.gamelog import NO_SEED
from suphx.games.riichi.records.log.replay import Replayer
from suphx.games.riichi.records.log.seeded_wall import (
    FROM_THE_MIDDLE,
    OTHER_SEED,
    UNREADABLE_SEED,
    Deal,
    SeededWalls,
    kyoku_deal,
    tenhou_deals,
)
from suphx.games.riichi.records.mjlog.mjlog import NO_RED, parse_mjlog
from suphx.games.riichi.table.wall import DORA_POSITIONS

SEED = "mt19937ar-sha512-n288,1,2,3"
SHUFFLES = ("mt19937ar,1,2", "mt19937ar,3,4")


def play(walls: SeededWalls, deal: Deal, *, is_start_of_game: bool = False, shuffle: str = "") -> bool:
    """Show a recorded deal and return whether its wall is known."""
    walls.start_kyoku(is_start_of_game=is_start_of_game, shuffle=shuffle)
    wall = walls.finish_kyoku(deal.wall[:52].tolist(), int(deal.wall[DORA_POSITIONS[0]]))
    return wall is not None and wall.tolist() == deal.wall.tolist()


def test_a_seed_gives_the_walls_in_order() -> None:
    walls = SeededWalls(SEED)
    first, second = islice(tenhou_deals(SEED), 2)
    assert play(walls, first, is_start_of_game=True)
    assert play(walls, second)
    assert walls.problem == ""


def test_each_deal_may_have_its_own_seed() -> None:
    walls = SeededWalls(None)
    assert play(walls, kyoku_deal(SHUFFLES[0]), is_start_of_game=True, shuffle=SHUFFLES[0])
    assert play(walls, kyoku_deal(SHUFFLES[1]), shuffle=SHUFFLES[1])
    assert walls.problem == ""


def test_a_fragment_with_a_seed_for_each_deal_is_checked_too() -> None:
    assert play(SeededWalls(None), kyoku_deal(SHUFFLES[0]), shuffle=SHUFFLES[0])


@pytest.mark.parametrize(
    ("seed", "is_start_of_game", "shuffle", "problem"),
    [
        (None, True, "", NO_SEED),
        ("nonsense", True, "", UNREADABLE_SEED),
        (SEED, True, "", OTHER_SEED),
        (SEED, False, "", FROM_THE_MIDDLE),
        (None, True, "nonsense", UNREADABLE_SEED),
        (None, True, SHUFFLES[1], OTHER_SEED),
        ("nonsense", True, SHUFFLES[0], UNREADABLE_SEED),
    ],
)
def test_a_seed_that_cannot_be_used_has_a_reason(
    seed: str | None, is_start_of_game: bool, shuffle: str, problem: str
) -> None:
    walls = SeededWalls(seed)
    deal = kyoku_deal(SHUFFLES[0])
    assert not play(walls, deal, is_start_of_game=is_start_of_game, shuffle=shuffle)
    assert not play(walls, deal)
    assert walls.problem == problem


def test_only_the_first_seed_of_a_game_counts() -> None:
    walls = SeededWalls(SEED)
    walls.read_seed("mt19937ar-sha512-n288,4")
    assert play(walls, next(tenhou_deals(SEED)), is_start_of_game=True)


@pytest.mark.records
def test_real_games_of_2009_agree_with_the_seed_of_each_deal(records: Path) -> None:
    replayer = Replayer()
    num_words = set()
    with lzma.open(records / "careers-hanchan" / "games.tsv.xz", "rt") as games:
        for line in islice(games, 700):
            game_id, _, text = line.rstrip("\n").split("\t")
            seed = re.search(r'shuffle="([^"]*)"', text)
            kind = re.search(r'GO type="([0-9]+)"', text)
            if seed is None or kind is None or int(kind[1]) & NO_RED or seed[1].count(",") in num_words:
                continue
            num_words.add(seed[1].count(","))
            log = parse_mjlog(text, game_id)
            assert log.seed_problem == ""
            assert replayer.replay(log) == []
    assert num_words == {8, 32}
    assert replayer.num_draws_checked > 500
    assert replayer.num_draws_unchecked == 0
