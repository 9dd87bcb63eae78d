from __future__ import annotations

from math import comb

import numpy as np
import pytest

from suphx.evaluation import tournament
from suphx.evaluation.rating import rate_agents
from suphx.evaluation.tournament import LineupResult, all_lineups, head_to_head, placements_of, play_lineups
from suphx.games.riichi.table.rules import tonpuu

UKEIRE, TSUMOGIRI, RANDOM = 0, 1, 2
AGENTS = ("ukeire", "tsumogiri", "random", "ukeire")


def play(*, num_walls: int = 6, seed: int = 1, workers: int = 1) -> list[LineupResult]:
    lineups = all_lineups(len(AGENTS))
    return list(play_lineups(AGENTS, lineups, num_walls=num_walls, seed=seed, workers=workers, rules=tonpuu()))


def same(first: list[LineupResult], second: list[LineupResult]) -> bool:
    return all(np.array_equal(a.placements, b.placements) for a, b in zip(first, second, strict=True))


def test_every_four_agents_are_a_lineup() -> None:
    lineups = all_lineups(6)
    assert len(set(lineups)) == comb(6, 4)
    assert all(len(set(lineup)) == 4 for lineup in lineups)
    with pytest.raises(ValueError, match="3 agents: a tournament needs at least 4, add baselines"):
        all_lineups(3)


def test_a_game_has_four_places_and_an_agent_takes_every_seat() -> None:
    (result,) = play()
    assert result.placements.shape == (6, 4, 4)
    assert np.array_equal(np.sort(result.placements, axis=2), np.broadcast_to([1, 2, 3, 4], (6, 4, 4)))
    task = tournament._task((3, 5, 6, 9), range(2), 1, 2, "abcdefghij")
    assert task.title == "d, f, g, j on walls 1 to 2 of 2"
    assert task.seeds[0] == task.seeds[3] != task.seeds[4]
    for seat in range(4):
        assert sorted(task.seating[:4, seat]) == [3, 5, 6, 9]


def test_the_stronger_agent_wins_the_paired_difference_and_the_rating() -> None:
    results = play(num_walls=24)
    difference = head_to_head(results, UKEIRE, RANDOM)
    assert difference.mean == pytest.approx(
        placements_of(results, UKEIRE).mean() - placements_of(results, RANDOM).mean()
    )
    assert difference.is_significant
    assert difference.num_clusters == 24
    assert difference.mean < -0.5
    assert head_to_head(results, RANDOM, UKEIRE).mean == -difference.mean
    ratings = rate_agents(results, len(AGENTS), num_samples=40)
    assert ratings[UKEIRE].interval.low > max(ratings[TSUMOGIRI].interval.high, ratings[RANDOM].interval.high)
    assert all(rating.interval.low <= rating.rating <= rating.interval.high for rating in ratings)


def test_equal_agents_are_not_told_apart() -> None:
    results = play(num_walls=24)
    assert not head_to_head(results, 0, 3).is_significant
    first, _, _, last = rate_agents(results, len(AGENTS), num_samples=40)
    assert first.interval.low < last.rating < first.interval.high


def test_the_result_depends_on_the_seed_but_not_on_workers_and_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = play()
    assert not same(whole, play(seed=2))
    monkeypatch.setattr(tournament, "_WALLS_PER_TASK", 2)
    assert same(whole, play(workers=2))


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="1 walls: use at least two"):
        play(num_walls=1)
    with pytest.raises(ValueError, match="'nobody' is no agent"):
        list(play_lineups(["nobody"] * 4, [(0, 1, 2, 3)], num_walls=2, seed=0))
    with pytest.raises(ValueError, match="have not met"):
        head_to_head(play(), 0, 4)
    with pytest.raises(ValueError, match="nothing to rate"):
        rate_agents([], 4)
