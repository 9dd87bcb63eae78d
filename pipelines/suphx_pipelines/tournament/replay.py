"""Plays games of a finished tournament again, with the nets of that night, and keeps their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.tournament import Player, replay_deals
from suphx.games.registry import load_game
from suphx.games.scoring import SideScoring
from suphx_pipelines.recipe.recipe_file import load_config, read_toml
from suphx_pipelines.recipe.recipe_kind import recipe_class
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.tournament.history import GAMES_NAME, LEADERBOARD, read_games
from suphx_pipelines.tournament.kind import POOL, Pool, kind_of
from suphx_platform.console.console import Console


@dataclass(frozen=True, slots=True)
class ReplayedGame:
    """A game that was played again."""

    wall: int
    """Number of the wall, or of the deck, in its night, from 1 on."""
    agents: tuple[str, ...]
    places: tuple[int, ...]
    is_same: bool


def replay_games(
    run: Path, walls: Sequence[int], records: Path, console: Console
) -> tuple[tuple[str, ...], list[ReplayedGame]]:
    """Play the games on ``walls`` (numbers from 1 on) of the tournament in the folder ``run`` again.

    Returns what the values of a game are, the deal and each place, and the games. Their records are written to the
    folder ``records``. ValueError if the run has no games, lacks one of the walls or was played by other rules,
    FileNotFoundError if the nets of one who plays in them are no longer there. What a net answers may depend, in the
    last digit, on how many tables it answers at a time: so all deals of a lineup are played.
    """
    recipe, pool = _recipe_of(run), run / POOL
    kind = kind_of(recipe)
    game = load_game(kind.game)
    scoring = game.scoring
    path, code = run / LEADERBOARD / GAMES_NAME, kind.code(recipe)
    by_wall: dict[int, list[RatedGame]] = {}
    for each in read_games(path, code):
        by_wall.setdefault(each.wall, []).append(each)
    if not by_wall:
        raise ValueError(f"{path} has no games by today's rules: play them with the version of suphx that played them")
    games = [by_wall[wall] for wall in sorted(by_wall)]
    chosen = list(dict.fromkeys(walls))
    for wall in chosen:
        if not 1 <= wall <= len(games):
            raise ValueError(f"{run.name} has no {scoring.deal} {wall}: use 1 to {len(games)}")
    size = scoring.deals_per_lineup
    firsts = sorted({(wall - 1) // size * size for wall in chosen})
    played = {wall + 1: games[wall] for first in firsts for wall in range(first, min(first + size, len(games)))}
    seated = {digest for own in played.values() for each in own for digest in each.seats}
    entrants = [entrant for entrant in Pool.read(pool).entrants if entrant.digest in seated]
    for entrant in entrants:
        if entrant.has_nets and not (nets := entrant.nets_in(pool)).is_dir():
            raise FileNotFoundError(f"the nets of {entrant.name} are not in {nets}: copy that folder from the storage")
    names = {entrant.digest: entrant.name for entrant in entrants}
    with console.progress(kind.games, kind.games_per_result * sum(map(len, played.values()))) as progress:
        found = replay_deals(
            [Player(entrant.digest, entrant.address_in(pool), entrant.name) for entrant in entrants],
            played,
            game=kind.game,
            **kind.tables(recipe),
            runner=GameRunner(load=kind.load(recipe, console), records=records, progress=progress.advance),
        )
    for wall in played:
        path = records / f"{scoring.deal}-{wall}{game.record_suffix}"
        if wall in chosen:
            path.rename(path.with_name(path.name.removesuffix(".part")))
        else:
            path.unlink()
    parties = scoring.sides if isinstance(scoring, SideScoring) else game.seat_names
    return (scoring.deal, *(f"{party}: place" for party in parties)), [
        ReplayedGame(wall, tuple(names[digest] for digest in own.seats), own.places, list(own.places) == places)
        for wall in chosen
        for own, places in zip(played[wall], found[wall], strict=True)
    ]


def _recipe_of(run: Path) -> Any:
    if not (run / LEADERBOARD / GAMES_NAME).is_file():
        raise ValueError(f"{run} is not a finished tournament: it has no {LEADERBOARD}/{GAMES_NAME}")
    path = run / RECIPE_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{run} has no {RECIPE_FILE}: copy the whole folder of the run from the storage")
    return load_config(recipe_class("tournament", read_toml(path)), path)
