from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch

from suphx.models.nets.candidate_value import CandidateValueConfig, CandidateValueNet
from suphx.training.loop.prediction import DivergedError
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_step import ValueSamples, learn_samples, new_value_optimizer, value_loss

SMALL = CandidateValueConfig(state_columns=7, history_columns=4, candidate_columns=3, units=5, hidden=6, layers=3)


def new_net() -> CandidateValueNet:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return CandidateValueNet(SMALL)


def new_samples() -> ValueSamples:
    rng = np.random.default_rng(1)
    states, history, moves = (rng.integers(0, 2, (8, *shape), np.uint8) for shape in ((7,), (5, 4), (3,)))
    return ValueSamples(states, history, moves, rng.choice(np.array([-1, 1], np.float32), 8))


def test_the_loss_is_that_of_a_numpy_twin() -> None:
    values, returns = np.random.default_rng(0).normal(size=(2, 50)).astype(np.float32)
    expected = np.mean((values.astype(np.float64) - returns) ** 2)
    assert float(value_loss(torch.from_numpy(values), torch.from_numpy(returns))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("max_norm", [40.0, 0.01])
def test_two_steps_are_those_of_a_numpy_twin_of_rmsprop_with_a_clipped_gradient(max_norm: float) -> None:
    config = MonteCarloConfig(learning_rate=1e-3)
    net, samples = new_net(), new_samples()
    optimizer = new_value_optimizer(net, config)
    twin = copy.deepcopy(net)
    squares = [np.zeros(parameter.shape) for parameter in twin.parameters()]
    arrays = [torch.from_numpy(array) for array in (samples.states, samples.history, samples.candidates)]
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
        ({"games": 0}, "games is 0: use at least 1"),
        ({"epsilon": 1.5}, "epsilon is 1.5: use a number from 0 to 1"),
        ({"smoothing": 1.0}, "smoothing is 1.0: use a number from 0 to below 1"),
        ({"last_rate_share": 0.0}, "last_rate_share is 0.0: use a number above 0"),
        ({"decay_rounds": -1}, "decay_rounds is -1: use 0 or more"),
        ({"average_rounds": -1}, "average_rounds is -1: use 0 or more"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0: use a number above 0"),
        ({"max_minutes": -1.0}, "max_minutes is -1.0: use 0 or more"),
        ({"seed": 2_000_000}, "seed is 2000000: use at most 1,000,000"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MonteCarloConfig(**settings)  # type: ignore[arg-type]
