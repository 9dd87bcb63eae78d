"""Nets for tests whose strength is known: one of random weights, and one made by hand that is much better."""

from __future__ import annotations

from pathlib import Path

import torch

from suphx.games.riichi.features.mini import PUBLIC
from suphx.games.riichi.names import RIICHI_HEAD
from suphx.models.policy import CallHead
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from tests.selfplay.small_policy_set import small_policy_set

HAND = PUBLIC["hand"].first


def save_keeper(folder: Path, weight: float = 1.0) -> Path:
    """Discard the tile with the least company, declare riichi always, call never; any ``weight`` plays the same."""
    save_policy_set(folder, keeper(weight), "mini", rules="tenhou", step=1, extra={})
    return folder


@torch.no_grad()
def keeper(weight: float) -> PolicySet:
    policy_set = small_policy_set(1)
    discard = policy_set.nets[0]
    for parameter in discard.parameters():
        parameter.zero_()
    discard.get_parameter("trunk.stem.conv.weight")[0, HAND : HAND + 4] = weight * torch.tensor([0.5, 1.0, 0.5])
    discard.output.get_parameter("conv.weight")[0, 0] = -1.0
    for net in policy_set.nets[1:]:
        assert isinstance(net.output, CallHead)
        net.output.logits.weight.zero_()
        net.output.logits.bias.copy_(torch.tensor([0.0, 5.0 if net.kind.number == RIICHI_HEAD else -5.0]))
    return policy_set
