"""The stages that leave an agent's nets, and where these nets are."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

from suphx.games.riichi import HEAD_NAMES

SUPERVISED_FOLDER = "supervised"
SUPERVISED_STAGES: Mapping[str, str] = {head: f"{SUPERVISED_FOLDER}/{head}" for head in HEAD_NAMES}
"""Head -> the stage that trains its net."""
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
    made = next((name for name in AGENT_STAGES if name in stages), None)
    if made is None and has_supervised_nets(stages):
        return SUPERVISED_FOLDER
    return made


def has_supervised_nets(stages: Container[str]) -> bool:
    """Tell whether the stages of these names leave supervised nets."""
    return SUPERVISED_STAGES[HEAD_NAMES[0]] in stages


def supervised_folder(upstream: Mapping[str, Path]) -> Path:
    """Return the folder of the supervised nets, with a folder for each head; ``upstream``: stage name -> folder."""
    return upstream[SUPERVISED_STAGES[HEAD_NAMES[0]]].parent
