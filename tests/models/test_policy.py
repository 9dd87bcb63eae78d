from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

from suphx.games.learning import DecisionKind
from suphx.games.mahjong.planes import observation_bytes
from suphx.games.registry import find_decisions
from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD, RIICHI_HEAD
from suphx.models.net_config import NetConfig, Normalization
from suphx.models.packed import unpack_observations
from suphx.models.policy import (
    CallHead,
    ColumnHead,
    ConvNorm,
    CriticNet,
    PolicyNet,
    ResidualBlock,
    add_oracle_planes,
    arrange,
    as_columns,
    convolve,
    drop_oracle_planes,
    fold_batch_norm,
    num_weights,
)

TINY_CRITIC = NetConfig(size="tiny", channels=4, num_blocks=1)


def test_a_new_critic_expects_nothing() -> None:
    rows = torch.randint(256, (5, observation_bytes(12)), dtype=torch.uint8)
    for head in (DISCARD_HEAD, CHOW_HEAD):
        for config in (TINY_CRITIC, replace(TINY_CRITIC, grid="4x9")):
            assert CriticNet(DECISIONS[head], 12, config)(rows).tolist() == [0.0] * 5


def test_it_learns_which_rows_pay() -> None:
    torch.manual_seed(1)
    rows = torch.randint(256, (64, observation_bytes(12)), dtype=torch.uint8)
    rewards = (rows[:, 0] & 1).float()
    critic = CriticNet(DECISIONS[DISCARD_HEAD], 12, TINY_CRITIC)
    optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    for _ in range(150):
        loss = (critic(rows) - rewards).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05


TINY = NetConfig(size="tiny")
GRID = NetConfig(size="tiny", grid="4x9", choice_head="connected")


LINE = NetConfig(size="tiny", choice_head="connected")
GRID_COLUMNS = NetConfig(size="tiny", grid="4x9")


@pytest.mark.parametrize(
    ("config", "choices"), [(TINY, ColumnHead), (LINE, CallHead), (GRID, CallHead), (GRID_COLUMNS, ColumnHead)]
)
@pytest.mark.parametrize("head", range(5))
def test_each_head_has_the_outputs_of_table_2(head: int, config: NetConfig, choices: type) -> None:
    net = PolicyNet(DECISIONS[head], 7, config)
    assert isinstance(net.output, choices if head == DISCARD_HEAD else CallHead)
    assert net(torch.rand(3, 7, 34)).shape == (3, DECISIONS[head].num_outputs)


PAPER = NetConfig(size="paper")
# Of a published bot of Chinese Official mahjong: its 237 planes are stored as 264.
BOT = NetConfig(channels=128, num_blocks=18, head_channels=32, head_hidden_1=512, head_hidden_2=256, grid="4x9",
                choice_head="connected")  # fmt: skip
BOT_CONVOLUTIONS = 9 * 264 * 128 + 36 * 9 * 128 * 128 + 128 * 32


@pytest.mark.parametrize(
    ("kind", "num_planes", "config", "matrices", "millions"),
    [
        (DECISIONS[DISCARD_HEAD], 838, PAPER, 643_584 + 50 * 2 * 196_608 + 256, 20.3),
        (DECISIONS[CHOW_HEAD], 958, PAPER, 735_744 + 50 * 2 * 196_608 + 24_576 + 1_114_112 + 262_144 + 512, 21.8),
        *((kind, 264, BOT, BOT_CONVOLUTIONS + 36 * 32 * 512 + 512 * 256 + 256 * kind.num_outputs, 6.35)
          for kind in find_decisions("mcr")),
    ],
)  # fmt: skip
def test_published_nets_have_as_many_weights(
    kind: DecisionKind, num_planes: int, config: NetConfig, matrices: int, millions: float
) -> None:
    """The paper's figures leave out biases and normalisation."""
    with torch.device("meta"):
        net = PolicyNet(kind, num_planes, config)
    found = sum(parameter.numel() for parameter in net.parameters() if parameter.ndim > 1)
    assert found == matrices
    assert found / 1e6 == pytest.approx(millions, abs=0.06)
    assert found < num_weights(net) < 1.01 * found


