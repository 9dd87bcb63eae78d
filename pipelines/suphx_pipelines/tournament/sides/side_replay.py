"""Plays games of a finished tournament in a game of two sides again, with the nets of that night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.side_tournament import BLOCK_DECKS
from suphx.evaluation.workers.game_runner import one_thread
from suphx.evaluation.workers.play_plan import GAMES_PER_DECK
from suphx.games.candidate_game import KeptGames, SideResults, candidate_game
from suphx_pipelines.recipe.recipe_file import load_config
from suphx_pipelines.recipe.tournament_recipe import SideTournamentRecipe
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.tournament.game_replay import (
    ReplayedGame,
    check_finished,
    check_nets,
    chosen_walls,
    finished_games,
)
from suphx_pipelines.tournament.pool.tournament_pool import Entrant, read_pool
from suphx_pipelines.tournament.sides.side_pool import game_code
from suphx_platform.agents.side_agent import load_side_player
from suphx_platform.console.console import Console

_POOL = "pool"


def replay_side_games(run: Path, decks: Sequence[int], records: Path, console: Console) -> list[ReplayedGame]:
    """Play the games on ``decks`` (numbers from 1 on) of the tournament in the folder ``run`` again.

    Their records are written to the folder ``records``, one file a deck. Errors as for ``replay_games``. What a net
    answers may depend, in the last digit, on how many tables it answers at a time: so all decks of a block are played.
    """
    check_finished(run)
    if not (run / RECIPE_FILE).is_file():
        raise FileNotFoundError(f"{run} has no {RECIPE_FILE}: copy the whole folder of the run from the storage")
    recipe = load_config(SideTournamentRecipe, run / RECIPE_FILE)
    games = finished_games(run, game_code(recipe), console)
    chosen = chosen_walls(run, decks, len(games), "deck")
    entrants = {entrant.digest: entrant for entrant in read_pool(run / _POOL).entrants}
    check_nets([entrants[agent] for deck in chosen for agent in games[deck - 1][0].seats], run / _POOL)
    replayed: dict[int, list[ReplayedGame]] = {}
    with console.progress("decks", len(chosen)) as progress:
        for number, group in groupby(sorted(chosen), key=lambda deck: (deck - 1) // BLOCK_DECKS):
            first = number * BLOCK_DECKS
            block = _Block(recipe, games[first : first + BLOCK_DECKS], entrants, run / _POOL)
            for deck in group:
                replayed[deck] = block.replayed(deck, deck - 1 - first)
                records.mkdir(parents=True, exist_ok=True)
                lines = block.lines[GAMES_PER_DECK * (deck - 1 - first) :][:GAMES_PER_DECK]
                write_atomically(records / f"deck-{deck}.jsonl", [f"{line}\n".encode() for line in lines])
                progress.advance(1)
    return [game for deck in chosen for game in replayed[deck]]


class _Block:
    """Decks that a pair played at the same time, played again."""

    def __init__(
        self,
        recipe: SideTournamentRecipe,
        games: Sequence[Sequence[RatedGame]],
        entrants: Mapping[str, Entrant],
        pool: Path,
    ) -> None:
        """``games``: of each deck, in the order of the decks."""
        game, self.lines = candidate_game(recipe.game), list[str]()
        self._sides, self._games = game.sides, games
        self._pair = sorted(games[0][0].seats)
        self._names = {digest: entrants[digest].name for digest in self._pair}
        load = cache(lambda digest: load_side_player(recipe.game, entrants[digest].address_in(pool)))
        first, second = self._pair
        kept = KeptGames((self._names[first], self._names[second]), self.lines.append)
        with one_thread():  # as in the night
            self._results: Mapping[str, SideResults] = game.play_match(
                len(games), recipe.rules, load(first), load(second), first_seed=games[0][0].wall, kept=kept
            )

    def replayed(self, deck: int, row: int) -> list[ReplayedGame]:
        """Return both games of a deck, the ``row``-th of the block; ``deck``: its number in the night."""
        found = []
        for game in sorted(self._games[row], key=lambda game: game.seats[0] != self._pair[0]):
            side = self._sides[game.seats.index(self._pair[0])]
            winner = self._pair[0] if self._results[side].wins[row] else self._pair[1]
            places = tuple(1 if agent == winner else 2 for agent in game.seats)
            agents = tuple(self._names[agent] for agent in game.seats)
            found.append(ReplayedGame(deck, agents, game.places, places == game.places))
        return found
