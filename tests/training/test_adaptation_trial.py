from __future__ import annotations

import numpy as np

from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.rollouts.deal_play import draw_starts, play_deals
from suphx.training.adapter import Adapter, TrialResults, play_either_way, try_hands
from suphx.training.config import AdaptationConfig
from tests.selfplay.agents.small_agent import small_agent

STARTS = draw_starts(ScriptedAgent("tsumogiri"), 3, seed=0)
SEATS, SEEDS = np.array([0, 1, 2]), np.array([5, 6, 7])


def trial(config: AdaptationConfig, part: slice = slice(3)) -> TrialResults:
    adapter = Adapter(small_agent(), config)
    return try_hands(adapter, STARTS[part], SEATS[part], SEEDS[part], num_tests=30)


def test_a_single_rollout_has_nothing_to_teach_so_both_sides_get_the_same() -> None:
    results = trial(AdaptationConfig(num_rollouts=1, rollouts_per_deal=1, baseline="mean"))
    np.testing.assert_array_equal(results.base_points, results.adapted_points)
    np.testing.assert_array_equal(results.base_win_rates, results.adapted_win_rates)
    assert not results.changed_shares.any()
    assert (results.rollout_seconds > 0).all()
    assert np.abs(results.base_points).max() > 0


def test_hands_are_tried_alike_alone_and_together() -> None:
    config = AdaptationConfig(num_rollouts=16, rollouts_per_deal=4, learning_rate=0.3)
    whole = trial(config)
    assert whole.changed_shares.max() > 0.1
    assert (whole.base_points != whole.adapted_points).any()
    parts = TrialResults.join([trial(config, slice(0, 1)), trial(config, slice(1, 3))])
    np.testing.assert_allclose(whole.base_points, parts.base_points)
    np.testing.assert_allclose(whole.adapted_points, parts.adapted_points)


def test_only_deals_that_change_are_played_again() -> None:
    agent, net = small_agent(), small_agent(1).discard_net
    deals = determinise(STARTS[[0] * 40], 1, np.arange(40))
    seats, nets = np.full(40, 1), np.zeros(40, np.int64)
    base, played, is_changed = play_either_way(agent, deals, seats, [net], nets)
    whole = deals.copy()
    play_deals(whole, seats, agent, nets=[net], net_of_deal=nets)
    np.testing.assert_array_equal(played["scores"], whole["scores"])
    np.testing.assert_array_equal(played["river"], whole["river"])
    assert is_changed.sum() > 20
    np.testing.assert_array_equal(base["river"][~is_changed], played["river"][~is_changed])
