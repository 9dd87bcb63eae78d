from __future__ import annotations

import pytest
import torch
from torch import Tensor

from suphx.games.learning import CandidateLayout, DecisionKind
from suphx.games.registry import find_decisions, find_learning
from suphx.models.candidate_net import CandidateNet
from suphx.models.net_config import CandidateNetConfig

KINDS = find_decisions("doudizhu")
LAYOUT = CandidateLayout(name="small", version=1, state=7, history=(5, 4), candidate=3)


def new_net() -> CandidateNet:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return CandidateNet(KINDS[0], LAYOUT, CandidateNetConfig(units=5, hidden=6, layers=3))


def repeated_form(net: CandidateNet, rows: Tensor, candidates: Tensor, row_of: Tensor) -> Tensor:
    """Return the values as DouZero computes them: state and history repeated for each candidate."""
    states, history = rows[row_of, :7], rows[row_of, 7:].view(-1, 5, 4)
    units = net.lstm(history.float())[0][:, -1]
    x = torch.cat([units, states.float(), candidates.float()], dim=1)
    for layer in (net.first, *net.others):
        x = torch.relu(layer(x))
    values: Tensor = net.output(x)[:, 0]
    return values


@pytest.mark.parametrize(("kind", "weights"), [(KINDS[0], 1_457_665), (KINDS[1], 1_514_497)])
def test_the_nets_have_as_many_weights_as_the_published_ones(kind: DecisionKind, weights: int) -> None:
    layout = find_learning("doudizhu").layout("douzero", kind.number)
    assert isinstance(layout, CandidateLayout)
    with torch.device("meta"):
        net = CandidateNet(kind, layout, CandidateNetConfig())
    assert sum(parameter.numel() for parameter in net.parameters()) == weights


def test_states_computed_once_give_the_values_and_gradients_of_the_repeated_form() -> None:
    net = new_net()
    generator = torch.Generator().manual_seed(1)
    seen = torch.randint(2, (4, 27), generator=generator, dtype=torch.uint8)
    candidates = torch.randint(2, (9, 3), generator=generator, dtype=torch.uint8)
    rows = torch.tensor([0, 0, 0, 1, 2, 2, 3, 3, 3])
    once, repeated = (form(seen, candidates, rows) for form in (net, lambda *x: repeated_form(net, *x)))
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
    net = new_net()
    ones = [torch.ones(shape, dtype=torch.uint8) for shape in ((2, 27), (3, 3))]
    rows = torch.tensor([0, 1, 1])
    with torch.autocast("cpu", torch.bfloat16):
        values = net(*ones, rows)
    assert values.dtype == torch.float32
    torch.testing.assert_close(values, net(*ones, rows), rtol=0.02, atol=0.02)
