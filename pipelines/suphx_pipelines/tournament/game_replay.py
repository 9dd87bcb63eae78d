"""Plays games of a finished tournament again, with the nets of that night, and keeps their records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.tournament import Player, replay_walls
from suphx.evaluation.workers.game_runner import GameRunner
from suphx_pipelines.json_file import read_json
from suphx_pipelines.tournament.pool.game_code import GameCode
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, LEADERBOARD, is_of_this_engine, read_games
from suphx_pipelines.tournament.pool.tournament_pool import Entrant, read_pool
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.console.console import Console

_POOL = "pool"


@dataclass(frozen=True, slots=True)
class ReplayedGame:
    """A game that was played again."""

    wall: int
    """Number of the wall, or of the deck, in its night, from 1 on."""
    agents: tuple[str, ...]
    """The name of the agent at each seat, or on each side."""
    places: tuple[int, ...]
    """Of each of them, as they counted in the tournament."""
    is_same: bool
    """Whether all places came out the same."""


def replay_games(run: Path, walls: Sequence[int], records: Path, console: Console) -> list[ReplayedGame]:
    """Play the games on ``walls`` (numbers from 1 on) of the tournament in the folder ``run`` again.

    Their records are written to the folder ``records``. ValueError if the run has no games, lacks one of the walls or
    was played by other rules, FileNotFoundError if the nets of one who plays in them are no longer there.
    """
    games = finished_games(run, riichi_code(), console)
    chosen = {wall: games[wall - 1] for wall in chosen_walls(run, walls, len(games), "wall")}
    seated = {digest for played in chosen.values() for game in played for digest in game.seats}
    entrants = [entrant for entrant in read_pool(run / _POOL).entrants if entrant.digest in seated]
    check_nets(entrants, run / _POOL)
    names = {entrant.digest: entrant.name for entrant in entrants}
    with console.progress("hanchans", sum(map(len, chosen.values()))) as progress:
        found = replay_walls(
            [Player(entrant.digest, entrant.address_in(run / _POOL), entrant.name) for entrant in entrants],
            chosen,
            has_draw_lanes=read_json(run / LEADERBOARD / GAMES_NAME)["draw_lanes"],
            runner=GameRunner(load=load_any_agent, records=records, progress=progress.advance),
        )
    return [
        ReplayedGame(wall, tuple(names[digest] for digest in game.seats), game.places, list(game.places) == places)
        for wall, played in chosen.items()
        for game, places in zip(played, found[wall], strict=True)
    ]


def check_nets(entrants: Iterable[Entrant], pool: Path) -> None:
    """Raise FileNotFoundError if the nets of one of the ``entrants`` are not in the folder ``pool`` any more."""
    for entrant in entrants:
        nets = entrant.nets_in(pool)
        if entrant.has_nets and not nets.is_dir():
            raise FileNotFoundError(f"the nets of {entrant.name} are not in {nets}: copy that folder from the storage")


def finished_games(run: Path, code: GameCode, console: Console) -> list[list[RatedGame]]:
    """Return the games of each wall of a night, in its order; a warning if they were played by another version.

    ``code``: of the game. ValueError if the folder ``run`` has no games, or none by these rules.
    """
    check_finished(run)
    path = run / LEADERBOARD / GAMES_NAME
    games = read_games(path, code)
    if not games:
        raise ValueError(f"{path} has no games by today's rules: play them with the version of suphx that played them")
    if not is_of_this_engine(path, code):
        console.warn(f"{run.name} was played with another version of the game's code: places may differ")
    by_wall: dict[int, list[RatedGame]] = {}
    for game in games:
        by_wall.setdefault(game.wall, []).append(game)
    return [by_wall[wall] for wall in sorted(by_wall)]


def game_of_night(run: Path) -> str | None:
    """Return the name of the game of two sides that a finished tournament played; None of riichi."""
    check_finished(run)
    name: str | None = read_json(run / LEADERBOARD / GAMES_NAME).get("game")
    return name


def check_finished(run: Path) -> None:
    """Raise ValueError if the folder of a run has no games of a tournament."""
    if not (run / LEADERBOARD / GAMES_NAME).is_file():
        raise ValueError(f"{run} is no finished tournament: it has no {LEADERBOARD}/{GAMES_NAME}")


def chosen_walls(run: Path, walls: Sequence[int], number: int, unit: str) -> list[int]:
    """Return the ``walls`` that are wanted, each once; ValueError for others than 1 to ``number``.

    ``unit``: what the game calls a wall.
    """
    wrong = [wall for wall in walls if not 1 <= wall <= number]
    if wrong:
        raise ValueError(f"{run.name} has no {unit} {wrong[0]}: use 1 to {number}")
    return list(dict.fromkeys(walls))
