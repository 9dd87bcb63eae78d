"""A small net that expects the reward of a kyoku from what a seat sees: the baseline of the policy gradient."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from torch import Tensor, nn

from suphx.models.nets.net_config import NetConfig
from suphx.models.nets.policy import CallHead, PolicyNet


class CriticNet(nn.Module):
    """Planes to one value.

    >>> critic = CriticNet(head_index("discard"), 838, NetConfig(size="tiny"))
    >>> critic(rows).shape  # uint8 [512, observation_bytes(838)]
    torch.Size([512])
    """

    def __init__(self, head: int, num_planes: int, config: NetConfig) -> None:
        """``head``: whose decisions it judges; ``config``: its normalization is ignored, a critic has none.

        It may see oracle planes: they are used in training only.
        """
        super().__init__()
        config = replace(config, normalization="none").resolved()
        self.net = PolicyNet(head, num_planes, config)
        output = CallHead(config, 1)
        nn.init.zeros_(output.logits.weight)  # it begins by expecting nothing
        nn.init.zeros_(output.logits.bias)
        self.net.output = output

    def forward(self, planes: Tensor) -> Tensor:
        """Return values [n] for ``planes`` as in ``PolicyNet.forward``."""
        return cast(Tensor, self.net(planes)).squeeze(1)
