"""The leaderboard stage of a tournament in a game of two sides: tonight's games, and the ratings from all nights.

Leaves ``games.json`` (tournament_history.py), ``table.json``, ``live.html`` (live_page.py) and
the results of blocks of decks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from suphx.evaluation.match_config import MAX_SIDE_DECKS
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.rating import count_ahead
from suphx.evaluation.rating.side_tournament import (
    BLOCK_DECKS,
    PlayedBlock,
    SideSetup,
    play_side_tournament,
)
from suphx.evaluation.rating.tournament import Player
from suphx.evaluation.workers.play_plan import GAMES_PER_DECK
from suphx.games.candidate_game import candidate_game
from suphx_pipelines.json_file import write_json
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import number
from suphx_pipelines.tournament.leaderboard import metric_names
from suphx_pipelines.tournament.leaderboard_table import rated_entrants, rating_keys
from suphx_pipelines.tournament.live_page import LIVE_DECISION, LivePage, Sections, report_link
from suphx_pipelines.tournament.pool.tournament_games import wall_seed
from suphx_pipelines.tournament.pool.tournament_history import (
    GAMES_NAME,
    TABLE_NAME,
    EarlierNights,
    games_json,
    night_of,
    read_history,
)
from suphx_pipelines.tournament.pool.tournament_pool import HISTORY_NAME, Pool, read_pool
from suphx_pipelines.tournament.sides import side_page
from suphx_pipelines.tournament.sides.side_games import side_runner
from suphx_pipelines.tournament.sides.side_pool import SideContext, game_code


@dataclass(slots=True, kw_only=True)
class SideBoard:
    """What is known of a night so far; ``table`` may be asked while games come in."""

    pool: Pool
    sides: Sequence[str]
    """Of the game."""
    earlier: EarlierNights
    anchor: str
    """Scripted agent whose rating is fixed; such agents have their names as digests."""
    night: str
    run_id: str
    games: list[RatedGame] = field(default_factory=list)
    points: dict[tuple[str, str], float] = field(default_factory=dict)
    """Of tonight's games, by digest and side."""

    def note_block(self, block: PlayedBlock) -> None:
        """Take the games of a block; blocks come in any order."""
        self.games += block.games
        for agent, sums in block.points.items():
            for side, points in sums.items():
                self.points[agent, side] = self.points.get((agent, side), 0.0) + points

    def table(self) -> dict[str, Any]:
        """Return the table, the strongest agent first; agents without a game are left out."""
        games = [*self.earlier.games, *self.games]
        champion = None if self.pool.champion is None else self.pool.entrants[self.pool.champion]
        rated = rated_entrants(self.pool, games, anchor=self.anchor)
        rows = [
            {
                **rating_keys(entrant, rating),
                "is_candidate": entrant.is_candidate,
                "is_champion": entrant is champion,
                "games": rating.games,
                "sides": {side: self._figures(entrant.digest, number, games) for number, side in enumerate(self.sides)},
            }
            for entrant, rating in rated
        ]
        return {
            "agents": rows,
            "decks": len({game.wall for game in self.games}),
            "earlier_games": len(self.earlier.games),
            "anchor": self.anchor,
            "is_anchored": any(self.anchor in game.seats for game in games),
            "pairings": count_ahead(games, [entrant.digest for entrant, _ in rated]).tolist(),
            "nights": [*self.earlier.nights, night_of(self.run_id, self.night, rows)],
        }

    def _figures(self, agent: str, side: int, games: Sequence[RatedGame]) -> dict[str, float | None]:
        """Return ``wp`` over all nights and ``adp`` over tonight's games on a side; None without a game."""
        own = [game for game in games if game.seats[side] == agent]
        tonight = sum(game.seats[side] == agent for game in self.games)
        wins = sum(game.places[side] == 1 for game in own)
        return {
            "wp": wins / len(own) if own else None,
            "adp": self.points[agent, self.sides[side]] / tonight if tonight else None,
        }


