"""The recipe of a tournament in a game of two sides: who plays, how much, and what it takes to become the champion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from suphx.evaluation.match_config import MAX_SIDE_DECKS, MIN_CLUSTERS
from suphx.evaluation.sequential.sequential_config import SideTestConfig
from suphx.evaluation.sequential.sequential_test import FIRST_LOOK
from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import Rules
from suphx.number_range import Processes, Range, Seed, check_ranges
from suphx_pipelines.recipe.recipe_file import load_config
from suphx_pipelines.recipe.recipe_heading import RecipeMinutes, check_name
from suphx_pipelines.recipe.tournament_recipe import check_night, check_pool, tonight
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import RegistryConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePoolConfig:
    """Participants besides the champion, which always plays."""

    agents: tuple[str, ...] = ("rule", "random")
    """Scripted agents, folders of nets (``runs/RUN/learning``), their addresses in a bucket
    (``s3://bucket/runs/RUN/learning``) and in the model registry (``models:/NAME/VERSION``). Nets among them are for
    comparison only: they cannot become the champion."""
    newest: Annotated[int, Range(0, 1000)] = 3
    """Number of newest trained nets that play; one of them may become the champion."""
    newest_from: str = ""
    """Where to look for them: a folder of runs, or ``s3://bucket/prefix`` (the ``storage.address`` of runs). Empty: the
    tournament's own storage if that is a bucket, else its folder of runs."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_pool(self.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideLeaderboardConfig:
    """Games for the ratings. They add to those of earlier nights."""

    decks: Annotated[int, Range(2, MAX_SIDE_DECKS)] = 1000
    """Decks of a night, at least 20 for each agent; each is played twice, with the sides swapped. Pairs are chosen so
    that the ratings show who is the best: agents that may be the best, and those with the fewest games, play more."""
    anchor: str = "rule"
    """Scripted agent that always has 1,000 rating points, so that nights can be compared. If it has never played, the
    mean of all agents has 1,000."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideDecisionConfig:
    """The deciding match: the newest nets with the best rating against the champion, on fresh decks."""

    decks: Annotated[int, Range(FIRST_LOOK, MAX_SIDE_DECKS)] = 20_000
    """Maximum number of decks of the deciding match, at least 24. It stops as soon as ``test`` has decided; without a
    decision the result is undecided and nothing is promoted."""
    fresh_decks: Annotated[int, Range(MIN_CLUSTERS, MAX_SIDE_DECKS)] = 2000
    """New decks after a pass, at least 6. Only their figures are published: those of the deciding match are too good on
    average."""
    opponent: str = "rule"
    """Scripted opponent of the first candidate while there is no champion; empty: none, the first candidate becomes the
    champion."""
    test: SideTestConfig = field(default_factory=SideTestConfig)
    """Sequential test that decides about the promotion."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTournamentRecipe:
    """All settings of a tournament in a game of two sides."""

    name: str
    """First part of the run's id: lower-case letters, digits, - and _."""
    game: Literal["doudizhu"] = "doudizhu"
    """The game. Recipes without this key are for riichi."""
    about: str = ""
    """What the recipe does, in one line."""
    minutes: RecipeMinutes = 0
    """Approximate duration in minutes on two idle cores; 0 = not measured."""
    seed: Seed = 1
    """The decks are derived from it and from the night."""
    night: str = ""
    """A tournament is played once per night; repeating the same recipe returns the same result. Empty: today's date
    (UTC)."""
    workers: Processes = 2
    """Processes that play; the result does not depend on it."""
    on_ray: bool = False
    """Play on a Ray cluster, where each of the ``workers`` takes a CPU: that of ``RAY_ADDRESS``, otherwise a new one on
    this machine."""
    rules: Rules = field(default_factory=Rules)
    """Options of the rules. Nets that learned other moves cannot play."""
    pool: SidePoolConfig = field(default_factory=SidePoolConfig)
    """Participants."""
    leaderboard: SideLeaderboardConfig = field(default_factory=SideLeaderboardConfig)
    """Games for the ratings."""
    decision: SideDecisionConfig = field(default_factory=SideDecisionConfig)
    """Match that decides about the promotion."""
    registry: RegistryConfig = field(default_factory=partial(RegistryConfig, model="doudizhu"))
    """Where the champion is registered. Agents of other games need another model."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Where results are kept besides the folder of runs, and how buckets are reached."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_name(self.name)
        check_night(self.night)
        agents = candidate_game(self.game).agents
        if self.leaderboard.anchor not in agents:
            raise ValueError(f"leaderboard.anchor is {self.leaderboard.anchor!r}: use {' or '.join(agents)}")
        if self.decision.opponent and self.decision.opponent not in agents:
            raise ValueError(f"decision.opponent is {self.decision.opponent!r}: use {' or '.join(agents)}, or none")

    @property
    def free_keys(self) -> tuple[str, ...]:
        """Keys that say how a tournament is carried out, not what it gives."""
        return ("about", "minutes", "on_ray", "registry.max_lost_versions", "storage", "workers")


def load_side_tournament_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> SideTournamentRecipe:
    """Read a recipe with ``("a.b", "value")`` overrides, its night settled; ValueError names the file and the key."""
    recipe = load_config(SideTournamentRecipe, path, overrides)
    return recipe if recipe.night else replace(recipe, night=tonight())
