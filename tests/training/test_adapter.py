from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.evaluation.deal_match import play_branches
from suphx.games.game import Agent
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.rollouts.deal_play import draw_starts, play_deals
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.adapter import Adapted, Adapter, AdaptiveAgent, TrialResults, play_either_way, try_hands
from suphx.training.config import AdaptationConfig
from tests.selfplay.agents.small_agent import small_agent

AGENT_CONFIG = AdaptationConfig(num_rollouts=8, learning_rate=1e-2)


class CountingAdapter(Adapter):
    """Writes down for which kyoku and seats it was asked."""

    def adapt(self, tables: Records, seats: I64, seeds: I64) -> Adapted:
        self.asked = getattr(self, "asked", [])
        self.asked += [(int(t["num_kyoku"]), int(seat)) for t, seat in zip(tables, seats, strict=True)]
        return super().adapt(tables, seats, seeds)


def test_it_needs_the_same_table_for_a_kyoku() -> None:
    adaptive = AdaptiveAgent("adapted", Adapter(small_agent(), AGENT_CONFIG))
    with pytest.raises(ValueError, match="adapted follows whole games"):
        next(play_branches(adaptive, ScriptedAgent("random"), [1], tenhou()))


def play_kyokus(agent: Agent, num_steps: int) -> tuple[Records, list[I16]]:
    simulator = Simulator(2, tenhou())
    simulator.reset([1, 2])
    actions = []
    for _ in range(num_steps):
        waiting = simulator.waiting()
        actions.append(agent.act(simulator.tables, waiting).astype(np.int16))
        simulator.advance(waiting, actions[-1])
    return simulator.tables, actions


def test_a_seat_adapts_once_in_a_kyoku() -> None:
    adapter = CountingAdapter(small_agent(), AGENT_CONFIG)
    tables, _ = play_kyokus(AdaptiveAgent("adapted", adapter), 200)
    assert tables["num_kyoku"].min() > 1
    first_kyoku = [seat for number, seat in adapter.asked if number == 1]
    assert max(first_kyoku.count(seat) for seat in range(4)) <= 2  # two tables
    assert len(first_kyoku) >= 6  # a deal may end before a seat discards


def test_it_plays_matches_as_any_agent() -> None:
    agents: list[Agent] = [AdaptiveAgent("adapted", Adapter(small_agent(), AGENT_CONFIG)), small_agent()]
    logs = list(play_games(agents, np.array([[0, 1, 1, 1], [1, 1, 0, 1]]), [4, 4], tenhou()))
    assert [log.names.index("adapted") for log in logs] == [0, 2]
    assert all(log.final_scores is not None for log in logs)


CONFIG = AdaptationConfig(num_rollouts=16, learning_rate=1e-3)


def starts(count: int) -> Records:
    return draw_starts(ScriptedAgent("tsumogiri"), count, seed=0)


def test_rollouts_of_a_deal_share_it_and_differ_in_our_discards() -> None:
    adapter = Adapter(small_agent(), CONFIG)
    rollouts = adapter.roll_out(starts(3), np.array([0, 1, 2]), np.array([5, 6, 7]))
    assert rollouts.rewards.shape == (3, 16)
    first_rows = [rollouts.decisions.of_deals(i, i + 1).planes[0].tobytes() for i in range(16)]
    assert len(set(first_rows)) == 2  # the dealer's first draw is part of what is dealt again
    first_actions = [int(rollouts.decisions.of_deals(i, i + 1).actions[0]) for i in range(16)]
    assert len(set(first_actions)) > 1


def test_a_position_gets_the_same_net_alone_and_among_others() -> None:
    adapter = Adapter(small_agent(), CONFIG, num_tables=10)
    tables, seats, seeds = starts(3), np.array([3, 1, 2]), np.array([5, 6, 7])
    whole = adapter.adapt(tables, seats, seeds)
    alone = Adapter(small_agent(), CONFIG).adapt(tables[1:2], seats[1:2], seeds[1:2])
    for name, value in alone.nets[0].state_dict().items():
        torch.testing.assert_close(whole.nets[1].state_dict()[name], value, atol=1e-6, rtol=1e-4)


def test_what_the_seat_cannot_see_changes_nothing() -> None:
    adapter = Adapter(small_agent(), CONFIG)
    table = starts(1)
    seat = (int(table["actor"][0]) + 1) % 4
    changed = table.copy()
    changed["wall"][0, 60:120] = changed["wall"][0, 60:120][::-1]
    first, second = (seat + 1) % 4, (seat + 2) % 4
    if table["drawn"][0] >= 0 and table["actor"][0] in (first, second):
        first = next(other for other in range(4) if other not in (seat, table["actor"][0]))
        second = next(other for other in range(4) if other not in (seat, first, table["actor"][0]))
    changed["hand"][0, [first, second]] = changed["hand"][0, [second, first]]
    changed["red"][0, [first, second]] = changed["red"][0, [second, first]]
    seats, seeds = np.array([seat]), np.array([11])
    own, other = adapter.adapt(table, seats, seeds).nets[0], adapter.adapt(changed, seats, seeds).nets[0]
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in own.state_dict().items())


STARTS = draw_starts(ScriptedAgent("tsumogiri"), 3, seed=0)
SEATS, SEEDS = np.array([0, 1, 2]), np.array([5, 6, 7])


def trial(config: AdaptationConfig, part: slice = slice(3)) -> TrialResults:
    adapter = Adapter(small_agent(), config)
    return try_hands(adapter, STARTS[part], SEATS[part], SEEDS[part], num_tests=30)


def test_without_a_step_both_sides_get_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx.training.adapter.adapt_net", lambda net, *_: net)
    results = trial(AdaptationConfig(num_rollouts=8))
    np.testing.assert_array_equal(results.base_points, results.adapted_points)
    np.testing.assert_array_equal(results.base_win_rates, results.adapted_win_rates)
    assert not results.changed_shares.any()
    assert (results.rollout_seconds > 0).all()
    assert np.abs(results.base_points).max() > 0


def test_hands_are_tried_alike_alone_and_together() -> None:
    config = AdaptationConfig(num_rollouts=64, learning_rate=0.3)
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
