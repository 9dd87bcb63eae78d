from __future__ import annotations

import dataclasses

import numpy as np
import torch

from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import ScriptedAgent
from suphx.selfplay.rollouts.deal_play import draw_starts
from suphx.training.adaptation.adaptation_config import AdaptationConfig
from suphx.training.adaptation.adapter import Adapter
from suphx.training.reward.reward import points_won
from tests.selfplay.agents.small_agent import small_agent

CONFIG = AdaptationConfig(num_rollouts=16, rollouts_per_deal=4, batch_rollouts=8, learning_rate=1e-3)


def starts(count: int) -> Records:
    return draw_starts(ScriptedAgent("tsumogiri"), count, seed=0)


def test_rollouts_of_a_deal_share_it_and_differ_in_our_discards() -> None:
    adapter = Adapter(small_agent(), CONFIG)
    rollouts = adapter.roll_out(starts(3), np.array([0, 1, 2]), np.array([5, 6, 7]))
    assert rollouts.rewards.shape == (3, 16)
    first_rows = [rollouts.decisions.of_deals(i, i + 1).planes[0].tobytes() for i in range(16)]
    assert len(set(first_rows)) == 4  # the dealer's first draw is part of what is dealt again
    first_actions = [int(rollouts.decisions.of_deals(i, i + 1).actions[0]) for i in range(16)]
    assert len(set(first_actions)) > 1


def test_a_position_gets_the_same_net_alone_and_among_others() -> None:
    adapter = Adapter(small_agent(), CONFIG, num_tables=10)
    tables, seats, seeds = starts(3), np.array([3, 1, 2]), np.array([5, 6, 7])
    whole = adapter.adapt(tables, seats, seeds)
    alone = Adapter(small_agent(), CONFIG).adapt(tables[1:2], seats[1:2], seeds[1:2])
    for name, value in alone.nets[0].state_dict().items():
        torch.testing.assert_close(whole.nets[1].state_dict()[name], value, atol=1e-6, rtol=1e-4)
    assert whole.num_decisions > alone.num_decisions > 50


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


def test_a_reward_may_be_any_function_of_how_the_deal_went() -> None:
    def nothing(before: Records, after: Records) -> np.ndarray:
        return np.zeros_like(points_won(before, after))

    agent = small_agent()
    adapted = Adapter(agent, CONFIG, reward=nothing).adapt(starts(1), np.array([0]), np.array([1]))
    own = agent.discard_net.state_dict()
    assert all(torch.equal(value, own[name]) for name, value in adapted.nets[0].state_dict().items())


def test_adapting_goes_on_from_given_nets() -> None:
    adapter = Adapter(small_agent(), CONFIG)
    tables, seats = starts(2), np.array([0, 1])
    # Seeds whose rollouts differ in their rewards: otherwise nothing is learned.
    first = adapter.adapt(tables, seats, np.array([5, 6])).nets
    second = adapter.with_rollouts(8).adapt(tables, seats, np.array([25, 26]), first).nets
    for before, after in zip(first, second, strict=True):
        assert any(not torch.equal(value, after.state_dict()[name]) for name, value in before.state_dict().items())


def test_fewer_rollouts_move_less() -> None:
    config = dataclasses.replace(CONFIG, kl_target=0.02, num_epochs=2)
    fewer = Adapter(small_agent(), config).with_rollouts(4).config
    assert (fewer.num_rollouts, fewer.num_epochs, fewer.kl_target) == (4, 1, 0.005)
    assert fewer.learning_rate == config.learning_rate / 4
    more = Adapter(small_agent(), config).with_rollouts(64).config
    assert (more.kl_target, more.learning_rate) == (config.kl_target, config.learning_rate)


def test_a_lower_temperature_samples_the_most_probable_discards_more_often() -> None:
    def mean_log_prob(temperature: float) -> float:
        adapter = Adapter(small_agent(), dataclasses.replace(CONFIG, temperature=temperature))
        rollouts = adapter.roll_out(starts(2), np.array([0, 1]), np.array([5, 6]))
        return float(rollouts.decisions.log_probs.mean())

    assert mean_log_prob(0.01) > mean_log_prob(1.0) + 0.2
