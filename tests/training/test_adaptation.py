from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.games.mahjong.planes import observation_bytes
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.selfplay.rollouts.deal_play import SeatDecisions
from suphx.training import adaptation
from suphx.training.adaptation import adapt_net, rollout_advantages, trajectory_loss
from suphx.training.config import AdaptationConfig
from suphx.training.trainer import DivergedError
from tests.training.twins import adaptation_twin as twin

NUM_PLANES = 20


class Trajectories:
    """Random decisions of some trajectories over ``k`` actions, of which some are illegal."""

    def __init__(self, trajectories: list[int], k: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        n = len(trajectories)
        self.logits = rng.normal(size=(n, k))
        self.masks = (rng.random((n, k)) < 0.6).astype(np.float64)
        self.actions = rng.integers(k, size=n).tolist()
        self.masks[np.arange(n), self.actions] = 1
        self.behaviour = np.log(rng.uniform(0.1, 1.0, size=n))
        self.trajectories = trajectories
        self.advantages = rng.normal(size=max(trajectories) + 1)
        """Of trajectories."""

    def gradient(self, max_ratio: float = 0.0) -> np.ndarray:
        """Return what a step of gradient descent would add to the logits."""
        logits = torch.from_numpy(self.logits).requires_grad_()
        loss = trajectory_loss(
            logits,
            torch.from_numpy(self.masks),
            torch.tensor(self.actions),
            torch.from_numpy(self.behaviour),
            torch.tensor(self.trajectories),
            torch.from_numpy(self.advantages[self.trajectories]),
            num_trajectories=len(self.advantages),
            max_ratio=max_ratio,
        )
        torch.autograd.backward(loss)
        assert logits.grad is not None
        return -logits.grad.numpy()

    def twin_gradient(self) -> np.ndarray:
        return twin.gradient(self.logits, self.masks, self.actions, self.behaviour, self.trajectories, self.advantages)


@pytest.mark.parametrize("trajectories", [[0, 0, 0, 1, 2, 2], [1, 0, 2, 1, 0, 3], [0], [0, 0, 3, 3]])
def test_the_gradient_is_that_of_equation_6(trajectories: list[int]) -> None:
    batch = Trajectories(trajectories, 5)
    np.testing.assert_allclose(batch.gradient(), batch.twin_gradient(), atol=1e-5)


def test_a_large_ratio_of_a_whole_trajectory_is_cut() -> None:
    batch = Trajectories([0, 0], 3)
    batch.behaviour -= 3.0  # each decision is about e^3 times as likely now
    ones = np.ones(1)
    ratio = twin.objective(batch.logits, batch.masks, batch.actions, batch.behaviour, [0, 0], ones)
    assert ratio > 20
    np.testing.assert_allclose(batch.gradient(max_ratio=2.0), batch.gradient() * 2 / ratio, rtol=1e-5)
    np.testing.assert_allclose(batch.gradient(max_ratio=2 * ratio), batch.gradient())


def test_advantages_leave_off_the_mean_of_the_others_of_a_deal() -> None:
    rewards = np.random.default_rng(1).normal(size=24).astype(np.float32)
    expected = twin.advantages(rewards.astype(np.float64), 8)
    np.testing.assert_allclose(rollout_advantages(rewards), expected, atol=1e-6)


def new_net(seed: int = 0) -> PolicyNet:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = PolicyNet(DECISIONS[DISCARD_HEAD], NUM_PLANES, NetConfig(channels=4, num_blocks=2, normalization="none"))
    return net.eval().requires_grad_(False)


def decisions_of(net: PolicyNet, num_trajectories: int, length: int, temperature: float = 1.0) -> SeatDecisions:
    """Random rows, and discards sampled by ``net`` among kinds 0-9."""
    rng = np.random.default_rng(5)
    n = num_trajectories * length
    rows = rng.integers(256, size=(n, observation_bytes(NUM_PLANES)), dtype=np.uint8)
    masks = np.zeros((n, 34), np.uint8)
    masks[:, :10] = 1
    log_probs = torch.log_softmax(net(torch.from_numpy(rows))[:, :10] / temperature, dim=1)
    actions = torch.multinomial(log_probs.exp(), 1, generator=torch.Generator().manual_seed(1))
    taken = log_probs.gather(1, actions).squeeze(1).numpy()
    deals = np.repeat(np.arange(num_trajectories), length)
    return SeatDecisions(rows, masks, actions.squeeze(1).numpy(), taken, deals)


def test_what_paid_becomes_more_probable_and_the_given_net_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adaptation, "BATCH_ROLLOUTS", 8)  # more steps
    net = new_net()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    decisions = decisions_of(net, 200, 3)
    paying = decisions.actions < 5
    rewards = np.bincount(decisions.deals, weights=paying * 1000.0).astype(np.float32)
    config = AdaptationConfig(num_rollouts=200, learning_rate=3e-2)
    adapted = adapt_net(net, decisions, rewards, config)

    def share(some: PolicyNet) -> float:
        logits = some(torch.from_numpy(decisions.planes))[:, :10]
        return float(logits.softmax(dim=1)[:, :5].sum(dim=1).mean())

    assert share(adapted) > share(net) + 0.05
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    again = adapt_net(net, decisions, rewards, config)
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in adapted.state_dict().items())


