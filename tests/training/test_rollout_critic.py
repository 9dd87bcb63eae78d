from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import Records
from suphx.models.policy import CriticNet
from suphx.selfplay.rollouts.deal_play import SeatDecisions, draw_starts
from suphx.training import adaptation
from suphx.training.adaptation import REWARD_UNIT, adapt_net, critic_advantages, train_rollout_critic
from suphx.training.adapter import Adapter
from suphx.training.config import AdaptationConfig
from tests.selfplay.agents.small_agent import small_agent
from tests.training.twins import advantage_twin as twin

CONFIG = AdaptationConfig(num_rollouts=16, baseline="critic", kl_target=0.02, critic_deals=24)


def rollouts(count: int = 16) -> tuple[SeatDecisions, np.ndarray]:
    """Decisions of rollouts, those of a trajectory one after another, and the rewards of the trajectories."""
    config = AdaptationConfig(num_rollouts=count)
    starts = draw_starts(ScriptedAgent("tsumogiri"), 1, seed=0)
    played = Adapter(small_agent(), config).roll_out(starts, np.array([0]), np.array([5]))
    order = np.argsort(played.decisions.deals, kind="stable")
    return played.decisions.take(order), np.linspace(-8000, 8000, count, dtype=np.float32)


def random_critic(seed: int = 0) -> CriticNet:
    agent = small_agent()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        num_planes = find_encoder(agent.encoder).layout(DISCARD_HEAD).num_planes
        critic = CriticNet(DECISIONS[DISCARD_HEAD], num_planes, agent.discard_net.config)
        for parameter in critic.net.output.parameters():
            torch.nn.init.normal_(parameter)
    return critic.eval().requires_grad_(False)


@pytest.mark.parametrize("decay", [1.0, 0.8, 0.0])
def test_advantages_are_those_of_the_twin(decay: float) -> None:
    decisions, rewards = rollouts()
    critic = random_critic()
    values = critic(torch.from_numpy(decisions.planes)).double().numpy()
    assert values.std() > 0.01
    found = critic_advantages(critic, decisions, rewards, decay)
    own = rewards[decisions.deals].astype(np.float64) / REWARD_UNIT
    is_last = [*(decisions.deals[1:] != decisions.deals[:-1]).tolist(), True]
    expected = twin.advantages(values, own, is_last, np.ones(len(values)), decay)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_critic_learns_what_deals_bring_and_follows_from_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptation, "_CRITIC_BATCH", 8)  # so that few deals are many steps

    def constant(before: Records, after: Records) -> np.ndarray:
        return np.full((len(before), 4), 5000.0, np.float32)

    agent, config = small_agent(), dataclasses.replace(CONFIG, critic_deals=200)
    first, second = (train_rollout_critic(agent, config, seed=3, reward=constant) for _ in range(2))
    assert all(torch.equal(value, second.state_dict()[name]) for name, value in first.state_dict().items())
    assert not any(parameter.requires_grad for parameter in first.parameters())
    decisions, _ = rollouts()
    values = first(torch.from_numpy(decisions.planes)).numpy()  # it begins at 0, and every deal has brought 1 unit
    np.testing.assert_allclose(values, 1.0, atol=0.2)


def test_adapting_with_a_critic_needs_one() -> None:
    decisions, rewards = rollouts()
    with pytest.raises(ValueError, match="there is no critic"):
        adapt_net(small_agent().discard_net, decisions, rewards, CONFIG)
    with pytest.raises(ValueError, match="there is no critic"):
        Adapter(small_agent(), CONFIG)


def test_the_critic_decides_where_the_net_goes_and_the_order_of_decisions_does_not() -> None:
    decisions, rewards = rollouts()
    net = small_agent().discard_net
    plain = adapt_net(net, decisions, rewards, dataclasses.replace(CONFIG, baseline="deal")).state_dict()
    critic = random_critic()
    ours = adapt_net(net, decisions, rewards, dataclasses.replace(CONFIG, gae_lambda=0.5), critic).state_dict()
    assert any(not torch.equal(value, plain[name]) for name, value in ours.items())
    turns = np.concatenate([np.arange(np.sum(decisions.deals == deal)) for deal in range(16)])
    mixed = decisions.take(np.lexsort((decisions.deals, turns)))  # turn by turn, as they are played
    assert not np.array_equal(mixed.deals, decisions.deals)
    again = adapt_net(net, mixed, rewards, dataclasses.replace(CONFIG, gae_lambda=0.5), critic).state_dict()
    assert all(torch.equal(value, again[name]) for name, value in ours.items())
