"""The recipe of a tournament: who plays, how much, and what it takes to become the champion."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from suphx.evaluation.match_config import HANCHANS, MAX_SIDE_DECKS, MIN_CLUSTERS, SEATS
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential_test import FIRST_LOOK
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import DEFAULT_GAME, agent_names, find_game
from suphx.number_range import Processes, Range, check_ranges
from suphx_pipelines.recipe.recipe_file import AnyRecipe
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import RegistryConfig

_CRON_JOB, _ZONE = "SUPHX_CRON_JOB", "SUPHX_TIME_ZONE"
"""Name of the Job that a CronJob created: it ends with the minutes from 1970 to the time for which it was scheduled. Or
of the RayCluster of a RayCronJob, which has five characters more."""
_LATE = timedelta(days=2)
"""A name with another number is not that of a CronJob's Job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """Participants besides the champion, which always plays."""

    agents: tuple[str, ...] | None = None
    """Agents (docs/agents.md): scripted ones, folders of nets, addresses of nets in a bucket (``s3://…``) and in the
    model registry (``models:/NAME/VERSION``), of riichi also programs (``mjai:COMMAND LINE``).
    Nets among them are for comparison only: they cannot become the champion. Default: the game's scripted agents."""
    newest: Annotated[int, Range(0, 1000)] = 3
    """Number of newest checkpoints that play; one of them may become the champion. Not in Dazhong."""
    newest_from: str = ""
    """Where to look for them: a folder of runs, or ``s3://bucket/prefix`` (the ``storage.address`` of runs). Empty: the
    tournament's own storage if that is a bucket, else its folder of runs."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.agents is not None and len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents is {list(self.agents)}: name each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardConfig:
    """Games for the ratings. They add to those of earlier nights."""

    games: Annotated[int, HANCHANS] = 1000
    """Games of a night: whole deals (4 games each, in a game of two sides 2), and for each agent at least one lineup
    (4 games of riichi, 40 of DouDizhu, 80 of Dazhong). Lineups are chosen so that the ratings become precise: agents
    that may be the best, and those with the fewest games, play more often."""
    anchor: str | None = None
    """Agent that always has 1,000 rating points, so that nights can be compared. If it has never played, the mean of
    all agents has 1,000. By default the strongest scripted agent of the game."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionConfig:
    """The deciding match: the newest checkpoint with the best rating against champions, on fresh deals."""

    games: Annotated[int, HANCHANS] = 4000
    """Maximum number of games of the deciding match: at least 24 whole deals. It stops as soon as ``test`` has decided;
    without a decision the result is undecided and nothing is promoted."""
    fresh_games: Annotated[int, HANCHANS] = 1000
    """Games on new deals after a pass: at least 6 whole deals. Only their figures are published: those of the deciding
    match are too good on average."""
    opponent: str | None = None
    """Opponent of the first candidate while there is no champion; empty: none, the first candidate becomes the
    champion. By default the strongest scripted agent of the game."""
    test: SequentialConfig = field(default_factory=SequentialConfig)
    """Sequential test that decides about the promotion."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentRecipe(AnyRecipe):
    """All settings of a tournament."""

    free_keys: ClassVar[tuple[str, ...]] = (*AnyRecipe.free_keys, "on_ray", "workers")
    game: str | None = None
    """The game; recipes without this key are for riichi."""
    rules: Rules | None = None
    """Options of the rules of DouDizhu. Nets that learned other moves cannot play."""
    night: str = ""
    """A tournament is played once per night; repeating the same recipe returns the same result. Empty: today's date
    (UTC)."""
    draw_lanes: bool = True
    """Whether each seat draws from its own positions of the wall, so fewer games are needed (docs/evaluation.md); in
    games that have them."""
    workers: Processes = 2
    """Processes that play; the result does not depend on it."""
    on_ray: bool = False
    """Play on a Ray cluster, where each of the ``workers`` takes a CPU: that of ``RAY_ADDRESS``, otherwise a new one on
    this machine."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    """Participants."""
    leaderboard: LeaderboardConfig = field(default_factory=LeaderboardConfig)
    """Games for the ratings."""
    decision: DecisionConfig = field(default_factory=DecisionConfig)
    """Match that decides about the promotion."""
    registry: RegistryConfig = field(default_factory=RegistryConfig)
    """Where the champion is registered. Agents of other games need another model: by default one with the name of the
    game."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Where results are kept besides the folder of runs, and how buckets are reached."""

    def __post_init__(self) -> None:
        AnyRecipe.__post_init__(self)
        if "/" in self.night or "'" in self.night:
            raise ValueError(f"night is {self.night!r}: use a date such as 2026-11-21, or another name without / and '")
        game = find_game(self.game_name)
        if self.rules is not None and not game.has_sides:
            raise ValueError(f"rules are options of DouDizhu, which {game.title} does not have: omit them")
        per_deal = 2 if game.has_sides else SEATS
        most = per_deal * MAX_SIDE_DECKS if game.has_sides else HANCHANS.high
        for key, number, num_deals in (
            ("leaderboard.games", self.leaderboard.games, 2),
            ("decision.games", self.decision.games, FIRST_LOOK),
            ("decision.fresh_games", self.decision.fresh_games, MIN_CLUSTERS),
        ):
            if not per_deal * num_deals <= number <= most or number % per_deal:
                allowed = f"a multiple of {per_deal}, {per_deal * num_deals} to {most:,}"
                raise ValueError(f"{key} is {number}: use {allowed}")
        scripted = agent_names(game.name)[::-1]
        pool, board, decision, registry = self.pool, self.leaderboard, self.decision, self.registry
        if pool.agents is None:
            pool = replace(pool, agents=scripted)
        if board.anchor is None:
            board = replace(board, anchor=scripted[0])
        elif game.has_sides and board.anchor not in (*scripted, *(pool.agents or ())):
            raise ValueError(f"leaderboard.anchor is {board.anchor!r}: use {', '.join(scripted)} or one of pool.agents")
        if decision.opponent is None:
            decision = replace(decision, opponent=scripted[0])
        if game.has_sides:
            if decision.test.decides == "points" or decision.test.seating != "1v3":
                raise ValueError("decision.test.decides and seating are for four seats: omit them")
            decision = replace(decision, test=replace(decision.test, decides="share"))
        elif decision.test.decides == "share":
            raise ValueError("decision.test.decides is share, which is for two sides: use placement or points")
        if game.name != DEFAULT_GAME and registry.model == RegistryConfig().model:
            registry = replace(registry, model=game.name)
        for key, value in {"pool": pool, "leaderboard": board, "decision": decision, "registry": registry}.items():
            object.__setattr__(self, key, value)

    @property
    def game_name(self) -> str:
        """Name of the game in the registry."""
        return self.game or DEFAULT_GAME


def tonight() -> str:
    """Return the name of a night that the recipe does not name: today's date (UTC).

    In a Job of a CronJob, or a RayJob of a RayCronJob, whose name and time zone the chart gives: the date for which it
    was scheduled. A pod that starts again after midnight continues with its night.
    """
    zone: tzinfo = UTC
    with suppress(ValueError, ZoneInfoNotFoundError):  # Kubernetes knows it, this machine does not
        zone = ZoneInfo(os.environ.get(_ZONE) or "UTC")
    now = datetime.now(zone)
    number = re.search(r"-(\d{8,9})(-[a-z0-9]{5})?$", os.environ.get(_CRON_JOB, ""))
    scheduled = datetime.fromtimestamp(60 * int(number[1]), now.tzinfo) if number else now
    return f"{scheduled if abs(now - scheduled) < _LATE else now:%Y-%m-%d}"
