"""The live page of a tournament, in a file that reloads itself: first the leaderboard, then the deciding match.

MLflow gets a copy every minute, so that the page can be seen where nobody reaches the files of the machine that plays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.rating.tournament import PlayedWall
from suphx_pipelines.engine.run_note import TRACKED_FOLDER
from suphx_pipelines.engine.stage import StageContext
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_number import number
from suphx_pipelines.tournament import leaderboard_page
from suphx_pipelines.tournament.leaderboard_table import Leaderboard
from suphx_pipelines.tournament.pool.tournament_pool import Context

LIVE_NAME = "live.html"
RELOAD_SECONDS = 10
TRACKED_SECONDS = 60
"""Between two copies for MLflow."""
_PAUSE_SHARE = 20
"""A page is written again after so many times the time that it took: 5 % of one core at most."""
_REPORT, LIVE_DECISION = "../report/report.html", f"../decision/{LIVE_NAME}"
Sections = Sequence[tuple[str, str]]
Content = Callable[[bool], tuple[str, Sections]]
"""Returns the top of the page and its sections; called with whether links to other files work."""


class LivePage:
    """Consumes: what a stage shows. Produces: ``live.html`` every ten seconds at most, and a copy for MLflow.

    The copy is an artifact of the tournament's run, so the page of a later stage replaces that of an earlier one. A
    thread of the tracker sends it: games never wait for it. While MLflow is away no copies are queued.
    """

    def __init__(self, context: StageContext[Any], about: str) -> None:
        """``context``: of a tournament of any game; ``about``: what the page shows, for the console."""
        self._path = context.folder / LIVE_NAME
        self._copy = context.folder / TRACKED_FOLDER / LIVE_NAME
        self._copy.parent.mkdir(exist_ok=True)
        self._tracker = context.tracker.parent or context.tracker
        self._title, self._night = f"Suphx: {context.recipe.name}", context.recipe.night
        self._about = about
        self._next = self._next_copy = 0.0
        """Times from which on the page and the copy are written again."""
        self._say = context.console.say

    def offer(self, content: Content) -> None:
        """Write the page if it is time."""
        started = time.monotonic()
        if started < self._next:
            return
        is_first = self._next == 0
        self._write(content, is_last=False)
        if started >= self._next_copy and not self._tracker.figures()["tracking_outage_seconds"]:
            self._write_copy(content, is_last=False)
            self._next_copy = started + TRACKED_SECONDS
        if is_first:
            self._say(f"{self._about}, live: {self._path.resolve().as_uri()}, and {LIVE_NAME} of the run in MLflow")
        spent = time.monotonic() - started
        self._next = started + max(RELOAD_SECONDS, _PAUSE_SHARE * spent)

    def write_last(self, content: Content) -> None:
        """Write the page with all games; it reloads no more."""
        self._write(content, is_last=True)
        self._write_copy(content, is_last=True)

    def _write(self, content: Content, *, is_last: bool) -> None:
        head, sections = content(True)
        if not is_last:
            head += report_page.paragraph(f"This page reloads every {RELOAD_SECONDS} seconds.", is_soft=True)
        page = self._page(head, sections, is_last=is_last)
        if not is_last:
            page = page.replace("<title>", f'<meta http-equiv="refresh" content="{RELOAD_SECONDS}"><title>', 1)
        write_atomically(self._path, [page.encode()])

    def _write_copy(self, content: Content, *, is_last: bool) -> None:
        head, sections = content(False)
        if not is_last:
            text = (
                f"Written at {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. MLflow gets a new page about every "
                f"{TRACKED_SECONDS} seconds: reload MLflow's page to see it."
            )
            head += report_page.paragraph(text, is_soft=True)
        write_atomically(self._copy, [self._page(head, sections, is_last=is_last).encode()])
        self._tracker.log_artifact(self._copy)

    def _page(self, head: str, sections: Sections, *, is_last: bool) -> str:
        subtitle = f"tournament of {self._night}{'' if is_last else ', live'}"
        return report_page.page(self._title, subtitle, head, sections)


def report_link(*, has_links: bool) -> str:
    """Return where the report of the night is when the tournament is over."""
    if has_links:
        return report_page.link("The report of the night, when the tournament is over", _REPORT)
    return report_page.paragraph("When the tournament is over, report.html is beside this page.")


class LiveLeaderboard:
    """Consumes: finished games. Produces: the live page with the leaderboard so far."""

    def __init__(self, context: Context, board: Leaderboard, num_games: int) -> None:
        self._page = LivePage(context, "leaderboard")
        self._board = board
        self._num_games = num_games

    def note_wall(self, wall: PlayedWall) -> None:
        """Take the games of a wall, and write the page if it is time."""
        self._board.note_wall(wall)
        table = cache(self._board.table)
        self._page.offer(lambda has_links: (self._head(), leaderboard_page.sections(table(), has_links=has_links)))

    def write_last(self, table: Mapping[str, Any]) -> None:
        """Write the page with all games."""

        def content(has_links: bool) -> tuple[str, Sections]:
            head = self._head()
            if has_links:
                head += report_page.link("The deciding match, live", LIVE_DECISION)
            return head + report_link(has_links=has_links), leaderboard_page.sections(table, has_links=has_links)

        self._page.write_last(content)

    def _head(self) -> str:
        played, wanted = number(len(self._board.games)), number(self._num_games)
        return report_page.paragraph(f"{played} of tonight's {wanted} hanchans have been played.")
