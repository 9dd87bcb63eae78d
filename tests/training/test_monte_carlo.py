"""Rounds of DouDizhu, what a net learns from them, and the weights that play and are evaluated."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from suphx.experience.observation import F32
from suphx.games.doudizhu.features import encode_rows, move_columns
from suphx.games.doudizhu.selfplay import DouDizhuTables
from suphx.games.doudizhu.table import Rules
from suphx.games.learning import CandidateLayout
from suphx.games.registry import candidate_game
from suphx.models import inference
from suphx.models.candidate_net import CandidateNet
from suphx.models.net_config import CandidateNetConfig
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.weights import Weights
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import (
    RoundLearner,
    RoundSimulator,
    Samples,
    choice_loss,
    learn_samples,
    new_nets,
    new_value_optimizer,
    rate_of_round,
)
from suphx.training.trainer import DivergedError
from tests.games.doudizhu.builders import new_agent

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(games=2, batches=1, average_rounds=3, device="cpu", precision="fp32", threads=1)
IMITATING = replace(CONFIG, games=4, imitates="rule")


@pytest.fixture(scope="module")
def nets() -> PolicySet:
    return new_nets(GAME, 1)


def played(nets: PolicySet, config: MonteCarloConfig, number: int = 0) -> list[Samples]:
    return RoundSimulator(config, GAME.name, Rules(), torch.nn.ModuleList(nets.nets)).samples(number)


def test_the_same_seed_gives_the_same_nets_and_leaves_torch_alone(nets: PolicySet) -> None:
    state = torch.random.get_rng_state()
    assert new_nets(GAME, 1).digest() == nets.digest() != new_nets(GAME, 2).digest()
    assert torch.equal(torch.random.get_rng_state(), state)


def test_the_loss_of_choices_is_that_of_a_numpy_twin() -> None:
    rng = np.random.default_rng(0)
    offsets, chosen = np.array([0, 2, 7, 10]), np.array([1, 3, 9])
    values = rng.normal(size=10)
    costs = []
    for first, last, yes in zip(offsets[:-1], offsets[1:], chosen, strict=True):
        no = [np.log1p(np.exp(values[row])) for row in range(first, last) if row != yes]
        costs.append((np.log1p(np.exp(-values[yes])) + np.mean(no)) / 2)
    assert float(choice_loss(torch.from_numpy(values).float(), offsets, chosen)) == pytest.approx(np.mean(costs), 1e-5)


def test_samples_are_the_decisions_of_the_scripted_agent_that_has_a_choice(nets: PolicySet) -> None:
    for samples in played(nets, IMITATING, 3):
        assert len(samples) > 10
        assert np.diff(samples.offsets).min() > 1
        assert (samples.offsets[:-1] <= samples.chosen).all()
        assert (samples.chosen < samples.offsets[1:]).all()
        assert samples.candidates.shape == (samples.offsets[-1], 54)


def test_a_net_learns_the_moves_of_the_agent(nets: PolicySet) -> None:
    config = replace(IMITATING, games=2)
    samples, net = played(nets, config, 3)[0], new_nets(GAME, 1).nets[0].train()
    optimizer = new_value_optimizer(net, config)
    losses = [learn_samples(net, optimizer, samples, config) for _ in range(70)]
    assert losses[0] == pytest.approx(np.log(2), rel=0.01)  # yes and no count the same
    assert np.mean(losses[-10:]) < 0.7 * losses[0]


def test_moves_are_drawn_and_their_samples_are_what_a_net_says_of_them(nets: PolicySet) -> None:
    config = replace(CONFIG, games=4, algorithm="policy_gradient")
    for net, own in zip(nets.nets, played(nets, config), strict=True):
        assert set(np.unique(own.returns)) <= {-1.0, 1.0}
        part = own.take(np.arange(5))
        counts = np.diff(part.offsets)
        assert counts.min() > 1
        with torch.no_grad():
            arrays = (part.rows, part.candidates, np.repeat(np.arange(5), counts))
            values = net(*(torch.from_numpy(array) for array in arrays))
        logits = torch.split(values, counts.tolist())
        places = part.chosen - part.offsets[:-1]
        expected = [row.log_softmax(0)[place].item() for row, place in zip(logits, places, strict=True)]
        assert part.log_probs.tolist() == pytest.approx(expected, abs=1e-4)


def test_without_epsilon_a_round_is_the_games_of_the_agent_and_with_it_others(nets: PolicySet) -> None:
    config = replace(CONFIG, games=30, epsilon=0.0)
    samples, again = (played(nets, config) for _ in range(2))
    tables, player = DouDizhuTables(30, Rules()), new_agent(nets)
    tables.begin(np.arange(30), range(first := 2**40 * (1 + config.seed), first + 30))
    while (waiting := tables.waiting()).size:
        tables.advance(waiting, player.act(tables, waiting))
    assert sum(map(len, samples)) == tables.tables["num_moves"].sum()
    for own, other in zip(samples, again, strict=True):
        assert (own.rows == other.rows).all()
        assert set(own.returns.tolist()) == {-1, 1}
        assert own.offsets.tolist() == list(range(len(own) + 1)), "only the moves that were made"
    curious = played(nets, replace(config, epsilon=0.5))
    assert any(len(own) != len(other) for own, other in zip(samples, curious, strict=True))


def test_each_move_has_the_highest_value_of_its_table(nets: PolicySet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "_MOST_CANDIDATES", 100)  # several parts
    player, columns = new_agent(nets), move_columns(Rules().load_moves())
    tables, counts = DouDizhuTables(2, Rules()), list[int]()
    tables.begin(np.arange(2), range(2))
    while (waiting := tables.waiting()).size:
        offsets, legal = tables.legal(waiting)
        values, moves = player.candidate_values(tables, waiting), player.act(tables, waiting)
        for row, (first, end) in enumerate(pairwise(offsets.tolist())):
            seat = int(tables.actors(waiting)[row])
            rows = torch.from_numpy(encode_rows(tables.tables, tables.moves, waiting[[row]], seat))
            candidates, own = torch.from_numpy(columns[legal[first:end]]), values[first:end]
            with torch.no_grad():
                expected = nets.nets[seat](rows, candidates, torch.zeros(end - first, dtype=torch.int64)).numpy()
            if end - first > 1:
                np.testing.assert_allclose(own, expected, atol=1e-5)
                assert moves[row] == legal[first + own.argmax()]
            else:
                assert np.isnan(own).all()
            counts.append(end - first)
        tables.advance(waiting, moves)
    assert min(counts) == 1
    assert max(counts) > 20


LAYOUT = CandidateLayout(name="small", version=1, state=7, history=(5, 4), candidate=3)
SMALL = CandidateNetConfig(units=5, hidden=6, layers=3)


def new_net() -> CandidateNet:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return CandidateNet(GAME.decisions[0], LAYOUT, SMALL)


def new_samples() -> Samples:
    rng = np.random.default_rng(1)
    rows, moves = (rng.integers(0, 2, (8, columns), np.uint8) for columns in (27, 3))
    returns = rng.choice(np.array([-1, 1], np.float32), 8)
    return Samples(rows, moves, np.arange(9), np.arange(8), np.zeros(8, np.float32), returns)


@pytest.mark.parametrize("max_norm", [40.0, 0.01])
def test_two_steps_are_those_of_a_numpy_twin_of_rmsprop_with_a_clipped_gradient(max_norm: float) -> None:
    config = MonteCarloConfig(learning_rate=1e-3, max_grad_norm=max_norm)
    net, samples = new_net(), new_samples()
    optimizer = new_value_optimizer(net, config)
    twin = copy.deepcopy(net)
    squares = [np.zeros(parameter.shape) for parameter in twin.parameters()]
    arrays = [torch.from_numpy(array) for array in (samples.rows, samples.candidates)]
    for _ in range(2):
        loss = (twin(*arrays, torch.arange(8)) - torch.from_numpy(samples.returns)).square().sum() / 8
        gradients = [g.numpy().astype(np.float64) for g in torch.autograd.grad(loss, list(twin.parameters()))]
        factor = min(1.0, max_norm / (math.sqrt(sum((g**2).sum() for g in gradients)) + 1e-6))
        for parameter, gradient, square in zip(twin.parameters(), gradients, squares, strict=True):
            square[:] = 0.99 * square + 0.01 * (factor * gradient) ** 2
            change = 1e-3 * factor * gradient / (np.sqrt(square) + 1e-5)
            parameter.data -= torch.from_numpy(change).float()
        assert learn_samples(net, optimizer, samples, config) == pytest.approx(float(loss.detach()), rel=1e-5)
    for own, other in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-6)


def test_a_step_changes_no_other_net() -> None:
    nets = torch.nn.ModuleList([new_net(), new_net()])
    optimizer = new_value_optimizer(nets, CONFIG)
    learn_samples(nets[0], optimizer, new_samples(), CONFIG)
    other = [parameter.detach().clone() for parameter in nets[1].parameters()]
    learn_samples(nets[0], optimizer, new_samples(), CONFIG)
    assert all(torch.equal(now, then) for now, then in zip(nets[1].parameters(), other, strict=True))
    assert not any(torch.equal(own, then) for own, then in zip(nets[0].parameters(), other, strict=True))


def test_a_loss_that_is_not_finite_stops_the_training() -> None:
    net = new_net()
    net.output.bias.data.fill_(math.inf)
    with pytest.raises(DivergedError, match=r"lower learning_rate \(now 0.0001\)"):
        learn_samples(net, new_value_optimizer(net, CONFIG), new_samples(), CONFIG)


def learn(learner: RoundLearner, config: MonteCarloConfig, count: int) -> list[dict[str, F32]]:
    """Learn from ``count`` rounds that the nets play; return the weights after each."""
    player = RoundSimulator(config, GAME.name, Rules(), learner.nets)
    after = []
    for _ in range(count):
        learner.learn(player.samples(learner.num_updates))
        after.append(newest(learner))
    return after


def flat(weights: Weights) -> dict[str, F32]:
    return {f"{kind}.{name}": own for kind, net in weights.items() for name, own in net.items()}


def newest(learner: RoundLearner) -> dict[str, F32]:
    return flat(learner.weights())


def averaged(learner: RoundLearner) -> dict[str, F32]:
    return flat(learner.match_weights())


def assert_equal(found: dict[str, F32], expected: dict[str, F32]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=1e-6)


def test_averaged_weights_are_the_mean_of_the_first_rounds_then_move_by_a_fixed_share() -> None:
    learner = RoundLearner(CONFIG, GAME.name)
    assert_equal(averaged(learner), newest(learner))
    first = learn(learner, CONFIG, 3)
    mean = {name: np.mean([weights[name] for weights in first], axis=0) for name in first[0]}
    assert any(np.abs(mean[name] - first[-1][name]).max() > 1e-4 for name in mean)
    assert_equal(averaged(learner), mean)
    (fourth,) = learn(learner, CONFIG, 1)
    assert_equal(averaged(learner), {name: mean[name] + (fourth[name] - mean[name]) / 3 for name in mean})
    assert_equal(newest(learner), fourth)


def test_the_learning_rate_falls_linearly_and_stays() -> None:
    config = replace(CONFIG, learning_rate=1e-3, decay_rounds=4, last_rate_share=0.2)
    rates = [rate_of_round(config, number) for number in (0, 1, 2, 4, 5, 100)]
    assert rates == pytest.approx([1e-3, 8e-4, 6e-4, 2e-4, 2e-4, 2e-4])
    assert rate_of_round(replace(config, decay_rounds=0), 100) == 1e-3
    learner = RoundLearner(config, GAME.name)
    learn(learner, config, 1)
    resumed = RoundLearner(config, GAME.name)
    resumed.restore(*learner.state())
    (after,), (expected,) = learn(resumed, config, 1), learn(learner, config, 1)
    assert resumed.optimizer.param_groups[0]["lr"] == pytest.approx(8e-4), "also after a resume"
    assert_equal(after, expected)


@pytest.mark.parametrize(("before", "after"), [(3, 0), (0, 3)])
def test_a_training_may_resume_with_averages_or_without(before: int, after: int) -> None:
    first = RoundLearner(replace(CONFIG, average_rounds=before), GAME.name)
    learn(first, CONFIG, 2)
    resumed = RoundLearner(replace(CONFIG, average_rounds=after), GAME.name)
    resumed.restore(*first.state())
    assert_equal(averaged(resumed), newest(first))
    assert not [name for name in resumed.state()[0] if name.endswith(".average")]
    learn(resumed, CONFIG, 1)
    assert bool([name for name in resumed.state()[0] if name.endswith(".average")]) == bool(after)
