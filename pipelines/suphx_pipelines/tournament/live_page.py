"""The live page of a tournament: the leaderboard as it is while games come in, in a file that reloads itself."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.kernel.record import I64
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_number import number
from suphx_pipelines.tournament import leaderboard_page
from suphx_pipelines.tournament.leaderboard_table import Leaderboard
from suphx_pipelines.tournament.tournament_pool import Context

LIVE_NAME = "live.html"
_RELOAD_SECONDS = 10
_PAUSE_SHARE = 20
"""A page is written again after so many times the time that it took: 5 % of one core at most."""
_REPORT = "../report/report.html"


class LivePage:
    """Consumes: finished games. Produces: ``live.html`` in the stage's folder, every ten seconds at most."""

    def __init__(self, context: Context, board: Leaderboard, num_games: int) -> None:
        self._path = context.folder / LIVE_NAME
        self._title = f"Suphx: {context.recipe.name}"
        self._board = board
        self._num_games = num_games
        self._next = 0.0
        """Time from which on the page is written again."""
        self._say = context.console.say

    def note_games(self, games: Sequence[RatedGame], rows: Mapping[str, I64]) -> None:
        """Take the games of a wall, and write the page if it is time."""
        self._board.note_games(games, rows)
        started = time.monotonic()
        if started < self._next:
            return
        is_first = self._next == 0
        self._write(self._board.table(), is_last=False)
        if is_first:
            self._say(f"leaderboard, live: {self._path.resolve().as_uri()}")
        spent = time.monotonic() - started
        self._next = started + max(_RELOAD_SECONDS, _PAUSE_SHARE * spent)

    def write_last(self, table: Mapping[str, Any]) -> None:
        """Write the page with all games; it reloads no more."""
        self._write(table, is_last=True)

    def _write(self, table: Mapping[str, Any], *, is_last: bool) -> None:
        played = len(self._board.games)
        text = f"{number(played)} of tonight's {number(self._num_games)} hanchans have been played."
        if not is_last:
            text += f" This page reloads every {_RELOAD_SECONDS} seconds."
        head = report_page.paragraph(text)
        if is_last:
            head += report_page.link("The report with the decision of the night", _REPORT)
        subtitle = f"tournament of {self._board.night}{'' if is_last else ', live'}"
        page = report_page.page(self._title, subtitle, head, leaderboard_page.sections(table))
        if not is_last:
            reload = f'<meta http-equiv="refresh" content="{_RELOAD_SECONDS}">'
            page = page.replace("<title>", f"{reload}<title>", 1)
        write_atomically(self._path, [page.encode()])
