from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from suphx.games.doudizhu.table import Rules
from suphx.games.learning import CandidateLayout
from suphx.games.registry import candidate_game
from suphx.models.candidate_net import CandidateNet
from suphx.models.net_config import CandidateNetConfig
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import (
    ChoiceSamples,
    RoundPlayer,
    ValueSamples,
    choice_loss,
    learn_samples,
    new_value_optimizer,
)
from suphx.training.trainer import DivergedError
from suphx.training.value_nets import move_features, new_nets

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(games=4, batches=1, imitates="rule", device="cpu", precision="fp32")


def played(config: MonteCarloConfig = CONFIG) -> list[ChoiceSamples]:
    nets = new_nets(GAME, config.seed)
    samples = RoundPlayer(config, GAME, Rules(), nets).play(3)
    found = [part for part in samples if isinstance(part, ChoiceSamples)]
    assert len(found) == len(GAME.seat_names)
    return found


def test_the_loss_of_choices_is_that_of_a_numpy_twin() -> None:
    rng = np.random.default_rng(0)
    offsets, chosen = np.array([0, 2, 7, 10]), np.array([1, 3, 9])
    values = rng.normal(size=10)
    costs = []
    for first, last, yes in zip(offsets[:-1], offsets[1:], chosen, strict=True):
        no = [np.log1p(np.exp(values[row])) for row in range(first, last) if row != yes]
        costs.append((np.log1p(np.exp(-values[yes])) + np.mean(no)) / 2)
    assert float(choice_loss(torch.from_numpy(values).float(), offsets, chosen)) == pytest.approx(np.mean(costs), 1e-5)


def test_samples_are_the_decisions_of_the_scripted_agent_that_has_a_choice() -> None:
    columns = move_features(GAME, Rules())
    for samples in played():
        counts = np.diff(samples.offsets)
        assert len(samples) > 10
        assert counts.min() > 1
        assert (samples.offsets[:-1] <= samples.chosen).all()
        assert (samples.chosen < samples.offsets[1:]).all()
        assert samples.candidates.shape == (samples.offsets[-1], columns.shape[1])


def test_a_net_learns_the_moves_of_the_agent() -> None:
    samples, net = played(replace(CONFIG, games=2))[0], new_nets(GAME, 1)[0]
    optimizer = new_value_optimizer(net, CONFIG)
    losses = [learn_samples(net, optimizer, samples, CONFIG.max_grad_norm) for _ in range(70)]
    assert losses[0] == pytest.approx(np.log(2), rel=0.01)  # yes and no count the same
    assert np.mean(losses[-10:]) < 0.7 * losses[0]


LAYOUT = CandidateLayout(name="small", version=1, state=7, history=(5, 4), candidate=3)
SMALL = CandidateNetConfig(units=5, hidden=6, layers=3)


def new_net() -> CandidateNet:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return CandidateNet(GAME.decisions[0], LAYOUT, SMALL)


def new_samples() -> ValueSamples:
    rng = np.random.default_rng(1)
    rows, moves = (rng.integers(0, 2, (8, columns), np.uint8) for columns in (27, 3))
    return ValueSamples(rows, moves, rng.choice(np.array([-1, 1], np.float32), 8))


@pytest.mark.parametrize("max_norm", [40.0, 0.01])
def test_two_steps_are_those_of_a_numpy_twin_of_rmsprop_with_a_clipped_gradient(max_norm: float) -> None:
    config = MonteCarloConfig(learning_rate=1e-3)
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
        assert learn_samples(net, optimizer, samples, max_norm) == pytest.approx(float(loss.detach()), rel=1e-5)
    for own, other in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-6)


def test_a_step_in_bf16_is_nearly_the_same_and_weights_stay_float32() -> None:
    exact, rough = new_net(), new_net()
    losses = [
        learn_samples(net, new_value_optimizer(net, MonteCarloConfig()), new_samples(), 40.0, is_bf16=is_bf16)
        for net, is_bf16 in ((exact, False), (rough, True))
    ]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)
    assert {parameter.dtype for parameter in rough.parameters()} == {torch.float32}
    assert not torch.equal(rough.output.weight, new_net().output.weight)


def test_a_step_changes_no_other_net() -> None:
    nets = torch.nn.ModuleList([new_net(), new_net()])
    optimizer = new_value_optimizer(nets, MonteCarloConfig())
    learn_samples(nets[0], optimizer, new_samples(), 40.0)
    other = [parameter.detach().clone() for parameter in nets[1].parameters()]
    learn_samples(nets[0], optimizer, new_samples(), 40.0)
    assert all(torch.equal(now, then) for now, then in zip(nets[1].parameters(), other, strict=True))
    assert not any(torch.equal(own, then) for own, then in zip(nets[0].parameters(), other, strict=True))


def test_a_loss_that_is_not_finite_stops_the_training() -> None:
    net = new_net()
    net.output.bias.data.fill_(math.inf)
    with pytest.raises(DivergedError, match=r"lower learning_rate \(now 0.0001\)"):
        learn_samples(net, new_value_optimizer(net, MonteCarloConfig(learning_rate=1e-4)), new_samples(), 40.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"games": 0}, "games is 0: use 1 to 65,536"),
        ({"epsilon": 1.5}, "epsilon is 1.5: use 0 to 1"),
        ({"algorithm": "dqn"}, "algorithm is 'dqn': use policy_gradient or monte_carlo"),
        ({"last_rate_share": 0.0}, "last_rate_share is 0.0: use more than 0, at most 1"),
        ({"decay_rounds": -1}, "decay_rounds is -1: use 0 to 1,000,000,000"),
        ({"average_rounds": -1}, "average_rounds is -1: use 0 to 1,000,000,000"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0: use more than 0, less than 1"),
        ({"max_minutes": -1.0}, "max_minutes is -1.0: use 0 to 1,000,000"),
        ({"seed": 2_000_000}, "seed is 2000000: use 0 to 1,000,000"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MonteCarloConfig(**settings)  # type: ignore[arg-type]
