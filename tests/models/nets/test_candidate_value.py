from __future__ import annotations

import pytest
import torch
from torch import Tensor

from suphx.models.nets.candidate_value import CandidateValueConfig, CandidateValueNet

SMALL = CandidateValueConfig(state_columns=7, history_columns=4, candidate_columns=3, units=5, hidden=6, layers=3)


def new_net(config: CandidateValueConfig) -> CandidateValueNet:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return CandidateValueNet(config)


def repeated_form(net: CandidateValueNet, states: Tensor, history: Tensor, candidates: Tensor, rows: Tensor) -> Tensor:
    """Return the values as DouZero computes them: state and history repeated for each candidate."""
    units = net.lstm(history[rows].float())[0][:, -1]
    x = torch.cat([units, states[rows].float(), candidates.float()], dim=1)
    for layer in (net.first, *net.others):
        x = torch.relu(layer(x))
    values: Tensor = net.output(x)[:, 0]
    return values


@pytest.mark.parametrize(("state_columns", "weights"), [(319, 1_457_665), (430, 1_514_497)])
def test_the_nets_have_as_many_weights_as_the_published_ones(state_columns: int, weights: int) -> None:
    with torch.device("meta"):
        net = CandidateValueNet(
            CandidateValueConfig(state_columns=state_columns, history_columns=162, candidate_columns=54)
        )
    assert sum(parameter.numel() for parameter in net.parameters()) == weights


def test_states_computed_once_give_the_values_and_gradients_of_the_repeated_form() -> None:
    net = new_net(SMALL)
    generator = torch.Generator().manual_seed(1)
    states = torch.randint(2, (4, 7), generator=generator, dtype=torch.uint8)
    history = torch.randint(2, (4, 5, 4), generator=generator, dtype=torch.uint8)
    candidates = torch.randint(2, (9, 3), generator=generator, dtype=torch.uint8)
    rows = torch.tensor([0, 0, 0, 1, 2, 2, 3, 3, 3])
    once, repeated = (form(states, history, candidates, rows) for form in (net, lambda *x: repeated_form(net, *x)))
    torch.testing.assert_close(once, repeated)
    assert once.unique().numel() > 4
    weights = list(net.parameters())
    for own, other in zip(
        torch.autograd.grad(once.square().sum(), weights),
        torch.autograd.grad(repeated.square().sum(), weights),
        strict=True,
    ):
        torch.testing.assert_close(own, other)


def test_in_bf16_the_values_are_nearly_the_same_and_still_float32() -> None:
    net = new_net(SMALL)
    ones = [torch.ones(shape, dtype=torch.uint8) for shape in ((2, 7), (2, 5, 4), (3, 3))]
    rows = torch.tensor([0, 1, 1])
    with torch.autocast("cpu", torch.bfloat16):
        values = net(*ones, rows)
    assert values.dtype == torch.float32
    torch.testing.assert_close(values, net(*ones, rows), rtol=0.02, atol=0.02)


def test_a_width_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="hidden of the net is 0: use at least 1"):
        CandidateValueConfig(state_columns=1, history_columns=1, candidate_columns=1, hidden=0)
