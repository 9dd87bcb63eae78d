"""The recipe of a run in which nets learn a game by Deep Monte-Carlo: that of DouDizhu (docs/doudizhu.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from suphx.evaluation.match_config import MAX_SIDE_DECKS
from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import Rules
from suphx.number_range import Range, Seed, check_ranges
from suphx.training.config import MonteCarloConfig, check_imitates, check_opponents
from suphx_pipelines.recipe.recipe_file import load_config
from suphx_pipelines.recipe.recipe_heading import RecipeMinutes, check_name
from suphx_platform.parts.ray_layout_config import RoundLayoutConfig
from suphx_platform.storage.storage_config import StorageConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class DeckMatchConfig:
    """Match of the trained nets at the end, on other decks than those of training and curve; one of many millions of
    games has seen a few of them by chance."""

    decks: Annotated[int, Range(2, MAX_SIDE_DECKS)] = 1000
    """Decks against each opponent; each is played twice, with the sides swapped."""
    opponents: tuple[str, ...] = ("random", "rule")
    """Scripted agents to play against, the strongest last: the verdict of the run is about this one."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarloRecipe:
    """All settings of a run by Deep Monte-Carlo."""

    name: str
    """First part of the run's id: lower-case letters, digits, - and _."""
    game: Literal["doudizhu"] = "doudizhu"
    """The game. Recipes without this key are for riichi."""
    about: str = ""
    """What the recipe does, in one line (``suphx recipes`` prints it)."""
    minutes: RecipeMinutes = 0
    """Approximate duration in minutes on two idle cores; 0 = not measured."""
    seed: Seed = 1
    """The seeds of all stages are derived from it."""
    rules: Rules = field(default_factory=Rules)
    """Options of the rules."""
    learning: MonteCarloConfig = field(default_factory=MonteCarloConfig)
    """How the nets play against themselves and learn."""
    cluster: RoundLayoutConfig = field(default_factory=RoundLayoutConfig)
    """Whether one process plays and learns, or several that Ray places."""
    match: DeckMatchConfig = field(default_factory=DeckMatchConfig)
    """Match at the end."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Bucket or folder where results are kept besides the folder of runs."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_name(self.name)
        agents = candidate_game(self.game).agents
        check_opponents(self.learning.opponents, agents)
        check_opponents(self.match.opponents, agents)
        check_imitates(self.learning.imitates, agents)

    @property
    def free_keys(self) -> tuple[str, ...]:
        """Keys that say how a run is carried out, not what it gives: a run goes on when they are changed."""
        return ("about", "minutes", "storage", "cluster", "learning.save_seconds", "learning.threads")


def load_monte_carlo_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> MonteCarloRecipe:
    """Read a recipe with ``("a.b", "value")`` overrides; ValueError names the file, the key and what is allowed."""
    return load_config(MonteCarloRecipe, path, overrides)
