"""The settings that the environments share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.rules import Rules, tenhou
from suphx.selfplay.agents.agent import AgentLike

NUM_SEATS = 4
NUM_OPPONENTS = NUM_SEATS - 1
REWARD_KINDS = ("points", "placement")
RewardKind = Literal["points", "placement"]
IllegalReward = float | Literal["lowest"]
"""Of an action that is not legal: a number, or ``EnvironmentConfig.lowest_reward``."""

_BELOW_LAST_PLACE = -2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentConfig:
    """What a seat sees, who plays the others, by which rules, and what is a reward."""

    encoder: str = "mini"
    """Whose public planes are in the observation, in front of the decision planes: ``mini``, ``suphx`` or
    ``suphx-plain`` (docs/features.md)."""
    opponents: tuple[AgentLike, ...] = ()
    """The agents at the seats to the player's right, opposite and left, or their addresses for ``load_agent``; empty:
    the environment plays no seat."""
    rules: Rules = field(default_factory=tenhou)
    """Of the games: ``Rules(num_winds=1)`` is East only."""
    reward: RewardKind = "points"
    """``points``: the change of the score, at the end of each kyoku. ``placement``: 1, 1/3, -1/3 or -1 for the place in
    the game, at its end."""
    points_per_reward: float = 10_000.0
    """Points that are a reward of 1."""

    def __post_init__(self) -> None:
        find_encoder(self.encoder)
        if len(self.opponents) not in (0, NUM_OPPONENTS):
            raise ValueError(f"there are {len(self.opponents)} opponents: give one agent, or three")
        if self.reward not in REWARD_KINDS:
            raise ValueError(f"reward is {self.reward!r}: use {' or '.join(REWARD_KINDS)}")
        if not self.points_per_reward > 0:
            raise ValueError(f"points_per_reward is {self.points_per_reward}: use more than 0")

    @property
    def lowest_reward(self) -> float:
        """The reward of an illegal action unless another is given, so low that such an action never pays.

        ``points``: that of a loss of all points of a table, -10 by the default settings. ``placement``: -2, below that
        of fourth place.
        """
        if self.reward == "placement":
            return _BELOW_LAST_PLACE
        return -NUM_SEATS * self.rules.start_points / self.points_per_reward

    def illegal_reward(self, given: IllegalReward | None) -> float | None:
        """Return the number that ``given`` stands for, None for None; ValueError for another word than "lowest"."""
        if not isinstance(given, str):
            return given
        if given != "lowest":
            raise ValueError(f"illegal_reward is {given!r}: use a number, or lowest")
        return self.lowest_reward


def three_opponents(opponents: AgentLike | Sequence[AgentLike]) -> tuple[AgentLike, ...]:
    """Return three opponents; one agent is all three. ValueError for another number."""
    if isinstance(opponents, str | Path) or not isinstance(opponents, Sequence):
        return (opponents,) * NUM_OPPONENTS
    if len(opponents) != NUM_OPPONENTS:
        raise ValueError(f"there are {len(opponents)} opponents: give one agent, or three")
    return tuple(opponents)
