"""Which decisions of self-play are played out: settings of the collector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

RolloutPolicy = Literal["ukeire", "nets"]
"""Agent that plays on after an action was tried: the scripted agent, or the nets with their most probable actions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchConfig:
    """Which decisions of self-play are played out, and how the games go on."""

    num_tables: int = 512
    """Games that are played at once."""
    max_branches: int = 3
    """Maximum number of actions that are tried for a decision: the most probable ones."""
    min_probability: float = 0.04
    """An action that is less probable is not tried. A decision with fewer than two actions left is not played out."""
    discard_share: float = 0.3
    """Share of the uncertain discards that are played out. They are many, and each of them matters less than a call."""
    has_draw_lanes: bool = True
    """Every seat draws from its own positions of the wall, so that a call does not change what the others draw."""
    num_walls: int = 4
    """Number of orders of the undrawn tiles in which every action is tried: the order of the game, and random ones."""
    rollout_policy: RolloutPolicy = "ukeire"
    """Agent that plays on at all seats after an action. ``ukeire``: the scripted agent. ``nets``: the nets of this
    round, with their most probable actions; they take about 13 times as long, but the nets learn the value of the
    action for their own play."""
    temperature: float = 0.5
    """Temperature at which the games sample their actions. Below 1 they choose the most probable actions more often, as
    in matches, so that positions are similar to those of matches."""

    def __post_init__(self) -> None:
        if not 2 <= self.max_branches <= 34:
            raise ValueError(f"max_branches is {self.max_branches}: use 2 to 34")
        if not 0 <= self.min_probability < 0.5:
            raise ValueError(f"min_probability is {self.min_probability}: use 0 up to, but not including, 0.5")
        for name in ("num_tables", "num_walls"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least 1")
        if self.rollout_policy not in get_args(RolloutPolicy):
            names = " or ".join(f'"{name}"' for name in get_args(RolloutPolicy))
            raise ValueError(f'rollout_policy is "{self.rollout_policy}": use {names}')
        if not 0 <= self.discard_share <= 1:
            raise ValueError(f"discard_share is {self.discard_share}: use 0 to 1")
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}: use a positive number")
