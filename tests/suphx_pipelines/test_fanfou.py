from __future__ import annotations

import numpy as np
import pytest

from suphx.games.dazhong.experiment import PlayedHands
from suphx_pipelines.fanfou import measure_group


def test_figures_of_a_group() -> None:
    # By hand: who won, who dealt in (-1: nobody), in two orders on the same walls.
    orders = []
    for agents, winners, losers in (
        (("ba", "op", "robot", "robot"), [1, 1, 0, 2, -1], [0, -1, 3, 1, -1]),
        (("robot", "op", "ba", "robot"), [1, 2, 0, 1, 1], [0, 3, 2, 2, -1]),
    ):
        wins = np.array([[int(winner == seat) for seat in range(4)] for winner in winners], np.int8)
        fan = 6 * wins.astype(np.int32) - 2 * (np.array(losers)[:, None] == np.arange(4))
        orders.append(PlayedHands(agents, np.arange(5), wins, np.array(losers, np.int8), fan))
    result = measure_group(orders, ("ba", "op"))
    assert (result.hands, result.decided, result.self_drawn) == (10, 9, 2)
    assert result.wins == {"ba": 2, "op": 5, "robot": 2}
    assert result.deal_ins == {"ba": 3, "op": 1, "robot": 3}
    assert result.win_difference.mean == pytest.approx(3 / 9)
    assert result.win_difference.num_clusters == 5
    assert result.deal_in_difference.mean == pytest.approx(-2 / 7)
    assert result.fan["robot"] == pytest.approx((2 * 6 - 3 * 2) / 2 / 10)
    assert result.fan_difference.mean == pytest.approx(result.fan["op"] - result.fan["ba"])
