from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters

from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD, KONG_HEAD, PONG_HEAD
from suphx.models.inference import CompiledNet, compiled, inference_flops, training_flops
from suphx.models.net_config import Grid, NetConfig
from suphx.models.policy import PolicyNet
from tests.models.random_nets import NUM_PLANES, plain_logits, random_net, random_rows


def net_of(head: int, num_planes: int, config: NetConfig) -> PolicyNet:
    with torch.device("meta"):
        return PolicyNet(DECISIONS[head], num_planes, config)


TINY = NetConfig(size="tiny")
WITH_ORACLE = NetConfig(size="tiny", num_oracle_planes=10)
GRID_NET = NetConfig(size="tiny", grid="4x9")


@pytest.mark.parametrize(
    ("head", "num_planes", "config", "multiplications"),
    [
        (DISCARD_HEAD, 838, NetConfig(size="paper"), 34 * (3 * 838 * 256 + 50 * 2 * 3 * 256 * 256 + 256)),
        (CHOW_HEAD, 958, WITH_ORACLE, 34 * 3 * (968 * 32 + 3 * 2 * 32 * 32 + 32 * 8) + 34 * 8 * 64 + 64 * 32 + 32 * 2),
        (DISCARD_HEAD, 838, GRID_NET, 36 * 9 * (838 * 32 + 3 * 2 * 32 * 32) + 34 * 32),
    ],
    ids=["paper", "fully connected layers once a row", "36 cells and 9 taps"],
)
def test_operations_are_those_of_all_layers(
    head: int, num_planes: int, config: NetConfig, multiplications: int
) -> None:
    assert inference_flops(net_of(head, num_planes, config)) == 2 * multiplications


def test_training_takes_two_more_passes_but_no_gradient_of_the_planes() -> None:
    net = net_of(DISCARD_HEAD, 838, TINY)
    assert training_flops(net) == 3 * inference_flops(net) - 2 * 34 * 3 * 838 * 32


CPU = torch.device("cpu")


def test_a_net_that_is_not_compiled_stays_itself() -> None:
    net = random_net()
    assert compiled(net, "auto", CPU) is net


@pytest.mark.slow
def test_blocks_are_compiled_once_for_all_nets() -> None:
    torch._dynamo.reset()
    counters.clear()
    rows = random_rows(8)
    with torch.inference_mode():
        for head in (DISCARD_HEAD, CHOW_HEAD, PONG_HEAD, KONG_HEAD):
            net = random_net(head)
            torch.testing.assert_close(
                compiled(net, "default", CPU)(rows), plain_logits(net, rows), rtol=1e-4, atol=1e-4
            )
    # One stem, one block, the output of Figure 4 and that of Figure 5.
    assert counters["stats"]["unique_graphs"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("grid", ["34x1", "4x9"])
def test_a_compiled_net_learns_what_the_net_itself_would(grid: Grid) -> None:
    torch.manual_seed(1)
    net, twin = (PolicyNet(DECISIONS[CHOW_HEAD], NUM_PLANES, NetConfig(size="tiny", grid=grid)) for _ in range(2))
    for norm in (module for module in net.modules() if isinstance(module, nn.BatchNorm1d)):
        nn.init.normal_(norm.weight)  # the blocks start at zero, where most gradients vanish
    twin.load_state_dict(net.state_dict())
    rows = random_rows(16)
    part_by_part = compiled(net, "default", CPU)
    assert isinstance(part_by_part, CompiledNet)
    for module in (net, twin):
        module.train()
    part_by_part(rows).square().sum().backward()
    twin(rows).square().sum().backward()
    for (name, ours), theirs in zip(net.named_parameters(), twin.parameters(), strict=True):
        assert theirs.grad is not None
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-4 * float(theirs.grad.abs().max()))
        assert theirs.grad.any(), name
    for statistics, wanted in zip(net.buffers(), twin.buffers(), strict=True):
        torch.testing.assert_close(statistics, wanted)
