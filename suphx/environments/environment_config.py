"""The settings that the environments share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from suphx.games.riichi import find_encoder

NUM_OPPONENTS = 3
REWARD_KINDS = ("points", "placement")
RewardKind = Literal["points", "placement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentConfig:
    """What a seat sees, who plays the others, and what is a reward."""

    encoder: str = "mini"
    """Whose public planes are the observation: ``mini``, ``suphx`` or ``suphx-plain`` (docs/features.md)."""
    opponents: tuple[str, ...] = ()
    """The agents at the seats to the player's right, opposite and left; empty: the environment plays no seat."""
    reward: RewardKind = "points"
    """``points``: the change of the score, at the end of each kyoku. ``placement``: 1, 1/3, -1/3 or -1 for the place in
    the game, at its end."""
    points_per_reward: float = 10_000.0
    """Points that are a reward of 1."""

    def __post_init__(self) -> None:
        find_encoder(self.encoder)
        if len(self.opponents) not in (0, NUM_OPPONENTS):
            raise ValueError(f"opponents are {', '.join(self.opponents)}: name one agent, or three")
        if self.reward not in REWARD_KINDS:
            raise ValueError(f"reward is {self.reward!r}: use {' or '.join(REWARD_KINDS)}")
        if not self.points_per_reward > 0:
            raise ValueError(f"points_per_reward is {self.points_per_reward}: use more than 0")


def three_opponents(opponents: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of three opponents; one name is that of all three. ValueError for another number."""
    names = (opponents,) * NUM_OPPONENTS if isinstance(opponents, str) else tuple(opponents)
    if len(names) != NUM_OPPONENTS:
        raise ValueError(f"opponents are {', '.join(names) or 'nobody'}: name one agent, or three")
    return names
