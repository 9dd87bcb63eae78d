"""A tournament: all lineups of four different agents on shared walls, every lineup at all four rotations of the seats.

Each pair of agents meets in many lineups, where both play the same seats of the same walls against the same two others
in the same games: the difference of their placements is paired, and the luck of walls and seats cancels. Walls are the
clusters of the bootstrap, since all games of a wall share its luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.game_workers import GameTask, LoadAgent, play_tasks, wall_seeds
from suphx.evaluation.player_statistics import placement_of
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.riichi.gamelog import GameLog
from suphx.riichi.record import I8
from suphx.riichi.rules import Rules, tenhou
from suphx.selfplay.agent import load_agent

SEATS = 4
Lineup = tuple[int, int, int, int]
"""Four different agents, ascending, as places among all agents."""
_WALLS_PER_TASK = 32


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
    workers: int = 1,
    rules: Rules | None = None,
    load: LoadAgent = load_agent,
    progress: Callable[[int], None] = lambda count: None,
) -> Iterator[LineupResult]:
    """Play ``4 * num_walls`` games of each lineup and yield its result when they are over, lineup after lineup.

    ``addresses`` of all agents, for ``load``; walls follow from ``seed`` and are the same for every lineup.
    ``progress`` is told the number of games that ended. ValueError for fewer than two walls or an unknown agent.
    """
    if num_walls < 2:
        raise ValueError(f"{num_walls} walls: use at least two, as one says nothing of how much results scatter")
    parts = [range(start, min(start + _WALLS_PER_TASK, num_walls)) for start in range(0, num_walls, _WALLS_PER_TASK)]
    tasks = [_task(lineup, part, seed, num_walls) for lineup in lineups for part in parts]
    names = [str(number) for number in range(len(addresses))]
    games = play_tasks(addresses, names, tasks, rules=rules or tenhou(), workers=workers, load=load)
    for lineup in lineups:
        placements = np.empty((num_walls, SEATS, SEATS), np.int8)
        for part in parts:
            logs = next(games)
            progress(len(logs))
            places = [_placements(log, lineup) for log in logs]
            placements[part.start : part.stop] = np.array(places, np.int8).reshape(-1, SEATS, SEATS)
        yield LineupResult(lineup, placements)


def _task(lineup: Lineup, walls: range, seed: int, num_walls: int) -> GameTask:
    """Return the games of one lineup on some walls: rotation after rotation of an order that changes with the wall."""
    seeds = wall_seeds(seed, num_walls)
    seating = []
    for wall in walls:
        order = np.random.default_rng((seed, wall)).permutation(SEATS)
        seating += [np.array(lineup)[np.roll(order, rotation)] for rotation in range(SEATS)]
    return GameTask(np.array(seating), tuple(seeds[wall] for wall in walls for _ in range(SEATS)))


def _placements(log: GameLog, lineup: Lineup) -> list[int]:
    assert log.final_scores is not None
    return [placement_of(log.final_scores, log.names.index(str(agent))) for agent in lineup]


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
