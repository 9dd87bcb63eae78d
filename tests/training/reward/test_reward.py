from __future__ import annotations

from dataclasses import replace

import numpy as np

from suphx.games.riichi import KyokuEnds
from suphx.training.reward.reward import RoundScore


def test_the_round_score_is_what_a_seat_won_or_lost() -> None:
    before = np.array([[25_000, 25_000, 24_000, 25_000]], np.int32)
    after = np.array([[25_000, 21_100, 28_900, 25_000]], np.int32)
    one = np.zeros(1, np.int32)
    ends = KyokuEnds(
        tables=np.zeros(1, np.int64),
        games=np.zeros(1, np.int64),
        numbers=one,
        kyoku=one,
        honba=one,
        kyotaku=one + 1,
        scores_before=before,
        scores_after=after,
        placements=np.zeros((1, 4), np.int8),
        next_kyoku=one + 1,
        next_honba=one,
        next_kyotaku=one,
        next_scores=after,
    )
    rewards = RoundScore()(ends)
    assert rewards.dtype == np.float32
    assert rewards.tolist() == [[0, -3900, 4900, 0]]
    # The sticks that are left over go to the winner of the game, not of the deal.
    at_the_end = replace(
        ends, placements=np.array([[2, 4, 1, 3]], np.int8), next_scores=after + np.array([[0, 0, 1000, 0]], np.int32)
    )
    assert RoundScore()(at_the_end).tolist() == rewards.tolist()
