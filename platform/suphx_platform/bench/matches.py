"""What a match costs: time of the processes that play, memory, and games that a sequential match saves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from suphx.evaluation.game_runner import GamePlan, GameRunner, GameTask, Summary, summary_of
from suphx.evaluation.match import MatchSetup, play_match
from suphx.evaluation.match_config import SEATS
from suphx.evaluation.measures import PLACEMENT, SequentialConfig
from suphx.evaluation.sequential_test import MeasuredWalls, simulate_matches
from suphx.games.game import Agent, Game, PlayedGame
from suphx.games.riichi.benchmark import observed_tables
from suphx.games.riichi.rules import Rules
from suphx.games.scoring import Forfeited
from suphx.kernel.record import I64, Records
from suphx.selfplay.agents.agent import NetAgent, load_agent
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx.selfplay.rollouts.rollout import SeatedGame, play_stream
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.bench.selfplay import play_in_threads
from suphx_platform.bench.selfplay_alone import SelfplayCase
from suphx_platform.ray.process import private_bytes

_WALLS_PER_TASK = 16
_FIRST_SHARE, _LAST_SHARE = 0.15, 0.7
"""Of the games: before, processes start and deals end all at once; afterwards tables are left without a game."""


def bench_match(
    folder: Path,
    *,
    num_hanchans: int,
    seconds: float,
    seed: int,
    workers: int,
    progress: Callable[[float, str], object] = lambda hanchans, note: None,
) -> dict[str, Any]:
    """Play a match of the nets in ``folder`` with themselves, then self-play with them; return both rates.

    ``ratio``: decisions a second of the match, between ``_FIRST_SHARE`` and ``_LAST_SHARE`` of its games, over those
    of ``suphx bench selfplay`` with ``workers`` simulators and engines, for ``seconds``. A decision is a table at which
    a net is asked, in both. ``whole_match``: the rate over the whole time, with the start of the processes.
    ``progress`` gets played hanchans and a note. ValueError for a folder without nets.
    """
    agent = load_agent(str(folder))
    if not isinstance(agent, NetAgent):
        raise ValueError(f"{folder} has no nets: give a folder of checkpoints, such as runs/RUN/supervised")
    match = _play_match(folder, num_hanchans, seed, workers, lambda hanchans: progress(hanchans, ""))
    progress(0, f"self-play of the same nets for {seconds:g} s")
    case = SelfplayCase(
        encoder=agent.encoder,
        size="tiny",  # of untrained nets, which are not used
        nets="policy",
        num_tables=512,
        num_simulators=workers,
        num_engines=workers,
        num_cores=workers,
        device="cpu",
        on_ray=False,
        rollout_fragment_length=16,
        seconds=seconds,
        seed=seed,
    )
    selfplay = play_in_threads(case, load_policy_set(folder, agent.encoder)).decisions_per_second
    return {
        "agent": str(folder),
        "hanchans": num_hanchans,
        "workers": workers,
        "seed": seed,
        "decisions_per_second": match.rate,
        "selfplay_decisions_per_second": selfplay,
        "ratio": match.rate / selfplay,
        "decisions_per_hanchan": match.decisions / num_hanchans,
        "whole_match": {"seconds": match.seconds, "decisions_per_second": match.decisions / match.seconds},
    }


@dataclass(slots=True)
class _Clock:
    """When which share of the games had been played."""

    num_games: int
    progress: Callable[[float], object]
    games: float = 0.0
    marks: list[tuple[float, float]] = field(default_factory=list)
    """(games, seconds) after each report between the two shares."""

    def advance(self, games: float) -> None:
        self.games += games
        self.progress(games)
        if _FIRST_SHARE <= self.games / self.num_games <= _LAST_SHARE:
            self.marks.append((self.games, time.perf_counter()))

    def games_per_second(self) -> float:
        """Return the rate between the first and the last report; nan with fewer than two."""
        if len(self.marks) < 2:
            return float("nan")
        (first, began), (last, ended) = self.marks[0], self.marks[-1]
        return (last - first) / max(ended - began, 1e-9)


@dataclass(frozen=True, slots=True)
class _Measured:
    decisions: int
    seconds: float
    rate: float
    """Decisions a second without the start and the end."""


def _play_match(
    folder: Path, num_hanchans: int, seed: int, workers: int, progress: Callable[[float], object]
) -> _Measured:
    clock = _Clock(num_hanchans, progress)
    started = time.perf_counter()
    setup = MatchSetup(str(folder), str(folder), seed=seed)
    runner = GameRunner(workers=workers, progress=clock.advance)
    tasks = _tasks(setup.deals(num_hanchans // SEATS))
    played = runner.play(replace(setup.plan(), summarise=_summarise, play=_play_counted), tasks)
    decisions = sum(int(task.summary["decisions"]) for task in played)
    seconds = time.perf_counter() - started
    return _Measured(decisions, seconds, clock.games_per_second() * decisions / num_hanchans)


def _tasks(walls: range) -> list[GameTask]:
    """Return the games of a match 1v3 in the parts that ``play_match`` has."""
    tasks = []
    for first in range(0, len(walls), _WALLS_PER_TASK):
        part = walls[first : first + _WALLS_PER_TASK]
        seats = np.tile(1 - np.eye(SEATS, dtype=np.int64), (len(part), 1))
        seeds = tuple(wall for wall in part for _ in range(SEATS))
        tasks.append(GameTask(seats, seeds, key=f"walls-{first}", title=f"a match on walls {first + 1} and later"))
    return tasks


class _CountingAgent:
    """An agent that knows how many tables have asked its nets."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self.num_asked = 0
        self._agent = agent

    def act(self, tables: Records, indices: I64) -> I64:
        self.num_asked += int(observed_tables(tables, indices).sum())
        moves: I64 = np.asarray(self._agent.act(tables, indices), np.int64)
        return moves