def test_what_a_net_cannot_be_or_see_is_refused() -> None:
    with pytest.raises(ValueError, match='9 columns of planes are not a grid of 4x9: use grid = "34x1" for riichi'):
        PolicyNet(DECISIONS[0], 7, GRID, 9)
    with pytest.raises(ValueError, match="the decision landlord has candidates: use a CandidateNet"):
        PolicyNet(find_decisions("doudizhu")[0], 7, TINY)
    rows = random_rows(2, 9)
    with pytest.raises(ValueError, match="this discard net has 5 oracle planes: give it as many, or drop_oracle"):
        PolicyNet(DECISIONS[DISCARD_HEAD], 9, NetConfig(size="tiny", num_oracle_planes=5))(rows)
    with pytest.raises(ValueError, match="this discard net has no oracle planes"):
        PolicyNet(DECISIONS[DISCARD_HEAD], 9, TINY)(rows, rows)


@pytest.mark.parametrize("head", [DISCARD_HEAD, CHOW_HEAD])
def test_planes_have_as_many_columns_as_the_layout_says(head: int) -> None:
    net = PolicyNet(DECISIONS[head], 7, NetConfig(size="tiny", num_oracle_planes=2), 9).eval()
    rows = torch.randint(256, (3, net.observation_bytes), dtype=torch.uint8)
    planes = [unpack_observations(part, count, num_columns=9) for part, count in ((rows[:, :8], 7), (rows[:, 8:], 2))]
    assert planes[0].shape == (3, 7, 9)
    assert net(rows).shape == (3, DECISIONS[head].num_outputs)
    torch.testing.assert_close(net(rows), net(*planes))
    torch.testing.assert_close(fold_batch_norm(net)(rows), net(rows), rtol=1e-4, atol=1e-4)
    assert drop_oracle_planes(net).num_columns == 9


def test_on_a_grid_a_tile_has_neighbours_in_other_suits_and_the_9_of_a_suit_none_in_the_next() -> None:
    kinds = torch.eye(34)[:, None]  # a row for each kind, with one plane
    neighbours = convolve(arrange(kinds, "4x9"), torch.ones(1, 1, 3, 3), None).flatten(1)
    of = {name: torch.nonzero(neighbours[kind]).flatten().tolist() for name, kind in (("9m", 8), ("1p", 9), ("7z", 33))}
    assert of == {"9m": [7, 8, 16, 17], "1p": [0, 1, 9, 10, 18, 19], "7z": [23, 24, 25, 32, 33, 34]}


def test_size_gives_the_widths_that_are_not_set() -> None:
    config = NetConfig(size="tiny", channels=48).resolved()
    assert config.channels == 48
    assert config.num_blocks == 3
    assert config == config.resolved()


@pytest.mark.parametrize("normalization", ["batch", "none"])
@pytest.mark.parametrize("config", [TINY, GRID])
@pytest.mark.parametrize("head", [DISCARD_HEAD, RIICHI_HEAD])
def test_a_folded_net_gives_the_logits_of_the_net(head: int, config: NetConfig, normalization: str) -> None:
    torch.manual_seed(3)
    net = PolicyNet(DECISIONS[head], 6, replace(config, normalization=normalization))  # type: ignore[arg-type]
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.2)
    planes = (torch.rand(64, 6, 34) < 0.3).float()
    for _ in range(3):
        net(planes)  # moves the running statistics
    net.eval()
    folded = fold_batch_norm(net)
    assert not [module for module in folded.modules() if isinstance(module, nn.BatchNorm1d)]
    torch.testing.assert_close(folded(planes), net(planes), rtol=1e-4, atol=1e-4)


def random_rows(num_rows: int, num_planes: int) -> torch.Tensor:
    return torch.randint(0, 256, (num_rows, observation_bytes(num_planes)), dtype=torch.uint8)


def trained_a_little(head: int, num_planes: int, config: NetConfig) -> PolicyNet:
    """A net whose blocks, statistics and biases are not those of the start."""
    torch.manual_seed(3)
    net = PolicyNet(DECISIONS[head], num_planes, config)
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.2)
    oracle = random_rows(64, config.num_oracle_planes) if config.num_oracle_planes else None
    net(random_rows(64, num_planes), oracle)
    return net


