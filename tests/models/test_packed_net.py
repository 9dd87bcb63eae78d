from __future__ import annotations

import pytest
import torch
from torch import nn

from suphx.games.riichi.features.oracle import ORACLE
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.models import inference
from suphx.models.inference import PackedNet
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet


def random_net(head: int, num_oracle_planes: int = 0) -> PolicyNet:
    """Return a net in evaluation mode of which every weight and statistic matters."""
    torch.manual_seed(head)
    net = PolicyNet(DECISIONS[head], 13, NetConfig(size="tiny", channels=8, num_oracle_planes=num_oracle_planes))
    for module in net.modules():
        if isinstance(module, nn.BatchNorm1d):
            for tensor in (module.weight, module.bias, module.running_mean):
                assert tensor is not None
                nn.init.normal_(tensor)
            assert module.running_var is not None
            nn.init.uniform_(module.running_var, 0.5, 2)
    return net.eval()


def random_rows(net: PolicyNet, num_rows: int) -> torch.Tensor:
    return torch.randint(256, (num_rows, net.observation_bytes), dtype=torch.uint8)


@pytest.mark.parametrize("num_oracle_planes", [0, ORACLE.num_planes])
@pytest.mark.parametrize("head", range(5))
def test_it_gives_the_logits_of_the_net(head: int, num_oracle_planes: int) -> None:
    net = random_net(head, num_oracle_planes)
    rows = random_rows(net, 5)
    torch.testing.assert_close(PackedNet(net)(rows), net(rows).detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("num_rows", [0, 1, 7])
def test_many_rows_are_computed_in_parts(num_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "_MOST_ROWS", 3)
    net = random_net(DISCARD_HEAD)
    rows = random_rows(net, num_rows)
    torch.testing.assert_close(PackedNet(net)(rows), net(rows).detach(), rtol=1e-4, atol=1e-4)


def test_rows_of_another_net_are_refused() -> None:
    net = random_net(DISCARD_HEAD)
    with pytest.raises(ValueError, match="rows of 13 planes must be uint8"):
        PackedNet(net)(torch.zeros(2, net.observation_bytes + 1, dtype=torch.uint8))
