"""The recipe of a tournament in a game of two sides: who plays and how much (docs/games.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from suphx.evaluation.match_config import MAX_SIDE_DECKS
from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import Rules
from suphx_pipelines.recipe.recipe_file import load_config
from suphx_pipelines.recipe.tournament_recipe import check_night, check_pool, tonight
from suphx_platform.storage.storage_config import StorageConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePoolConfig:
    """Participants."""

    agents: tuple[str, ...] = ("rule", "random")
    """Scripted agents, folders of nets (``runs/RUN/learning``) and their addresses in a bucket
    (``s3://bucket/runs/RUN/learning``)."""
    newest: int = 3
    """Number of newest trained nets that play, too."""
    newest_from: str = ""
    """Where to look for them: a folder of runs, or ``s3://bucket/prefix`` (the ``storage.address`` of runs). Empty: the
    tournament's own storage if that is a bucket, else its folder of runs."""

    def __post_init__(self) -> None:
        check_pool(self.agents, self.newest)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideLeaderboardConfig:
    """Games for the ratings. They add to those of earlier nights."""

    decks: int = 1000
    """Decks of a night, at least 20 for each agent; each is played twice, with the sides swapped. Pairs are chosen so
    that the ratings show who is the best: agents that may be the best, and those with the fewest games, play more."""
    anchor: str = "rule"
    """Scripted agent that always has 1,000 rating points, so that nights can be compared. If it has never played, the
    mean of all agents has 1,000."""

    def __post_init__(self) -> None:
        if not 2 <= self.decks <= MAX_SIDE_DECKS:
            raise ValueError(f"decks is {self.decks}: use 2 to {MAX_SIDE_DECKS:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTournamentRecipe:
    """All settings of a tournament in a game of two sides."""

    name: str
    """First part of the run's id: lower-case letters, digits, - and _."""
    game: Literal["doudizhu"] = "doudizhu"
    """The game. Recipes without this key are for riichi."""
    about: str = ""
    """What the recipe does, in one line."""
    minutes: int = 0
    """Approximate duration in minutes on two idle cores; 0 = hours, or not measured."""
    seed: int = 1
    """The decks are derived from it and from the night."""
    night: str = ""
    """A tournament is played once per night; repeating the same recipe returns the same result. Empty: today's date
    (UTC)."""
    workers: int = 2
    """Processes that play; the result does not depend on it."""
    rules: Rules = field(default_factory=Rules)
    """Options of the rules. Nets that learned other moves cannot play."""
    pool: SidePoolConfig = field(default_factory=SidePoolConfig)
    """Participants."""
    leaderboard: SideLeaderboardConfig = field(default_factory=SideLeaderboardConfig)
    """Games for the ratings."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Where results are kept besides the folder of runs, and how buckets are reached."""

    def __post_init__(self) -> None:
        check_night(self.night, self.workers)
        agents = candidate_game(self.game).agents
        if self.leaderboard.anchor not in agents:
            raise ValueError(f"leaderboard.anchor is {self.leaderboard.anchor!r}: use {' or '.join(agents)}")

    @property
    def free_keys(self) -> tuple[str, ...]:
        """Keys that say how a tournament is carried out, not what it gives."""
        return ("about", "minutes", "storage", "workers")


def load_side_tournament_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> SideTournamentRecipe:
    """Read a recipe with ``("a.b", "value")`` overrides, its night settled; ValueError names the file and the key."""
    recipe = load_config(SideTournamentRecipe, path, overrides)
    return recipe if recipe.night else replace(recipe, night=tonight())
