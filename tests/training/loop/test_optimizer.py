from __future__ import annotations

from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.models.nets.net_config import NetConfig
from suphx.models.nets.policy import PolicyNet
from suphx.training.loop.optimizer import new_optimizer


def test_biases_and_normalisation_do_not_decay() -> None:
    net = PolicyNet(DISCARD_HEAD, 3, NetConfig(size="tiny"))
    optimizer = new_optimizer(net, 1e-3, 0.1)
    decay = {id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]}
    for name, parameter in net.named_parameters():
        is_plain = name.endswith("bias") or ".norm." in name
        assert decay[id(parameter)] == (0.0 if is_plain else 0.1), name
