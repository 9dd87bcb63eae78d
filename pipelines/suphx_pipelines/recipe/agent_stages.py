"""The stages that leave an agent's nets, and where these nets are."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.registry import decision_names
from suphx.selfplay.agents.checkpoint_folder import INITIAL

if TYPE_CHECKING:
    from suphx_pipelines.recipe.recipe import Recipe

SUPERVISED_FOLDER = "supervised"
SUPERVISED_STAGES: Mapping[str, str] = {head: f"{SUPERVISED_FOLDER}/{head}" for head in decision_names()}
"""Head -> the stage that trains its net."""
INITIAL_STAGE = INITIAL
"""The stage that copies the nets of ``initial_agent``, in the place of the supervised stages."""
MONTE_CARLO_STAGE = "learning"
"""The stage that leaves the nets of a game that is learned by Deep Monte-Carlo."""
AGENT_STAGES = (
    "oracle_decay",
    "oracle_distillation",
    "agent_comparison/rl_1",
    "agent_comparison/rl_basic",
    "reinforcement",
    "playouts",
)
"""Stages whose folder is an agent that plays by the rules, the last one of a run first; before them there are the
supervised nets."""


def last_agent(stages: Container[str]) -> str | None:
    """Return the folder, relative to the run's, of the nets that these stages make last; None if they make none."""
    made = next((name for name in (MONTE_CARLO_STAGE, *AGENT_STAGES) if name in stages), None)
    if made is None and has_supervised_nets(stages):
        return SUPERVISED_FOLDER
    return made


def has_supervised_nets(stages: Container[str]) -> bool:
    """Tell whether the stages of these names leave supervised nets."""
    return SUPERVISED_STAGES[decision_names()[0]] in stages


def initial_stages(recipe: Recipe) -> tuple[str, ...]:
    """Return the names of the stages that leave the nets which evaluation, playouts and self-play begin with."""
    return (INITIAL_STAGE,) if recipe.initial_agent else tuple(SUPERVISED_STAGES.values())


def initial_folder(upstream: Mapping[str, Path]) -> Path:
    """Return the folder of the nets of ``initial_stages``; ``upstream``: stage name -> folder."""
    return upstream.get(INITIAL_STAGE) or upstream[SUPERVISED_STAGES[decision_names()[0]]].parent


def initial_name(recipe: Recipe) -> str:
    """Return what the nets of ``initial_stages`` are called."""
    return "initial nets" if recipe.initial_agent else "supervised nets"
