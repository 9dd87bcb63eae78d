"""An agent of five small nets with random weights."""

from __future__ import annotations

from suphx.games.riichi.features.encoder import find_encoder
from suphx.models.net_config import NetConfig
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import random_policy_set

SMALL = NetConfig(
    size="tiny", channels=4, num_blocks=1, head_channels=2, head_hidden_1=4, head_hidden_2=4, normalization="none"
)


def small_agent(seed: int = 0) -> NetAgent:
    encoder = find_encoder("mini")
    return NetAgent(f"small-{seed}", random_policy_set(encoder.name, SMALL, seed, game="riichi").nets, encoder.name)
