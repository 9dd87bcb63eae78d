"""Games for the ratings of many agents: rounds of four different agents, on the walls of one seed.

Each lineup plays its wall four times with rotated seats, so that the luck of seats and walls counts less. Who plays is
chosen round by round from all games so far (tournament.py), those of earlier nights included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from suphx.evaluation.rating.rated_games import Four, RatedGame
from suphx.evaluation.rating.rating import Standing
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.evaluation.workers.forfeits import ForfeitedSeats, counted_places
from suphx.evaluation.workers.game_runner import ONE_PROCESS, GameRunner, PlayedTask
from suphx.evaluation.workers.game_task import GamePlan, GameTask, LoadAgent, default_rules
from suphx.evaluation.workers.play_plan import Summary, wall_seeds
from suphx.games.riichi import GameLog, Rules, game_row
from suphx.kernel.record import I8, I64
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games

GAMES_PER_WALL = 4


def choose_lineups(games: Iterable[RatedGame], agents: Sequence[str], num_walls: int, *, anchor: str) -> list[Four]:
    """Return the lineup of each of the next ``num_walls`` walls: four different indices into ``agents``, ascending.

    ``agents`` are the digests of those who can play; others may be in ``games``. The same set of games gives the same
    lineups. ValueError for fewer than four agents.
    """
    standing = Standing(games, agents, anchor=anchor, least=4)
    lineups: list[Four] = []
    for _ in range(num_walls):
        upper, counts = standing.upper_bounds(standing.covariance()), standing.counts
        rare = min(standing.there, key=lambda agent: (counts[agent], -upper[agent], agent))
        others = sorted((agent for agent in standing.there if agent != rare), key=lambda agent: (-upper[agent], agent))
        first, second, third, fourth = standing.count([rare, *others[:3]], GAMES_PER_WALL)
        lineups.append((first, second, third, fourth))
    return lineups


SEATS = 4
ROUNDS = 4
"""Times that lineups are chosen: each begins the processes again, and the later ones know more."""


@dataclass(frozen=True, slots=True)
class Player:
    """An agent of a tournament."""

    digest: str
    """Of its nets, or its name if it has none: the same in all nights."""
    address: str
    """For ``load``."""
    name: str
    """In errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentSetup:
    """Who plays, by which rules and on which walls; from earlier games follows who meets whom."""

    players: Sequence[Player]
    """At least four; they count in the order of their digests."""
    anchor: str
    """Digest of the agent whose strength is fixed."""
    seed: int
    """Of the walls."""
    earlier: Sequence[RatedGame] = ()
    """Of other nights."""
    rules: Rules = field(default_factory=default_rules)
    has_draw_lanes: bool = True


@dataclass(frozen=True, slots=True)
class PlayedWall:
    """The games of a lineup on a wall. Agents are named by their digests."""

    games: list[RatedGame]
    """A seat that could not play its game to the end is last in it."""
    rows: dict[str, I64]
    """What each agent did: the sum of ``game_row``."""
    forfeits: list[tuple[str, str]]
    """Agents that could not play a game to its end, and why."""


