"""A recipe: one TOML file that says everything about one run.

The settings of each part stand beside that part; this class only puts them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from suphx.evaluation.match import MatchConfig
from suphx.models.policy import NetConfig
from suphx.selfplay.agent import BASELINES
from suphx.training.dataset import StreamConfig
from suphx.training.split import SplitConfig
from suphx.training.supervised_config import SupervisedConfig
from suphx_pipelines.recipe_file import load_config


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsConfig:
    """What the records stage takes."""

    max_games: int = 0
    """Use the first games only, in the order of the files; 0 = all."""
    played_games: int = 1000
    """Games that are played here to learn from when no records are given."""
    player: str = "ukeire"
    """Who plays them at all four seats: a shipped baseline, or the path of a folder of checkpoints."""

    def __post_init__(self) -> None:
        if self.max_games < 0:
            raise ValueError(f"max_games is {self.max_games}: use 0 (all) or more")
        if self.played_games < 3:
            raise ValueError(f"played_games is {self.played_games}: use at least 3 (training, validation, test)")
        if self.player not in BASELINES and "/" not in self.player:
            raise ValueError(
                f"player is {self.player!r}: use {', '.join(BASELINES)}, or the path of a folder of checkpoints"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All settings of a run."""

    name: str
    """Begins the run's id: small letters, digits, - and _."""
    seed: int = 1
    """The seeds of all stages come from it."""
    encoder: Literal["mini"] = "mini"
    """Which planes the nets see (docs/features.md)."""
    records: RecordsConfig = field(default_factory=RecordsConfig)
    """Where the games come from."""
    net: NetConfig = field(default_factory=NetConfig)
    """The five nets."""
    split: SplitConfig = field(default_factory=SplitConfig)
    """Which games are for training, validation and test."""
    stream: StreamConfig = field(default_factory=StreamConfig)
    """How samples reach the learner."""
    supervised: SupervisedConfig = field(default_factory=SupervisedConfig)
    """How each net learns from records."""
    evaluation: MatchConfig = field(default_factory=MatchConfig)
    """The match at the end."""


def load_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> Recipe:
    """Read a recipe with ``("a.b", "value")`` overrides; ValueError names the file, the key and what is allowed."""
    return load_config(Recipe, path, overrides)
