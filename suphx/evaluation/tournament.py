"""A tournament: all lineups of four different agents on shared walls, every lineup at all four rotations of the seats.

Each pair of agents meets in many lineups, where both play the same seats of the same walls against the same two others
in the same games: the difference of their placements is paired, and the luck of walls and seats cancels. Walls are the
clusters of the bootstrap, since all games of a wall share its luck.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.game_workers import GameTask, LoadAgent, Summary, play_tasks, wall_seeds
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.games.riichi import GameLog, Rules, places_of_scores, tenhou
from suphx.kernel.record import I8
from suphx.selfplay.agents.agent import load_agent

SEATS = 4
Lineup = tuple[int, int, int, int]
"""Four different agents, ascending, as places among all agents."""
_WALLS_PER_TASK = 16


@dataclass(frozen=True, slots=True)
class LineupResult:
    """The games of one lineup."""

    lineup: Lineup
    placements: I8
    """int8 [walls, 4 rotations, 4 agents]: place 1-4 of each agent of the lineup."""


def all_lineups(num_agents: int) -> list[Lineup]:
    """Return every four of the agents; ValueError for fewer than four."""
    if num_agents < SEATS:
        raise ValueError(f"{num_agents} agents: a tournament needs at least {SEATS}, add baselines")
    return list(combinations(range(num_agents), SEATS))  # type: ignore[arg-type]  # four each


def play_lineups(
    addresses: Sequence[str],
    lineups: Sequence[Lineup],
    *,
    num_walls: int,
    seed: int,
    names: Sequence[str] | None = None,
    workers: int = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    load: LoadAgent = load_agent,
    progress: Callable[[float], None] = lambda games: None,
    kept: KeptResults | None = None,
) -> list[LineupResult]:
    """Play ``4 * num_walls`` games of each lineup and return their results in the order of ``lineups``.

    ``addresses`` of all agents, for ``load``, and their ``names`` in errors; walls follow from ``seed`` and are the
    same for every lineup. ``progress`` is called with parts of games while they are played; what ``kept`` has of
    the same agents and walls is not played again. ValueError for fewer than two walls or an unknown agent,
    ChildProcessError if a process dies.
    """
    if num_walls < 2:
        raise ValueError(f"{num_walls} walls: use at least two, as one says nothing of how much results scatter")
    parts = [range(start, min(start + _WALLS_PER_TASK, num_walls)) for start in range(0, num_walls, _WALLS_PER_TASK)]
    places = [(lineup, part) for lineup in range(len(lineups)) for part in parts]
    tasks = [_task(lineups[lineup], part, seed, num_walls, names or addresses) for lineup, part in places]
    placements = np.zeros((len(lineups), num_walls, SEATS, SEATS), np.int8)
    for number, summary in play_tasks(
        addresses,
        [str(number) for number in range(len(addresses))],
        tasks,
        summarise=_summarise,
        rules=rules or tenhou(),
        has_draw_lanes=has_draw_lanes,
        workers=workers,
        load=load,
        kept=kept,
        progress=progress,
    ):
        lineup, part = places[number]
        games = np.array(summary["placements"], np.int8)
        placements[lineup, part.start : part.stop] = games.reshape(-1, SEATS, SEATS)
    return [LineupResult(lineup, placements[number]) for number, lineup in enumerate(lineups)]


def _task(lineup: Lineup, walls: range, seed: int, num_walls: int, names: Sequence[str]) -> GameTask:
    """Return the games of one lineup on some walls: rotation after rotation of an order that changes with the wall."""
    seeds = wall_seeds(seed, num_walls)
    seating = []
    for wall in walls:
        order = np.random.default_rng((seed, wall)).permutation(SEATS)
        seating += [np.array(lineup)[np.roll(order, rotation)] for rotation in range(SEATS)]
    first, last = walls.start + 1, walls.stop
    return GameTask(
        seating=np.array(seating),
        seeds=tuple(seeds[wall] for wall in walls for _ in range(SEATS)),
        key=f"lineup-{'-'.join(map(str, lineup))}-walls-{first}-{last}",
        title=f"{', '.join(names[agent] for agent in lineup)} on walls {first} to {last} of {num_walls}",
    )


def _summarise(logs: Sequence[GameLog]) -> Summary:
    """Return the places of the lineup's agents, who go by their numbers, in each game."""
    places = []
    for log in logs:
        assert log.final_scores is not None
        seats = [log.names.index(name) for name in sorted(log.names, key=int)]
        places.append(places_of_scores(np.array([log.final_scores]))[0, seats].tolist())
    return {"placements": places}


def placements_of(results: Sequence[LineupResult], agent: int) -> I8:
    """Return all places of an agent, int8 [games]."""
    own = [result.placements[..., result.lineup.index(agent)] for result in results if agent in result.lineup]
    places: I8 = np.concatenate([places.ravel() for places in own])
    return places


def head_to_head(results: Sequence[LineupResult], first: int, second: int) -> PairedDifference:
    """Return the placement of ``first`` minus that of ``second`` over the games that both played; negative is better.

    ValueError if they never met.
    """
    shared = [result for result in results if first in result.lineup and second in result.lineup]
    if not shared:
        raise ValueError(f"agents {first} and {second} have not met")
    places: list[NDArray[np.int8]] = []
    for agent in (first, second):
        places.append(np.stack([result.placements[..., result.lineup.index(agent)] for result in shared], axis=1))
    num_walls = len(places[0])
    clusters = np.repeat(np.arange(num_walls), places[0][0].size)
    return paired_difference(places[0].ravel(), places[1].ravel(), clusters)