@dataclass(frozen=True, slots=True)
class _CountedGame:
    """A game with the decisions since the one before, of all tables."""

    id: str
    played: PlayedGame
    decisions: int


def _play_counted(
    game: Game, agents: Sequence[Agent], games: Iterator[SeatedGame], rules: Rules, **how: Any
) -> Iterator[_CountedGame]:
    counting = [_CountingAgent(agent) for agent in agents]
    counted = 0
    for played in play_stream(game, counting, games, rules, **how):
        asked = sum(agent.num_asked for agent in counting)
        yield _CountedGame(played.id, played, asked - counted)
        counted = asked


def _summarise(plan: GamePlan, games: Sequence[_CountedGame], forfeited: Forfeited) -> Summary:
    """Return what a match keeps of its games, and their decisions."""
    kept = summary_of(plan, [game.played for game in games], forfeited)
    return kept | {"decisions": sum(game.decisions for game in games)}


_PARTS = 10


def bench_match_memory(
    candidate: str,
    opponent: str,
    *,
    num_hanchans: int,
    seed: int,
    workers: int,
    progress: Callable[[float], None] = lambda games: None,
) -> dict[str, Any]:
    """Play a match and return the memory of its processes after each tenth of the games but the last.

    ``bytes`` [9]: private memory of this process and its workers together; ``ratio``: the last over the first. The last
    tenth is left out, because processes end there. ValueError for an unknown agent or a wrong number of games.
    """
    memory = _Memory(num_hanchans, progress)
    runner = GameRunner(workers=workers, load=load_any_agent, progress=memory.advance)
    play_match(MatchSetup(candidate, opponent, seed=seed), num_hanchans, runner=runner)
    return {
        "candidate": candidate,
        "opponent": opponent,
        "hanchans": num_hanchans,
        "workers": workers,
        "seed": seed,
        "bytes": memory.samples,
        "ratio": memory.samples[-1] / memory.samples[0],
    }


class _Memory:
    """Looks at the memory of this process and its children after each tenth of the games but the last."""

    def __init__(self, num_games: int, progress: Callable[[float], None]) -> None:
        self._num_games = num_games
        self._progress = progress
        self._games = 0.0
        self.samples: list[int] = []

    def advance(self, games: float) -> None:
        self._games += games
        self._progress(games)
        while len(self.samples) < _PARTS - 1 and self._games >= (len(self.samples) + 1) / _PARTS * self._num_games:
            self.samples.append(_processes_bytes())


def _processes_bytes() -> int:
    """Return the private memory of this process and its children; one that has just ended has none."""
    total = private_bytes()
    for child in active_children():
        with suppress(FileNotFoundError, psutil.Error, IndexError):
            total += private_bytes(child.pid)
    return total


EFFECTS = (0.0, 1.0, 2.0)
"""True differences that are simulated, in multiples of the one that is tested."""


def measure_walls(
    candidate: str,
    opponent: str,
    *,
    num_hanchans: int,
    seed: int,
    workers: int,
    progress: Callable[[float], None] = lambda hanchans: None,
) -> I64:
    """Play a match and return the result of each wall, in quarters of a place; ValueError for an unknown agent."""
    runner = GameRunner(workers=workers, load=load_any_agent, progress=progress)
    report = play_match(MatchSetup(candidate, opponent, seed=seed), num_hanchans, runner=runner)
    placements = np.array(report.placements, np.int64).reshape(-1, SEATS)
    sums: I64 = placements.sum(axis=1)
    return sums - sum(PLACEMENT.by_place)


def bench_sequential(
    values: I64,
    *,
    differences: Sequence[float],
    errors: Sequence[float],
    matches: int,
    seed: int,
    progress: Callable[[float], object] = lambda matches: None,
) -> dict[str, Any]:
    """Return what sequential tests of walls with these results, moved to other differences, would decide.

    ``measured``: the difference in places and the standard deviation of a wall, with ``walls`` {value: number}, in
    quarters of a place. ``rows``: for each of ``differences``, ``errors`` and ``EFFECTS`` the share of ``matches`` that
    call the candidate better, the mean number of hanchans and its standard error. ValueError for a wrong number, or
    agents that play alike.
    """
    measured = MeasuredWalls(values, SequentialConfig().gains[0].scale)
    rows = []
    for number, (difference, error) in enumerate((each, error) for each in differences for error in errors):
        rng = np.random.default_rng([seed, number])
        test = SequentialConfig(difference=difference, error=error).test()
        for effect in EFFECTS:
            walls = measured.with_gain(effect * difference)
            result = simulate_matches(test, walls, matches=matches, rng=rng)
            rows.append({"difference": difference, "error": error, "true_difference": -effect * difference})
            rows[-1] |= asdict(result)
            progress(matches)
    found, counts = np.unique(values, return_counts=True)
    return {
        "measured": {
            "difference": -measured.gain,
            "standard_deviation": measured.standard_deviation,
            "walls": {str(value): count for value, count in zip(found.tolist(), counts.tolist(), strict=True)},
        },
        "rows": rows,
    }
