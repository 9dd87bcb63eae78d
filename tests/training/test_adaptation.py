from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.evaluation.deal_match import play_branches
from suphx.experience.columns import joined
from suphx.games.game import Agent
from suphx.games.mahjong.planes import observation_bytes
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.selfplay.rollouts.deal_play import SeatDecisions, draw_starts, play_deals
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training import adaptation
from suphx.training.adaptation import (
    Adapted,
    Adapter,
    AdaptiveAgent,
    TrialResults,
    adapt_net,
    play_either_way,
    rollout_advantages,
    trajectory_loss,
    try_hands,
)
from suphx.training.config import AdaptationConfig
from suphx.training.trainer import DivergedError
from tests.selfplay.agents.small_agent import small_agent
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
    monkeypatch.setattr("suphx.training.adaptation.adapt_net", lambda net, *_: net)
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
    parts = joined([trial(config, slice(0, 1)), trial(config, slice(1, 3))])
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
