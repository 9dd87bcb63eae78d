"""Games for the ratings of many agents: lineups of different agents, on the deals of one seed.

A lineup has an agent for each party of the game: four seats, or two sides. It plays each of its deals in all games of
the deal, with rotated seats or swapped sides, so that the luck of seats and deals counts less; in games of two sides it
plays a block of deals at a time, because nets answer many tables faster than one. Where points decide, all games of a
deal are one result: the sums of the points. Who plays is chosen round by round from all games so far, those of earlier
nights included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.game_runner import ONE_PROCESS, GamePlan, GameRunner, GameTask, PlayedTask
from suphx.evaluation.rating import RatedGame, Standing
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.games.game import Game
from suphx.games.registry import DEFAULT_GAME, load_game
from suphx.games.scoring import SeatScoring, SideScoring, shared_ranks
from suphx.kernel.record import I8, I64

ROUNDS = 4
"""Times that lineups are chosen: each begins the processes again, and the later ones know more."""
_LEAST_DEALS = 2
"""One has no interval."""
Lineup: TypeAlias = tuple[int, ...]
"""Different indices into the agents who can play, ascending."""


def choose_lineups(
    games: Iterable[RatedGame],
    agents: Sequence[str],
    num_lineups: int,
    *,
    size: int,
    games_per_lineup: int,
    anchor: str,
    num_before: int = 0,
) -> list[Lineup]:
    """Return the next ``num_lineups`` lineups of ``size`` agents.

    ``agents`` are the digests of those who can play; others may be in ``games``. ``games_per_lineup``: games of each
    until the next one is chosen. ``num_before``: lineups that earlier calls have chosen for the same night. The same
    set of games gives the same lineups. ValueError for too few agents.
    """
    standing = Standing(games, agents, anchor=anchor, least=size)
    lineups: list[Lineup] = []
    for number in range(num_before, num_before + num_lineups):
        if size == 2:
            chosen = _pair(standing, number, games_per_lineup)
        else:  # the agent with the fewest games, and those who may be the best
            upper, counts, there = standing.upper_bounds(standing.covariance()), standing.counts, standing.there
            rare = min(there, key=lambda agent: (counts[agent], -upper[agent], agent))
            others = sorted((agent for agent in there if agent != rare), key=lambda agent: (-upper[agent], agent))
            chosen = [rare, *others[: size - 1]]
        lineups.append(standing.count(chosen, games_per_lineup))
    return lineups


def _pair(standing: Standing, number: int, num_games: int) -> list[int]:
    """Return two agents whose games say most: of every second pair one has the fewest games, of the others one is the
    challenger of the best one."""
    there, counts, leader = standing.there, standing.counts, standing.leader
    covariance = standing.covariance()
    upper = standing.upper_bounds(covariance)
    challenger = max((agent for agent in there if agent != leader), key=lambda agent: (upper[agent], -agent))
    rare = min(there, key=lambda agent: (counts[agent], agent))
    chosen = rare if number % 2 == 0 or not counts[rare] else challenger
    goal = challenger if chosen == leader else chosen

    def gain(other: int) -> float:
        """Return by how much the games reduce the variance of the difference of the goal's and leader's strengths."""
        chance = 1 / (1 + np.exp(standing.strengths[other] - standing.strengths[chosen]))
        information = num_games * chance * (1 - chance)
        column = covariance[chosen] - covariance[other]
        reduced = information * (column[goal] - column[leader]) ** 2
        return float(reduced / (1 + information * (column[chosen] - column[other])))

    return [chosen, max((agent for agent in there if agent != chosen), key=lambda agent: (gain(agent), -agent))]


@dataclass(frozen=True, slots=True)
class Player:
    """An agent of a tournament."""

    digest: str
    """Of its nets, or its name if it has none: the same in all nights."""
    address: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentSetup:
    """Who plays, by which rules and on which deals; from earlier games follows who meets whom."""

    players: Sequence[Player]
    """At least one for each party of the game; they count in the order of their digests."""
    anchor: str
    """Digest of the agent whose strength is fixed."""
    seed: int = 0
    earlier: Sequence[RatedGame] = ()
    game: str = DEFAULT_GAME
    rules: Any = None
    """None: those of the game without options."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the game's tables, where they are not those of its scoring."""
    first_deal: int | None = None
    """Seed of the first deal, the next ones have the next seeds; None: ``Scoring.first_deal`` of ``seed``."""


