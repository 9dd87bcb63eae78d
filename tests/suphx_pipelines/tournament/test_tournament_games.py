"""The walls of a night."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx.evaluation.rating import RatedGame
from suphx.games.scoring import DEALS_PER_SEED, MAX_DEAL_SEED, deal_seeds
from suphx_pipelines.tournament.kind import Context, deal_seed
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.tournament.small_tournament import SMALL, context_of


@pytest.fixture
def context(runs: Path, tmp_path: Path) -> Context:
    return context_of(SMALL, TrackingStore(runs).start("leaderboard", key="leaderboard"), tmp_path)


def walls(seed: int) -> range:
    return deal_seeds(seed, DEALS_PER_SEED)


def games_of(seed: int) -> list[RatedGame]:
    return [RatedGame(wall, ("a", "b", "c", "d"), (1, 2, 3, 4)) for wall in deal_seeds(seed % MAX_DEAL_SEED, 50)]


def test_a_night_takes_the_next_walls_that_no_night_has_played(context: Context) -> None:
    first = deal_seed(context, (), walls)
    others = games_of(first + 2)
    assert deal_seed(context, others, walls) == first, "the same as without them"
    assert deal_seed(context, games_of(first), walls) == (first + 1) % MAX_DEAL_SEED
    taken = [*games_of(first), *games_of(first + 1)[-1:], *others]
    assert deal_seed(context, taken, walls) == deal_seed(context, taken[::-1], walls) == (first + 3) % MAX_DEAL_SEED


def test_decks_of_a_game_of_two_sides_are_those_of_its_own_blocks(context: Context) -> None:
    first = deal_seed(context, (), walls)

    def decks(seed: int) -> range:
        return range(100 * seed, 100 * seed + 100)

    game = RatedGame(100 * first + 99, ("a", "b"), (1, 2))
    assert deal_seed(context, [game], decks) == (first + 1) % MAX_DEAL_SEED
    assert deal_seed(context, games_of(first), decks) == first
