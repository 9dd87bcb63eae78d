"""The live page of a tournament, in a file that reloads itself: first the leaderboard, then the deciding match.

MLflow gets a copy every minute, so that the page can be seen where nobody reaches the files of the machine that plays.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from suphx.atomic_file import write_atomically
from suphx.evaluation.rating.tournament import PlayedWall
from suphx.evaluation.sequential.sequential_test import Decision
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import decimal, number
from suphx_pipelines.runs.stage import TRACKED_FOLDER, StageContext
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


class Outcome(Protocol):
    """What the test says after a look."""

    @property
    def decision(self) -> Decision:
        """Whether the match is decided, and how."""
        ...


T = TypeVar("T", bound=Outcome)


@dataclass(frozen=True, slots=True)
class Look:
    """What the words on a look need of it."""

    decision: Decision
    played: int
    expected: float
    """How many more the decision takes on average; infinite before the first look."""
    ratio: float
    bound: float
    """The log-likelihood ratio at which the match ends, above or below zero."""


class LiveMatch(ABC, Generic[T]):
    """Consumes: games, and the outcome of each look of the test. Produces: the live page with match and leaderboard."""

    nothing_new = "no nets are new"
    """Why there is no candidate."""

    def __init__(self, context: StageContext[Any], candidate: str | None, opponent: str | None) -> None:
        """None for a player that there is not."""
        self._page = LivePage(context, "deciding match")
        self._candidate, self._opponent = candidate, opponent
        self._outcome: T | None = None
        self._played = self._fresh = 0.0
        """Of the match that decides, and of the one on new deals, in the unit of ``advance``."""
        self._is_over = False

    def advance(self, amount: float) -> None:
        """Take what was played, and write the page if it is time."""
        if self._outcome is not None and self._outcome.decision != "undecided":
            self._fresh += amount
        else:
            self._played += amount
        self._page.offer(self._content)

    def note_outcome(self, outcome: T) -> None:
        """Take what the test says of the games so far, and write the page if it is time."""
        self._outcome = outcome
        self._page.offer(self._content)

    def write_first(self) -> None:
        """Write the page before the first game."""
        self._page.offer(self._content)

    def write_last(self) -> None:
        """Write the page as it stays."""
        self._is_over = True

        def content(has_links: bool) -> tuple[str, Sections]:
            head, sections = self._content(has_links)
            return head + report_link(has_links=has_links), sections

        self._page.write_last(content)

    @abstractmethod
    def _boards(self, has_links: bool) -> Sections:
        """Return the leaderboard as sections."""

    @abstractmethod
    def _title(self) -> str:
        """Return who plays."""

    @abstractmethod
    def _body(self) -> str:
        """Return the state of the match as HTML."""

    def _content(self, has_links: bool) -> tuple[str, Sections]:
        boards = self._boards(has_links)
        if self._candidate is None or self._opponent is None:
            why = self.nothing_new if self._candidate is None else "there is no champion and no opponent to beat"
            return report_page.paragraph(f"There is no deciding match tonight: {why}."), boards
        return report_page.paragraph(self._title()), [("Deciding match", self._body()), *boards]


def words_of_test(look: Look | None, *, claim: str, unit: str, first_look: int, is_over: bool) -> str:
    """Return what the sequential test says now, in words; None before anything was played.

    ``claim``: what is tested, such as "that the candidate is better". ``unit``: what is counted. ``first_look``: after
    so many is the first look. ``is_over``: no more are played.
    """
    if look is None or math.isinf(look.expected):
        return f"The sequential test looks at them for the first time after {first_look} {unit}."
    played = f"{number(look.played)} {unit}"
    figures = f"log-likelihood ratio {decimal(look.ratio)}, the match ends at ±{decimal(look.bound)}"
    if look.decision == "better":
        return f"Decided after {played}: the candidate is better ({figures})."
    if look.decision == "not_better":
        return f"Decided after {played}: it is not true {claim} ({figures})."
    side = "for" if look.ratio > 0 else "against"
    begin = "The match ended before the test had decided" if is_over else "Not decided yet"
    left = f"{number(look.expected)} more {unit} {'would be needed' if is_over else 'are expected'}"
    return f"{begin}: the first {played} speak {side} the claim {claim} ({figures}). About {left}."
