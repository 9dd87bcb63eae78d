from __future__ import annotations

import torch

from suphx.games.riichi.features.head import CHOW_HEAD, DISCARD_HEAD
from suphx.games.riichi.features.layout.planes import observation_bytes
from suphx.models.nets.critic import CriticNet
from suphx.models.nets.net_config import NetConfig

TINY = NetConfig(size="tiny", channels=4, num_blocks=1)


def test_a_new_critic_expects_nothing() -> None:
    rows = torch.randint(256, (5, observation_bytes(12)), dtype=torch.uint8)
    for head in (DISCARD_HEAD, CHOW_HEAD):
        assert CriticNet(head, 12, TINY)(rows).tolist() == [0.0] * 5


def test_it_learns_which_rows_pay() -> None:
    torch.manual_seed(1)
    rows = torch.randint(256, (64, observation_bytes(12)), dtype=torch.uint8)
    rewards = (rows[:, 0] & 1).float()
    critic = CriticNet(DISCARD_HEAD, 12, TINY)
    optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
    for _ in range(150):
        loss = (critic(rows) - rewards).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