def play_tournament(
    setup: TournamentSetup,
    num_hanchans: int,
    *,
    runner: GameRunner = ONE_PROCESS,
    note_wall: Callable[[PlayedWall], None] = lambda wall: None,
) -> list[RatedGame]:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) and return them, wall by wall.

    The result does not depend on the workers, nor on the order of the players. ``note_wall`` gets walls in any order.
    ValueError for fewer than four players, an unknown agent or a wrong number, ChildProcessError if a process dies.
    """
    if num_hanchans < 2 * GAMES_PER_WALL or num_hanchans % GAMES_PER_WALL:
        raise ValueError(f"{num_hanchans} hanchans: use a multiple of 4 (the seats), and at least 8 (two walls)")
    players = sorted(setup.players, key=lambda player: player.digest)
    digests = [player.digest for player in players]
    plan = GamePlan(
        addresses=tuple(player.address for player in players),
        names=tuple(str(number) for number in range(len(players))),
        summarise=_summarise,
        rules=setup.rules,
        has_draw_lanes=setup.has_draw_lanes,
    )
    walls = wall_seeds(setup.seed, num_hanchans // GAMES_PER_WALL)
    games = list[RatedGame]()
    for part in np.array_split(np.arange(len(walls)), min(ROUNDS, len(walls))):
        lineups = choose_lineups(chain(setup.earlier, games), digests, len(part), anchor=setup.anchor)
        tasks = [_task(lineup, number, walls, players) for lineup, number in zip(lineups, part.tolist(), strict=True)]
        played: dict[int, list[RatedGame]] = {}
        for task in runner.play(plan, tasks):
            wall = _played_wall(tasks[task.index], task, digests)
            played[task.index] = wall.games
            note_wall(wall)
        games += [game for index in sorted(played) for game in played[index]]
    return games


def _task(lineup: Four, number: int, walls: range, players: Sequence[Player]) -> GameTask:
    """Return the four games of a lineup on a wall: rotation after rotation of an order that changes with the wall."""
    order = np.random.default_rng(walls[number]).permutation(SEATS)
    return GameTask(
        seating=np.array([np.array(lineup)[np.roll(order, rotation)] for rotation in range(SEATS)]),
        seeds=(walls[number],) * SEATS,
        key=f"wall-{number + 1}-agents-{_digest(players[agent].digest for agent in lineup)}",
        title=f"{', '.join(players[agent].name for agent in lineup)} on wall {number + 1} of {len(walls)}",
    )


def _digest(agents: Iterable[str]) -> str:
    """Return a short name of a lineup that follows from who plays, not from their order in the pool."""
    return hashlib.sha256("\n".join(agents).encode()).hexdigest()[:16]


def replay_walls(
    players: Sequence[Player],
    walls: Mapping[int, Sequence[RatedGame]],
    *,
    has_draw_lanes: bool = True,
    runner: GameRunner = ONE_PROCESS,
) -> dict[int, list[list[int]]]:
    """Play games of a tournament again and return the place of each seat, 1-4, that counts, by wall and game.

    ``walls``: number of a wall -> its games; ``players`` have the digests of all who played. ``runner.records`` gets a
    file for each wall. ValueError for an unknown agent.
    """
    numbers = {player.digest: number for number, player in enumerate(players)}
    tasks = [
        GameTask(
            seating=np.array([[numbers[digest] for digest in game.seats] for game in games]),
            seeds=tuple(game.wall for game in games),
            key=f"wall-{number}",
            title=f"wall {number}",
        )
        for number, games in walls.items()
    ]
    plan = GamePlan(
        addresses=tuple(player.address for player in players),
        names=tuple(player.name for player in players),
        summarise=_summarise_places,
        has_draw_lanes=has_draw_lanes,
    )
    places = {played.index: played.summary["places"] for played in runner.play(plan, tasks)}
    return {number: places[index] for index, number in enumerate(walls)}


def replay_game(
    players: Sequence[Player],
    game: RatedGame,
    *,
    has_draw_lanes: bool = True,
    load: LoadAgent = load_agent,
    progress: Callable[[float], None] | None = None,
) -> GameLog:
    """Play one game of a tournament again and return it; agents that depend on time may play it differently.

    ``players`` have the digests of all who played; ``progress`` is called with parts of the game, whose sum is 1.
    ValueError for an unknown agent.
    """
    by_digest = {player.digest: player for player in players}
    agents = [load(by_digest[digest].address) for digest in game.seats]
    seating = np.arange(SEATS)[np.newaxis]
    (log,) = play_games(
        agents,
        seating,
        (game.wall,),
        default_rules(),
        has_draw_lanes=has_draw_lanes,
        names=[by_digest[digest].name for digest in game.seats],
        progress=progress,
    )
    return log


def _summarise_places(logs: Sequence[GameLog], forfeited: ForfeitedSeats) -> Summary:
    """Return ``places``: the place of each seat, 1-4, that counts in each game."""
    return {"places": counted_places(np.array([log.final_scores for log in logs]), forfeited).tolist()}


def _summarise(logs: Sequence[GameLog], forfeited: ForfeitedSeats) -> Summary:
    """Return also ``rows``: the sum of ``game_row`` of each agent."""
    summary = _summarise_places(logs, forfeited)
    games = list(zip(logs, summary["places"], strict=True))
    rows = {name: [row for log, own in games if (row := game_row(log, name, own))] for name in sorted(logs[0].names)}
    return summary | {"rows": {name: np.sum(lines, axis=0).tolist() for name, lines in rows.items()}}


def _played_wall(task: GameTask, played: PlayedTask, digests: Sequence[str]) -> PlayedWall:
    """Return what came of a task, in which agents go by their numbers."""
    games = []
    for wall, seats, places in zip(task.seeds, task.seating.tolist(), played.summary["places"], strict=True):
        first, second, third, fourth = (digests[seat] for seat in seats)
        games.append(RatedGame(wall, (first, second, third, fourth), tuple(places)))
    rows = {digests[int(name)]: np.array(row, np.int64) for name, row in played.summary["rows"].items()}
    return PlayedWall(games, rows, [(digests[agent], reason) for agent, reason in played.forfeits])


def placements_of(games: Iterable[RatedGame], agent: str) -> I8:
    """Return all places of an agent (its digest), int8 [games]."""
    return np.array([game.places[game.seats.index(agent)] for game in games if agent in game.seats], np.int8)


def head_to_head(games: Iterable[RatedGame], first: str, second: str) -> PairedDifference:
    """Return the placement of ``first`` minus that of ``second`` over the games that both played; negative is better.

    ValueError if they never met.
    """
    shared = [game for game in games if first in game.seats and second in game.seats]
    if not shared:
        raise ValueError(f"agents {first} and {second} have not met")
    walls: I64 = np.array([game.wall for game in shared], np.int64)
    return paired_difference(placements_of(shared, first), placements_of(shared, second), walls)
