"""The recipe of a tournament: who plays, how much, and what it takes to become the champion.

As in recipes of runs, the key ``game`` chooses the class: ``TournamentRecipe`` counts hanchans, and
``SideTournamentRecipe`` decks that both sides play.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import Annotated, ClassVar, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from suphx.evaluation.match_config import HANCHANS, MAX_SIDE_DECKS, MIN_CLUSTERS, SEATS, check_hanchans
from suphx.evaluation.measures import SequentialConfig, SideTestConfig, check_budget
from suphx.evaluation.sequential_test import FIRST_LOOK
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.number_range import Processes, Range, check_ranges
from suphx_pipelines.recipe.recipe_file import AnyRecipe
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import RegistryConfig

_CRON_JOB, _ZONE = "SUPHX_CRON_JOB", "SUPHX_TIME_ZONE"
"""Name of the Job that a CronJob created: it ends with the minutes from 1970 to the time for which it was scheduled."""
_LATE = timedelta(days=2)
"""A name with another number is not that of a CronJob's Job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """Participants besides the champion, which always plays."""

    agents: tuple[str, ...] = ("ukeire", "tsumogiri", "random")
    """Agents (docs/agents.md), also programs: ``mjai:COMMAND LINE``, ``mjai-tcp:HOST:PORT``.
    Nets among them are for comparison only: they cannot become the champion."""
    newest: Annotated[int, Range(0, 1000)] = 3
    """Number of newest checkpoints that play; one of them may become the champion."""
    newest_from: str = ""
    """Where to look for them: a folder of runs, or ``s3://bucket/prefix`` (the ``storage.address`` of runs). Empty: the
    tournament's own storage if that is a bucket, else its folder of runs."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents is {list(self.agents)}: name each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardConfig:
    """Games for the ratings. They add to those of earlier nights."""

    hanchans: Annotated[int, HANCHANS] = 1000
    """Games of a night, a multiple of 4 and at least 4 for each agent. Lineups are chosen so that the ratings become
    precise: agents that may be the best, and those with the fewest games, play more often."""
    anchor: str = "ukeire"
    """Agent that always has 1,000 rating points, so that nights can be compared. If it has never played, the mean of
    all agents has 1,000."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_hanchans(self.hanchans)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionConfig:
    """The deciding match: the newest checkpoint with the best rating against champions, on fresh walls."""

    hanchans: Annotated[int, HANCHANS] = 4000
    """Maximum number of games of the deciding match, a multiple of 4 and at least 96. It stops as soon as ``test`` has
    decided; without a decision the result is undecided and nothing is promoted."""
    fresh_hanchans: Annotated[int, HANCHANS] = 1000
    """Games on new walls after a pass, a multiple of 4 and at least 24. Only their figures are published: those of the
    deciding match are too good on average."""
    opponent: str = "ukeire"
    """Opponent of the first candidate while there is no champion; empty: none, the first candidate becomes the
    champion."""
    test: SequentialConfig = field(default_factory=SequentialConfig)
    """Sequential test that decides about the promotion."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_budget(self.hanchans)
        check_hanchans(self.fresh_hanchans)
        if self.fresh_hanchans < SEATS * MIN_CLUSTERS:
            raise ValueError(
                f"fresh_hanchans is {self.fresh_hanchans}: use at least {SEATS * MIN_CLUSTERS}, fewer have no interval"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyTournamentRecipe(AnyRecipe):
    """What the recipe of every tournament has."""

    free_keys: ClassVar[tuple[str, ...]] = (*AnyRecipe.free_keys, "on_ray", "registry.max_lost_versions", "workers")
    game: str | None = None
    """The game; recipes without this key are for riichi."""
    night: str = ""
    """A tournament is played once per night; repeating the same recipe returns the same result. Empty: today's date
    (UTC)."""
    workers: Processes = 2
    """Processes that play; the result does not depend on it."""
    on_ray: bool = False
    """Play on a Ray cluster, where each of the ``workers`` takes a CPU: that of ``RAY_ADDRESS``, otherwise a new one on
    this machine."""
    registry: RegistryConfig = field(default_factory=RegistryConfig)
    """Where the champion is registered. Agents of other games need another model."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Where results are kept besides the folder of runs, and how buckets are reached."""

    def __post_init__(self) -> None:
        AnyRecipe.__post_init__(self)
        if "/" in self.night or "'" in self.night:
            raise ValueError(f"night is {self.night!r}: use a date such as 2026-11-21, or another name without / and '")


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRecipe(AnyTournamentRecipe):
    """All settings of a tournament in a game of four seats."""

    draw_lanes: bool = True
    """Whether each seat draws from its own positions of the wall, so fewer games are needed (docs/evaluation.md)."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    """Participants."""
    leaderboard: LeaderboardConfig = field(default_factory=LeaderboardConfig)
    """Games for the ratings."""
    decision: DecisionConfig = field(default_factory=DecisionConfig)
    """Match that decides about the promotion."""


def tonight() -> str:
    """Return the name of a night that the recipe does not name: today's date (UTC).

    In a Job of a CronJob, whose name and time zone the chart gives: the date for which it was scheduled. A pod that
    starts again after midnight goes on with its night.
    """
    zone: tzinfo = UTC
    with suppress(ValueError, ZoneInfoNotFoundError):  # Kubernetes knows it, this machine does not
        zone = ZoneInfo(os.environ.get(_ZONE) or "UTC")
    now = datetime.now(zone)
    number = re.search(r"-(\d{8,9})$", os.environ.get(_CRON_JOB, ""))
    scheduled = datetime.fromtimestamp(60 * int(number[1]), now.tzinfo) if number else now
    return f"{scheduled if abs(now - scheduled) < _LATE else now:%Y-%m-%d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SidePoolConfig(PoolConfig):
    """Participants besides the champion, which always plays."""

    agents: tuple[str, ...] = ("rule", "random")
    """Scripted agents, folders of nets (``runs/RUN/learning``), their addresses in a bucket
    (``s3://bucket/runs/RUN/learning``) and in the model registry (``models:/NAME/VERSION``). Nets among them are for
    comparison only: they cannot become the champion."""


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
class SideTournamentRecipe(AnyTournamentRecipe):
    """All settings of a tournament in a game of two sides."""

    game: Literal["doudizhu"] = "doudizhu"
    """The game. Recipes without this key are for riichi."""
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

    def __post_init__(self) -> None:
        AnyTournamentRecipe.__post_init__(self)
        agents = candidate_game(self.game).agents
        if self.leaderboard.anchor not in agents:
            raise ValueError(f"leaderboard.anchor is {self.leaderboard.anchor!r}: use {' or '.join(agents)}")
        if self.decision.opponent and self.decision.opponent not in agents:
            raise ValueError(f"decision.opponent is {self.decision.opponent!r}: use {' or '.join(agents)}, or none")
