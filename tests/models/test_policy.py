from __future__ import annotations

import pytest
import torch
from torch import nn

from suphx.features.head import CHOW, DISCARD, HEAD_NAMES, NUM_OUTPUTS, RIICHI
from suphx.models.policy import NetConfig, PolicyNet, fold_batch_norm, num_weights

TINY = NetConfig(size="tiny")


def num_matrix_weights(net: nn.Module) -> int:
    """The paper's figures leave out biases and normalisation."""
    return sum(parameter.numel() for parameter in net.parameters() if parameter.ndim > 1)


@pytest.mark.parametrize("head", range(5))
def test_each_head_has_the_outputs_of_table_2(head: int) -> None:
    net = PolicyNet(head, 7, TINY)
    assert net(torch.rand(3, 7, 34)).shape == (3, NUM_OUTPUTS[head])


def test_the_paper_discard_net_has_20_million_weights() -> None:
    with torch.device("meta"):
        net = PolicyNet(DISCARD, 838, NetConfig(size="paper"))
    assert num_matrix_weights(net) == 643_584 + 50 * 2 * 196_608 + 256
    assert round(num_matrix_weights(net) / 1e6, 1) == 20.3
    assert num_weights(net) == num_matrix_weights(net) + 101 * 2 * 256


def test_the_paper_call_net_has_22_million_weights() -> None:
    with torch.device("meta"):
        net = PolicyNet(CHOW, 958, NetConfig(size="paper"))
    assert num_matrix_weights(net) == 735_744 + 50 * 2 * 196_608 + 24_576 + 1_114_112 + 262_144 + 512
    assert round(num_matrix_weights(net) / 1e6, 1) == 21.8


def test_size_gives_the_widths_that_are_not_set() -> None:
    config = NetConfig(size="tiny", channels=48).resolved()
    assert config.channels == 48
    assert config.num_blocks == 3
    assert config == config.resolved()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": "huge"}, "'huge': use one of tiny, small, medium, paper"),
        ({"normalization": "layer"}, "'layer': use one of batch, none"),
        ({"channels": -1}, "channels is -1: use 0"),
    ],
)
def test_a_wrong_config_is_refused_with_a_remedy(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NetConfig(**fields)  # type: ignore[arg-type]


def test_an_unknown_head_is_refused() -> None:
    with pytest.raises(ValueError, match=r"head is 5: use 0 to 4 \(discard"):
        PolicyNet(5, 7, TINY)


@pytest.mark.parametrize("normalization", ["batch", "none"])
@pytest.mark.parametrize("head", [DISCARD, RIICHI])
def test_a_folded_net_gives_the_logits_of_the_net(head: int, normalization: str) -> None:
    torch.manual_seed(3)
    net = PolicyNet(head, 6, NetConfig(size="tiny", normalization=normalization))  # type: ignore[arg-type]
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.2)
    planes = (torch.rand(64, 6, 34) < 0.3).float()
    for _ in range(3):
        net(planes)  # moves the running statistics
    net.eval()
    folded = fold_batch_norm(net)
    assert not [module for module in folded.modules() if isinstance(module, nn.BatchNorm1d)]
    torch.testing.assert_close(folded(planes), net(planes), rtol=1e-4, atol=1e-4)


def test_folding_leaves_the_net_in_training() -> None:
    net = PolicyNet(DISCARD, 6, TINY)
    before = {name: weight.clone() for name, weight in net.state_dict().items()}
    fold_batch_norm(net)
    assert all(module.training for module in net.modules())
    assert all(torch.equal(weight, before[name]) for name, weight in net.state_dict().items())


def test_heads_and_outputs_belong_together() -> None:
    assert len(HEAD_NAMES) == len(NUM_OUTPUTS)
