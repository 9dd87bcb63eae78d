"""Games for the ratings of many agents: rounds of four different agents, on walls that nobody has played.

Each lineup plays its wall four times with rotated seats, so that the luck of seats and walls counts less. Who plays is
chosen round by round from all games so far (lineup_choice.py), those of earlier nights included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from suphx.evaluation.rating.lineup_choice import GAMES_PER_WALL, choose_lineups
from suphx.evaluation.rating.rated_games import Four, RatedGame
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.evaluation.workers.forfeits import ForfeitedSeats, counted_places
from suphx.evaluation.workers.game_task import GameTask, LoadAgent, Summary, Workers
from suphx.evaluation.workers.game_workers import play_tasks, wall_seeds
from suphx.evaluation.workers.kept_results import KeptResults
from suphx.games.riichi import GameLog, Rules, game_row, tenhou
from suphx.kernel.record import I8, I64
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games

SEATS = 4
NoteGames = Callable[[Sequence[RatedGame], Mapping[str, I64]], None]
"""Gets the games of a wall, and what each agent (by digest) did in them: the sum of ``game_row``."""
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


def play_tournament(
    players: Sequence[Player],
    *,
    num_hanchans: int,
    seed: int,
    anchor: str,
    before: Iterable[RatedGame] = (),
    workers: Workers = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    load: LoadAgent = load_agent,
    progress: Callable[[float], None] = lambda games: None,
    kept: KeptResults | None = None,
    note_forfeit: Callable[[str, str], None] = lambda digest, reason: None,
    note_games: NoteGames = lambda games, rows: None,
) -> list[RatedGame]:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) and return them, wall by wall.

    ``before`` are the games of earlier nights and ``anchor`` the digest of the agent whose strength is fixed: both
    decide who plays. Walls follow from ``seed``. ``progress`` is called with parts of games while they are played;
    what ``kept`` has of the same games is not played again. The result does not depend on ``workers``, nor on the order
    of ``players``: they count in the order of their digests. ``note_forfeit`` gets the digest of an agent that could
    not play a game to its end, and why: in its ``places`` this agent is last. ``note_games`` gets games in any order.
    ValueError for fewer than four players, an unknown agent or a wrong number, ChildProcessError if a process dies.
    """
    if num_hanchans < 2 * GAMES_PER_WALL or num_hanchans % GAMES_PER_WALL:
        raise ValueError(f"{num_hanchans} hanchans: use a multiple of 4 (the seats), and at least 8 (two walls)")
    players = sorted(players, key=lambda player: player.digest)
    earlier, games = list(before), list[RatedGame]()
    walls = wall_seeds(seed, num_hanchans // GAMES_PER_WALL)
    digests = [player.digest for player in players]
    for part in np.array_split(np.arange(len(walls)), min(ROUNDS, len(walls))):
        lineups = choose_lineups(chain(earlier, games), digests, len(part), anchor=anchor)
        tasks = [_task(lineup, number, walls, players) for lineup, number in zip(lineups, part.tolist(), strict=True)]
        played: dict[int, list[RatedGame]] = {}
        for index, summary in play_tasks(
            [player.address for player in players],
            [str(number) for number in range(len(players))],
            tasks,
            summarise=_summarise,
            rules=rules or tenhou(),
            has_draw_lanes=has_draw_lanes,
            workers=workers,
            load=load,
            kept=kept,
            progress=progress,
            note_forfeit=lambda agent, reason: note_forfeit(digests[agent], reason),
        ):
            played[index] = _rated_games(tasks[index], summary, digests)
            note_games(played[index], _rows(summary, digests))
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
    records: Path,
    has_draw_lanes: bool = True,
    load: LoadAgent = load_agent,
    progress: Callable[[float], None] = lambda games: None,
) -> dict[int, list[list[int]]]:
    """Play games of a tournament again and return the place of each seat, 1-4, that counts, by wall and game.

    ``walls``: number of a wall -> its games; ``players`` have the digests of all who played. Each wall's records are
    written to a file in the folder ``records``. ValueError for an unknown agent.
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
    found = play_tasks(
        [player.address for player in players],
        [player.name for player in players],
        tasks,
        summarise=_summarise_places,
        rules=tenhou(),
        has_draw_lanes=has_draw_lanes,
        workers=1,
        load=load,
        progress=progress,
        records=records,
    )
    places = {index: summary["places"] for index, summary in found}
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
    for agent, digest in zip(agents, game.seats, strict=True):
        agent.name = by_digest[digest].name
    seating = np.arange(SEATS)[np.newaxis]
    (log,) = play_games(agents, seating, (game.wall,), tenhou(), has_draw_lanes=has_draw_lanes, progress=progress)
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


def _rows(summary: Summary, digests: Sequence[str]) -> dict[str, I64]:
    """Return the rows of a summary by digest; in it agents go by their numbers."""
    return {digests[int(name)]: np.array(row, np.int64) for name, row in summary["rows"].items()}


def _rated_games(task: GameTask, summary: Summary, digests: Sequence[str]) -> list[RatedGame]:
    games = []
    for wall, seats, places in zip(task.seeds, task.seating.tolist(), summary["places"], strict=True):
        first, second, third, fourth = (digests[seat] for seat in seats)
        games.append(RatedGame(wall, (first, second, third, fourth), tuple(places)))
    return games


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