def mean_kl(before: PolicyNet, after: PolicyNet, decisions: SeatDecisions, temperature: float) -> float:
    rows = torch.from_numpy(decisions.planes)
    p, q = (net(rows)[:, :10].div(temperature).double().log_softmax(dim=1) for net in (before, after))
    return float((p.exp() * (p - q)).sum(dim=1).mean())


@pytest.mark.parametrize(("temperature", "kl"), [(1.0, 0.02), (0.6, 0.02), (1.0, 0.1)])
def test_a_step_ends_at_the_wanted_distance_in_the_direction_that_pays(
    temperature: float, kl: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = new_net()
    decisions = decisions_of(net, 200, 3, temperature)
    rewards = np.bincount(decisions.deals, weights=(decisions.actions < 5) * 1000.0).astype(np.float32)
    config = AdaptationConfig(num_rollouts=200, kl_target=kl, temperature=temperature)
    adapted = adapt_net(net, decisions, rewards, config)
    assert mean_kl(net, adapted, decisions, temperature) == pytest.approx(kl, rel=0.15)
    rows = torch.from_numpy(decisions.planes)
    shares = [some(rows)[:, :10].div(temperature).softmax(dim=1)[:, :5].sum(dim=1).mean() for some in (net, adapted)]
    assert shares[1] > shares[0] + 0.01
    monkeypatch.setattr(adaptation, "BATCH_ROLLOUTS", 64)
    parts = adapt_net(net, decisions, rewards, config)
    for name, value in adapted.state_dict().items():
        torch.testing.assert_close(parts.state_dict()[name], value, atol=1e-4, rtol=1e-2)


@pytest.mark.parametrize("kl_target", [0.0, 0.02])
@pytest.mark.parametrize("reward", [0.0, 8000.0])
def test_rewards_that_are_all_alike_change_nothing(reward: float, kl_target: float) -> None:
    net = new_net()
    config = AdaptationConfig(num_rollouts=8, kl_target=kl_target)
    adapted = adapt_net(net, decisions_of(net, 8, 2), np.full(8, reward, np.float32), config)
    assert all(torch.equal(value, adapted.state_dict()[name]) for name, value in net.state_dict().items())


def test_a_net_that_is_no_longer_finite_is_an_error() -> None:
    rewards = np.full(8, np.nan, np.float32)
    with pytest.raises(DivergedError, match="lower learning_rate"):
        adapt_net(new_net(), decisions_of(new_net(), 8, 2), rewards, AdaptationConfig(num_rollouts=8))


def test_a_net_with_batch_norm_is_refused() -> None:
    net = PolicyNet(DECISIONS[DISCARD_HEAD], NUM_PLANES, NetConfig(channels=4, num_blocks=1))
    with pytest.raises(ValueError, match="fold"):
        adapt_net(net, decisions_of(new_net(), 8, 2), np.zeros(8, np.float32), AdaptationConfig(num_rollouts=8))