@dataclass(frozen=True, slots=True)
class PlayedLineup:
    """The games of a lineup on its deals. Agents are named by their digests."""

    games: list[RatedGame]
    """A party that could not play its game to the end is last in it."""
    points: dict[str, list[float]]
    """Agent -> sum of its points as each party."""
    rows: dict[str, I64]
    """What each agent did: the sums of the game's counters."""
    forfeits: list[tuple[str, str]]
    """Agents that could not play a game to its end, and why."""
    ranking: dict[str, float] = field(default_factory=dict)
    """Where points decide: agent -> its ranking points, on each deal one for each agent that is not ahead of it; who
    have equal sums share theirs."""


def play_tournament(
    setup: TournamentSetup,
    num_deals: int,
    *,
    runner: GameRunner = ONE_PROCESS,
    note_lineup: Callable[[PlayedLineup], None] = lambda played: None,
) -> list[RatedGame]:
    """Play ``num_deals`` deals (at least 2) and return all games, lineup by lineup.

    The result does not depend on the workers, nor on the order of the players. ``note_lineup`` gets lineups in any
    order. ValueError for too few players or deals and for an unknown agent, ChildProcessError if a process dies.
    """
    game: Game = load_game(setup.game)
    scoring = game.scoring
    if num_deals < _LEAST_DEALS:
        raise ValueError(f"{num_deals} {scoring.deal}s: use at least {_LEAST_DEALS}, one has no interval")
    players = sorted(setup.players, key=lambda player: player.digest)
    digests = [player.digest for player in players]
    plan = _plan(setup.game, players, setup.rules, setup.options, [str(number) for number in range(len(players))])
    first = scoring.first_deal(setup.seed) if setup.first_deal is None else setup.first_deal
    deals, size = range(first, first + num_deals), scoring.deals_per_lineup
    starts = np.arange(0, num_deals, size)
    games = list[RatedGame]()
    for part in np.array_split(starts, min(ROUNDS, len(starts))):
        lineups = choose_lineups(
            chain(setup.earlier, games),
            digests,
            len(part),
            size=len(scoring.party_seats),
            games_per_lineup=results_per_deal(scoring) * size,
            anchor=setup.anchor,
            num_before=int(part[0]) // size,
        )
        tasks = [
            _task(scoring, lineup, start, deals[start : start + size], num_deals, players)
            for lineup, start in zip(lineups, part.tolist(), strict=True)
        ]
        found: dict[int, list[RatedGame]] = {}
        for task in runner.play(plan, tasks):
            played = _played(scoring, tasks[task.index], task, digests)
            found[task.index] = played.games
            note_lineup(played)
        games += [each for index in sorted(found) for each in found[index]]
    return games


def _plan(
    game: str, players: Sequence[Player], rules: Any, options: Mapping[str, Any], names: Sequence[str]
) -> GamePlan:
    addresses = tuple(player.address for player in players)
    return GamePlan(game=game, addresses=addresses, names=tuple(names), rules=rules, options=options)


def _task(
    scoring: SeatScoring | SideScoring,
    lineup: Lineup,
    start: int,
    deals: range,
    num_deals: int,
    players: Sequence[Player],
) -> GameTask:
    """Return all games of a lineup on ``deals``, of which the first is number ``start`` of the night."""
    agents = [players[agent] for agent in lineup]
    digest = hashlib.sha256("\n".join(agent.digest for agent in agents).encode()).hexdigest()[:16]
    first, last, deal = start + 1, start + len(deals), scoring.deal
    numbers = f"{deal}-{first}" if scoring.deals_per_lineup == 1 else f"{deal}s-{first}-{last}"
    return GameTask(
        seating=np.concatenate([np.array(lineup)[scoring.lineup_seats(seed)] for seed in deals]),
        seeds=tuple(np.repeat(deals, games_per_deal(scoring)).tolist()),
        key=f"{numbers}-agents-{digest}",
        title=(
            f"{', '.join(agent.name for agent in agents)} on "
            f"{f'{deal} {first}' if first == last else f'{deal}s {first} to {last}'} of {num_deals}"
        ),
    )