@pytest.mark.parametrize("config", [TINY, GRID])
@pytest.mark.parametrize("head", [DISCARD_HEAD, RIICHI_HEAD])
@pytest.mark.parametrize("trains", [True, False])
def test_logits_and_gradients_do_not_depend_on_packing(head: int, config: NetConfig, trains: bool) -> None:
    net = trained_a_little(head, 9, config).train(trains)
    rows = random_rows(16, 9)

    def logits_and_gradients(planes: torch.Tensor) -> list[torch.Tensor]:
        logits = net(planes)
        return [logits.detach(), *torch.autograd.grad(logits.square().sum(), list(net.parameters()))]

    wanted = logits_and_gradients(unpack_observations(rows, 9))
    for result, want in zip(logits_and_gradients(rows), wanted, strict=True):
        torch.testing.assert_close(result, want, rtol=1e-3, atol=1e-3 * float(want.abs().max() + 1))


def test_packed_rows_follow_autocast() -> None:
    net = trained_a_little(DISCARD_HEAD, 9, TINY).eval()
    rows = random_rows(16, 9)
    with torch.autocast("cpu", torch.bfloat16):
        logits = net(rows)
        planes_logits = net(unpack_observations(rows, 9))
    assert logits.dtype == planes_logits.dtype == torch.bfloat16
    torch.testing.assert_close(logits, planes_logits, rtol=0.05, atol=0.05 * float(planes_logits.detach().abs().max()))


@pytest.mark.parametrize("packs", [True, False])
def test_without_its_oracle_planes_a_net_answers_as_if_they_were_0(packs: bool) -> None:
    net = trained_a_little(CHOW_HEAD, 9, NetConfig(size="tiny", num_oracle_planes=5)).eval()
    rows, nothing = random_rows(8, 9), torch.zeros(8, observation_bytes(5), dtype=torch.uint8)
    public = drop_oracle_planes(net)
    if packs:
        wanted, logits = net(rows, nothing), public(rows)
    else:
        wanted, logits = (
            net(unpack_observations(rows, 9), unpack_observations(nothing, 5)),
            public(unpack_observations(rows, 9)),
        )
    torch.testing.assert_close(logits, wanted)
    assert not public.training
    assert not torch.allclose(net(rows, ~nothing), wanted)


@pytest.mark.parametrize("config", [TINY, GRID])
def test_new_oracle_planes_change_nothing_at_first_and_then_learn(config: NetConfig) -> None:
    public = trained_a_little(DISCARD_HEAD, 9, config).eval()
    net = add_oracle_planes(public, 5)
    rows, hidden = random_rows(8, 9), random_rows(8, 5)
    both = torch.cat([rows, hidden], dim=1)
    assert torch.equal(net(rows, hidden), public(rows))
    assert torch.equal(net(both), public(rows))
    assert both.shape[1] == net.observation_bytes
    net(both)[:, 0].sum().backward()
    gradient = net.trunk.stem.conv.weight.grad
    assert gradient is not None
    assert gradient[:, 9:].abs().sum() > 0
    assert torch.equal(drop_oracle_planes(net)(rows), public(rows))
    with pytest.raises(ValueError, match="this discard net has 5 oracle planes already"):
        add_oracle_planes(net, 5)


@pytest.mark.parametrize("normalization", ["batch", "none"])
def test_features_are_convolved_as_planes_are_and_normalised_by_channel(normalization: Normalization) -> None:
    features = torch.rand(2, 8, 1, 34)
    assert torch.equal(ResidualBlock(8, normalization)(features), features), "a new block passes on what it gets"
    torch.manual_seed(1)
    layer = ConvNorm(3, 4, normalization)
    planes = torch.rand(6, 3, 34)
    plain = functional.conv1d(planes, layer.conv.weight, layer.conv.bias, padding=1)
    is_plain = normalization == "none"
    wanted = plain if is_plain else functional.batch_norm(plain, None, None, training=True)
    torch.testing.assert_close(as_columns(layer(arrange(planes))), wanted.transpose(1, 2))
    if not is_plain:
        mean = layer.norm.state_dict()["running_mean"]
        torch.testing.assert_close(mean, 0.1 * plain.detach().mean(dim=(0, 2)))
