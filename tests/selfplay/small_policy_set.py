"""Small nets for tests of self-play: minimal width, first weights by seed."""

from __future__ import annotations

from pathlib import Path

import torch

from suphx.games.registry import DEFAULT_GAME, find_decisions, find_learning
from suphx.games.riichi.names import HEAD_NAMES
from suphx.models.net_config import Calibration, NetConfig, checkpoint_name
from suphx.models.policy import PolicyNet
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set

SMALL = NetConfig(size="tiny", channels=4, num_blocks=1, head_channels=2, head_hidden_1=4, head_hidden_2=4)
SMALL_PLAIN = NetConfig(
    size="tiny", channels=4, num_blocks=1, head_channels=2, head_hidden_1=4, head_hidden_2=4, normalization="none"
)
ENCODERS = {"riichi": "mini", "dazhong": "dazhong"}


def small_policy_set(seed: int, net: NetConfig = SMALL_PLAIN, *, game: str = DEFAULT_GAME) -> PolicySet:
    layout, kinds = find_learning(game).layout, find_decisions(game)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        nets = tuple(PolicyNet(kind, layout(ENCODERS[game], kind.number).num_planes, net).eval() for kind in kinds)
    return PolicySet(nets, (Calibration(),) * len(nets))


def save_random(folder: Path, seed: int = 1) -> Path:
    save_policy_set(folder, small_policy_set(seed), "mini", rules="tenhou", step=seed, extra={})
    return folder


def save_random_weak(folder: Path, seed: int = 2) -> Path:
    """Save nets of an early step."""
    early = save_random(folder / "early", seed=seed)
    for head in HEAD_NAMES:
        (early / checkpoint_name(head)).rename(folder / checkpoint_name(head, is_weak=True))
    early.rmdir()
    return folder
