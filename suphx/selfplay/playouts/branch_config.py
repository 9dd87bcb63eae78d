"""Which decisions of self-play are played out: settings of the collector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from suphx.number_range import Range, Share, check_ranges

RolloutPolicy = Literal["ukeire", "nets"]
"""Agent that plays on after an action was tried: the scripted agent, or the nets with their most probable actions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchConfig:
    """Which decisions of self-play are played out, and how the games go on."""

    num_tables: Annotated[int, Range(1, 65_536)] = 512
    """Games that are played at once."""
    max_branches: Annotated[int, Range(2, 34)] = 3
    """Maximum number of actions that are tried for a decision: the most probable ones."""
    min_probability: Annotated[float, Range(0, 0.5, "left")] = 0.04
    """An action that is less probable is not tried. A decision with fewer than two actions left is not played out."""
    discard_share: Share = 0.3
    """Share of the uncertain discards that are played out. They are many, and each of them matters less than a call."""
    has_draw_lanes: bool = True
    """Every seat draws from its own positions of the wall, so that a call does not change what the others draw."""
    num_walls: Annotated[int, Range(1, 1024)] = 4
    """Number of orders of the undrawn tiles in which every action is tried: the order of the game, and random ones."""
    rollout_policy: RolloutPolicy = "ukeire"
    """Agent that plays on at all seats after an action. ``ukeire``: the scripted agent. ``nets``: the nets of this
    round, with their most probable actions; they take about 13 times as long, but the nets learn the value of the
    action for their own play."""
    temperature: Annotated[float, Range(0, 100, "right")] = 0.5
    """Temperature at which the games sample their actions. Below 1 they choose the most probable actions more often, as
    in matches, so that positions are similar to those of matches."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.rollout_policy not in get_args(RolloutPolicy):
            names = " or ".join(f'"{name}"' for name in get_args(RolloutPolicy))
            raise ValueError(f'rollout_policy is "{self.rollout_policy}": use {names}')