FIRST_DECK = 2**37
"""Above the decks of matches and curves, and below those of the deciding matches (side_decision.py)."""
FILES: Mapping[str, str] = {
    "games/decks-<first>-<last>-agents-<digest>.json": (
        "a block of decks: `wins` {side: [of each deck]} and `points` {side: [of each deck]} of the first agent of the "
        "pair (digests in ascending order)"
    ),
    "games.json": (
        "tonight's games: `game`, `night`, `rules` and `engine` (digests), `agents` [{digest, name}], `games` [[seed "
        "of the deck, agent on each side, place on each side]]"
    ),
    "table.json": (
        "`decks` (tonight), `earlier_games`, `anchor`, `is_anchored` (it has played), `agents` [{name, "
        "digest, rating, interval [2] or null (fewer than two decks), is_candidate, is_champion, games, sides "
        "{side: {wp (all nights), adp (tonight)}}}], strongest first; `pairings` and `nights` as for riichi"
    ),
    "live.html": "the leaderboard while games come in; it reloads itself until the last game",
    "mlflow/live.html": "the same page without links to other files, which MLflow gets",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def run(context: SideContext) -> dict[str, float]:
    """Play tonight's games, go on where a killed stage stopped, and rate the agents by the games of all nights."""
    recipe, folder, code = context.recipe, context.upstream["pool"], game_code(context.recipe)
    pool, game = read_pool(folder), candidate_game(recipe.game)
    num_decks, least = recipe.leaderboard.decks, BLOCK_DECKS * len(pool.entrants)
    if num_decks < least:
        raise ValueError(f"leaderboard.decks is {num_decks} for {len(pool.entrants)} agents: use at least {least}")
    board = SideBoard(
        pool=pool,
        sides=game.sides,
        earlier=read_history(folder / HISTORY_NAME, code),
        anchor=recipe.leaderboard.anchor,
        night=recipe.night,
        run_id=context.folder.parent.name,
    )
    live = _LiveBoard(context, board)
    setup = SideSetup(
        game=recipe.game,
        rules=recipe.rules,
        players=[Player(entrant.digest, entrant.address_in(folder), entrant.name) for entrant in pool.entrants],
        anchor=recipe.leaderboard.anchor,
        first_deal=_decks_of(wall_seed(context, board.earlier.games, _decks_of)).start,
        earlier=board.earlier.games,
    )
    with side_runner(context, GAMES_PER_DECK * num_decks) as runner:
        games = play_side_tournament(setup, num_decks, runner=runner, note_block=live.note_block)
    names = {entrant.digest: entrant.name for entrant in pool.entrants}
    facts = {"game": recipe.game, "night": recipe.night}
    write_json(context.folder / GAMES_NAME, facts | games_json(games, names, code))
    table = board.table()
    write_json(context.folder / TABLE_NAME, table)
    live.write_last()
    rows = table["agents"]
    ratings = zip(metric_names([row["name"] for row in rows]), (row["rating"] for row in rows), strict=True)
    return {"games": len(games), "earlier_games": table["earlier_games"]} | dict(ratings)


def _decks_of(seed: int) -> range:
    """Return all decks that a seed has."""
    first = FIRST_DECK + MAX_SIDE_DECKS * seed
    return range(first, first + MAX_SIDE_DECKS)


class _LiveBoard:
    """Consumes: finished blocks. Produces: the live page with the leaderboard so far."""

    def __init__(self, context: SideContext, board: SideBoard) -> None:
        self._page = LivePage(context, "leaderboard")
        self._board = board
        self._num_games = GAMES_PER_DECK * context.recipe.leaderboard.decks

    def note_block(self, block: PlayedBlock) -> None:
        """Take the games of a block, and write the page if it is time."""
        self._board.note_block(block)
        table = cache(self._board.table)
        self._page.offer(lambda has_links: (self._head(), side_page.sections(table(), has_links=has_links)))

    def write_last(self) -> None:
        """Write the page with all games."""
        table = self._board.table()

        def content(has_links: bool) -> tuple[str, Sections]:
            head = self._head()
            if has_links:
                head += report_page.link("The deciding match, live", LIVE_DECISION)
            return head + report_link(has_links=has_links), side_page.sections(table, has_links=has_links)

        self._page.write_last(content)

    def _head(self) -> str:
        played, wanted = number(len(self._board.games)), number(self._num_games)
        return report_page.paragraph(f"{played} of tonight's {wanted} games have been played.")
