"""Plays games of a finished tournament again, with the nets of that night, and keeps their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.tournament import Player, replay_walls
from suphx.evaluation.workers.game_runner import GameRunner
from suphx_pipelines.engine.json_file import read_json
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, LEADERBOARD, is_of_this_engine, read_games
from suphx_pipelines.tournament.pool.tournament_pool import read_pool
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.console.console import Console

_POOL = "pool"


@dataclass(frozen=True, slots=True)
class ReplayedGame:
    """A game that was played again."""

    wall: int
    """Number of the wall in its night, from 1 on."""
    agents: tuple[str, ...]
    """The name of the agent at each seat."""
    places: tuple[int, ...]
    """Of each seat, as they counted in the tournament."""
    is_same: bool
    """Whether all places came out the same."""


def replay_games(run: Path, walls: Sequence[int], records: Path, console: Console) -> list[ReplayedGame]:
    """Play the games on ``walls`` (numbers from 1 on) of the tournament in the folder ``run`` again.

    Their records are written to the folder ``records``. ValueError if the run has no games, lacks one of the walls or
    was played by other rules, FileNotFoundError if its nets are no longer there.
    """
    path = run / LEADERBOARD / GAMES_NAME
    if not path.is_file():
        raise ValueError(f"{run} is no finished tournament: it has no {LEADERBOARD}/{GAMES_NAME}")
    other_game = read_json(path).get("game")
    if other_game is not None:
        raise ValueError(f"{run.name} is a tournament of {other_game}: only games of riichi can be replayed")
    games, pool = _by_wall(read_games(path, riichi_code())), read_pool(run / _POOL)
    if not games:
        raise ValueError(f"{path} has no games by today's rules: play them with the version of suphx that played them")
    wrong = [wall for wall in walls if not 1 <= wall <= len(games)]
    if wrong:
        raise ValueError(f"{run.name} has no wall {wrong[0]}: use 1 to {len(games)}")
    if not is_of_this_engine(path, riichi_code()):
        console.warn(f"{run.name} was played with another version of the game's code: places may differ")
    chosen = {wall: games[wall - 1] for wall in walls}
    names = {entrant.digest: entrant.name for entrant in pool.entrants}
    with console.progress("hanchans", sum(map(len, chosen.values()))) as progress:
        found = replay_walls(
            [Player(entrant.digest, entrant.address_in(run / _POOL), entrant.name) for entrant in pool.entrants],
            chosen,
            has_draw_lanes=read_json(path)["draw_lanes"],
            runner=GameRunner(load=load_any_agent, records=records, progress=progress.advance),
        )
    return [
        ReplayedGame(wall, tuple(names[digest] for digest in game.seats), game.places, list(game.places) == places)
        for wall, played in chosen.items()
        for game, places in zip(played, found[wall], strict=True)
    ]


def _by_wall(games: Sequence[RatedGame]) -> list[list[RatedGame]]:
    """Return the games of each wall, in the order of the night."""
    return [[game for game in games if game.wall == wall] for wall in sorted({game.wall for game in games})]
