from __future__ import annotations

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.rating import count_ahead


def test_counts_who_came_before_whom_in_common_games() -> None:
    games = [RatedGame(1, ("a", "b", "c", "d"), (1, 2, 3, 4)), RatedGame(2, ("b", "a", "e", "c"), (1, 4, 2, 3))]
    assert count_ahead(games, ["a", "b", "f", "c"]).tolist() == [[0, 1, 0, 1], [1, 0, 0, 2], [0, 0, 0, 0], [1, 0, 0, 0]]