def _played(
    scoring: SeatScoring | SideScoring, task: GameTask, played: PlayedTask, digests: Sequence[str]
) -> PlayedLineup:
    """Return what came of a task, in which agents go by their numbers."""
    games = []
    points: dict[str, list[float]] = {}
    lines = zip(task.seeds, task.seating.tolist(), played.summary["places"], played.summary["points"], strict=True)
    for deal, seats, places, own in lines:
        agents = tuple(digests[seats[seat]] for seat in scoring.party_seats)
        games.append(RatedGame(deal, agents, tuple(places)))
        for party, agent in enumerate(agents):
            points.setdefault(agent, [0.0] * len(agents))[party] += own[party]
    ranking: dict[str, float] = {}
    if scoring.decides == "points":
        agents, games = tuple(digests[number] for number in np.unique(task.seating)), []
        for deal, sums in _sums_of_deals(scoring, task.seeds, played.summary["points"]):
            games.append(RatedGame(deal, agents, places_of_sums(sums, deal)))
            for agent, place in zip(agents, shared_ranks(sums).tolist(), strict=True):
                ranking[agent] = ranking.get(agent, 0.0) + len(agents) + 1 - place
    rows: dict[str, I64] = {
        digests[int(name)]: np.array([row for row in own if row], np.int64).sum(axis=0)
        for name, own in played.summary.get("rows", {}).items()
    }
    forfeits = [(digests[agent], reason) for agent, reason in played.forfeits]
    return PlayedLineup(games, points, rows, forfeits, ranking)


def _sums_of_deals(
    scoring: SeatScoring | SideScoring, seeds: Sequence[int], points: Sequence[Sequence[float]]
) -> list[tuple[int, NDArray[np.float64]]]:
    """Return the seed of each deal of a task, and the sum of the points of each agent of its lineup."""
    per_deal = games_per_deal(scoring)
    sums = []
    for first, seed in zip(range(0, len(seeds), per_deal), seeds[::per_deal], strict=True):
        own = np.ravel(points[first : first + per_deal]).astype(np.float64)
        sums.append((seed, np.asarray(np.bincount(scoring.lineup_seats(seed).ravel(), own), np.float64)))
    return sums


def games_per_deal(scoring: SeatScoring | SideScoring) -> int:
    """Return the games of a lineup on a deal."""
    return len(scoring.lineup_seats(0))


def results_per_deal(scoring: SeatScoring | SideScoring) -> int:
    """Return the results of a lineup on a deal that are rated: its games, or one where points decide."""
    return 1 if scoring.decides == "points" else games_per_deal(scoring)


def places_of_sums(sums: NDArray[np.float64], deal: int) -> tuple[int, ...]:
    """Return the place of each agent from 1 on by the sums of its points; the seed of the deal orders equal ones."""
    order = np.lexsort((np.random.default_rng(deal).permutation(len(sums)), -sums))
    return tuple((np.argsort(order) + 1).tolist())


def replay_deals(
    players: Sequence[Player],
    deals: Mapping[int, Sequence[RatedGame]],
    *,
    game: str = DEFAULT_GAME,
    rules: Any = None,
    options: Mapping[str, Any] | None = None,
    runner: GameRunner = ONE_PROCESS,
) -> dict[int, list[list[int]]]:
    """Play games of a tournament again and return the place of each party that counts, by deal and game.

    ``deals``: number of a deal -> its games; ``players`` have the digests of all who played. ``runner.records`` gets a
    file for each deal. ValueError for an unknown agent.
    """
    scoring = load_game(game).scoring
    numbers = {player.digest: number for number, player in enumerate(players)}
    party_of_seat = scoring.side_of_seat if isinstance(scoring, SideScoring) else scoring.party_seats
    has_points = scoring.decides == "points"

    def seats_of(own: RatedGame) -> I64:
        seated = np.array([numbers[own.seats[party]] for party in party_of_seat])
        return seated[scoring.lineup_seats(own.wall)] if has_points else seated[None]

    tasks = [
        GameTask(
            seating=np.concatenate([seats_of(own) for own in games]),
            seeds=tuple(own.wall for own in games for _ in seats_of(own)),
            key=f"{scoring.deal}-{number}",
            title=f"{scoring.deal} {number}",
        )
        for number, games in deals.items()
    ]
    plan = _plan(game, players, rules, options or {}, [player.name for player in players])
    places = {}
    for played in runner.play(plan, tasks):
        places[played.index] = played.summary["places"]
        if has_points:
            sums = _sums_of_deals(scoring, tasks[played.index].seeds, played.summary["points"])
            places[played.index] = [list(places_of_sums(own, deal)) for deal, own in sums]
    return {number: places[index] for index, number in enumerate(deals)}


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
