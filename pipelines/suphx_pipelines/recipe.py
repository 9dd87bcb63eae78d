"""A recipe: one TOML file that says everything about one run.

The settings of each part stand beside that part; this class only puts them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from suphx.models.policy import NetConfig
from suphx.training.dataset import StreamConfig
from suphx.training.split import SplitConfig
from suphx.training.supervised_config import SupervisedConfig
from suphx_pipelines.recipe_file import load_config


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsConfig:
    """What the records stage takes."""

    max_games: int = 0
    """Use the first games only, in the order of the files; 0 = all."""

    def __post_init__(self) -> None:
        if self.max_games < 0:
            raise ValueError(f"max_games is {self.max_games}: use 0 (all) or more")


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


def load_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> Recipe:
    """Read a recipe with ``("a.b", "value")`` overrides; ValueError names the file, the key and what is allowed."""
    return load_config(Recipe, path, overrides)
