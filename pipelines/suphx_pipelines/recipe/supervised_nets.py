"""The stages that leave supervised nets, and where these nets are: what most other stages begin with."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path

from suphx.games.riichi import HEAD_NAMES

SUPERVISED_FOLDER = "supervised"
SUPERVISED_STAGES: Mapping[str, str] = {head: f"{SUPERVISED_FOLDER}/{head}" for head in HEAD_NAMES}
"""Head -> the stage that trains its net."""


def has_supervised_nets(stages: Container[str]) -> bool:
    """Tell whether the stages of these names leave supervised nets."""
    return SUPERVISED_STAGES[HEAD_NAMES[0]] in stages


def supervised_folder(upstream: Mapping[str, Path]) -> Path:
    """Return the folder of the supervised nets, with a folder for each head; ``upstream``: stage name -> folder."""
    return upstream[SUPERVISED_STAGES[HEAD_NAMES[0]]].parent
