"""The stages that leave an agent's nets, and where these nets are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.registry import decision_names
from suphx.selfplay.agents.checkpoint_folder import INITIAL

if TYPE_CHECKING:
    from suphx_pipelines.recipe.recipe import Recipe

SUPERVISED_FOLDER = "supervised"
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


def supervised_stages_of(game: str) -> dict[str, str]:
    """Return for each decision of a game the stage that trains its net."""
    return {name: f"{SUPERVISED_FOLDER}/{name}" for name in decision_names(game)}


def last_agent(stages: Iterable[str]) -> str | None:
    """Return the folder, relative to the run's, of the nets that these stages make last; None if they make none."""
    stages = set(stages)
    made = next((name for name in (MONTE_CARLO_STAGE, *AGENT_STAGES) if name in stages), None)
    if made is None and has_supervised_nets(stages):
        return SUPERVISED_FOLDER
    return made


def has_supervised_nets(stages: Iterable[str]) -> bool:
    """Tell whether the stages of these names leave supervised nets."""
    return any(name.startswith(f"{SUPERVISED_FOLDER}/") for name in stages)


def initial_stages(recipe: Recipe) -> tuple[str, ...]:
    """Return the names of the stages that leave the nets which evaluation, playouts and self-play begin with."""
    return (INITIAL_STAGE,) if recipe.initial_agent else tuple(supervised_stages_of(recipe.game_name).values())


def initial_folder(upstream: Mapping[str, Path]) -> Path:
    """Return the folder of the nets of ``initial_stages``; ``upstream``: stage name -> folder."""
    nets = (folder.parent for name, folder in upstream.items() if name.startswith(f"{SUPERVISED_FOLDER}/"))
    return upstream.get(INITIAL_STAGE) or next(nets)


def initial_name(recipe: Recipe) -> str:
    """Return what the nets of ``initial_stages`` are called."""
    return "initial nets" if recipe.initial_agent else "supervised nets"
