"""Progress of work that takes long: what is counted, its text, and how it is shown, as bars or as lines now and then.

Messages and bars share stderr: rich draws the bars again below what is printed meanwhile.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from suphx_platform.console.table_text import duration_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

T = TypeVar("T")

PERCENT_UNIT = "%"
SECONDS_TO_FIRST_LINE = 2.5
SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_BETWEEN_POINTS = 1.0
_WINDOW_SECONDS = 600.0
_WINDOW_POINTS = 20
_ROUNDING = 1e-6
"""Parts of a unit are summed: a thousand games may be 999.999999."""
_FEW = 100
"""Units: of fewer, tenths are shown."""
_KNOWN_SHARE = 0.05
"""Of the work of this command: before it is done, start-up costs make an estimate of the time left useless."""
_KNOWN_SECONDS = 60.0
"""After this time even less work gives an estimate: that of a run of days."""
_BAR_COLUMNS = 20
_REFRESHES_PER_SECOND = 4
_BARE_COLUMNS = 60
"""A narrower terminal gets no bar, only its text."""


class Progress:
    """Counts units of work, and returns what there is to show of it; any thread may count."""

    def __init__(self, unit: str, total: float | None = None, name: str = "", note: str = "") -> None:
        """``unit``: what is counted, such as ``games``; ``%`` for a share of 100; empty for what cannot be counted.

        ``total``: how many units there are, if that is known; ``name``: shown in front, such as ``discard``; ``note``:
        items separated by ``, ``, the most important one first: a narrow terminal shows only the first ones.
        """
        self.unit, self.total, self.name, self.note = unit, total, name, note
        self.done = self._done_before = 0.0
        """Units done, and those of them that were done before this command began, which do not count for the speed."""
        self._lock = threading.Lock()
        self._start()

    def advance(self, count: float = 1, note: str = "") -> None:
        """Count ``count`` more units; ``note``: short items separated by ``, ``, such as ``"loss 0.71, 3 games"``."""
        with self._lock:
            self._set(self.done + count, note)

    def reach(self, done: float, note: str = "") -> None:
        """Set the count to ``done`` units."""
        with self._lock:
            self._set(done, note)

    def resume(self, done: float) -> None:
        """Set the count to ``done`` units of an earlier command, which do not count for the speed."""
        with self._lock:
            self.done = self._done_before = done
            self._start()

    def skip(self, count: float) -> None:
        """Count ``count`` more units of an earlier command, which do not count for the speed."""
        with self._lock:
            self.done += count
            self._done_before += count

    def expect(self, count: float) -> None:
        """Set the total: ``count`` more units are to do, whatever it was before."""
        with self._lock:
            self.total = self.done + count

    def count(self, items: Iterable[T]) -> Iterator[T]:
        """Return an iterator over ``items`` that counts each."""
        for item in items:
            yield item
            self.advance()

    @property
    def share(self) -> float | None:
        """How much is done, 0 to 1; None if the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    @property
    def seconds_left(self) -> float | None:
        """The time that the rest takes at the last speed; None as long as too little is done to know it."""
        done_now, elapsed = self.done - self._done_before, self._elapsed
        if self.total is None or done_now <= 0 or elapsed <= 0:
            return None
        if elapsed < _KNOWN_SECONDS and done_now < _KNOWN_SHARE * (self.total - self._done_before):
            return None
        seconds, done = self._points[0]
        if done_now <= done or elapsed <= seconds:
            seconds, done = 0.0, 0.0
        return max(0.0, self.total - self.done) * (elapsed - seconds) / (done_now - done)

    def line(self, *, is_finished: bool = False) -> str:
        """Return one line of a log, however long."""
        return (f"{self.name}: " if self.name else "") + self.text(is_finished=is_finished)

    def text(self, *, is_finished: bool = False) -> str:
        """Return the line without the name; at the end without the note, which is over then."""
        if is_finished:
            return f"{self._count_text()} in {duration_text(round(self._elapsed))}"
        left = self.seconds_left
        time_text = duration_text(round(self._elapsed)) + (" elapsed" if self.unit else "")
        if left is not None:
            time_text = f"{duration_text(round(left))} left"
        return ", ".join(text for text in (self._count_text(), time_text, self.note) if text)

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _start(self) -> None:
        self._started = self._noted_at = time.monotonic()
        self._points = deque([(0.0, 0.0)])
        """Seconds and units done, of the last ten minutes, or of the last 20 points if they took longer."""

    def _set(self, done: float, note: str) -> None:
        self.done = done
        self.note = note or self.note
        now = time.monotonic()
        if now - self._noted_at >= _SECONDS_BETWEEN_POINTS:
            self._noted_at = now
            seconds, points = now - self._started, self._points
            points.append((seconds, done - self._done_before))
            while len(points) > _WINDOW_POINTS and points[1][0] <= seconds - _WINDOW_SECONDS:
                points.popleft()

    def _count_text(self) -> str:
        done = int(self.done + _ROUNDING)
        if self.unit in ("", PERCENT_UNIT):
            return f"{done} %" if self.unit else ""
        of = f" of {self.total:,.0f}" if self.total is not None else ""
        is_one = (self.done if self.total is None else self.total) == 1
        tenths = int(10 * self.done + _ROUNDING) / 10
        has_tenths = self.total is not None and self.total < _FEW and tenths > done  # a game may take minutes
        return f"{tenths if has_tenths else done:,}{of} {self.unit.removesuffix('s') if is_one else self.unit}"


@contextmanager
def progress_lines(progress: Progress, show: Callable[[str], None]) -> Iterator[None]:
    """Pass a line of ``progress`` to ``show`` now and then while the block runs, from a thread; nothing after it."""
    is_over = threading.Event()

    def watch() -> None:
        due = time.monotonic() + SECONDS_TO_FIRST_LINE
        while not is_over.wait(_SECONDS_BETWEEN_LOOKS):
            if time.monotonic() < due:
                continue
            due = time.monotonic() + SECONDS_BETWEEN_LINES
            try:
                show(progress.line())
            except (OSError, ValueError):  # nobody reads stderr any more
                return

    thread = threading.Thread(target=watch, daemon=True, name="progress")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


class ProgressBars:
    """Usage: ``with bars.show(progress): …``; several may be shown at once, a line each."""

    def __init__(self) -> None:
        self._shown: list[Progress] = []
        self._live: Live | None = None

    @contextmanager
    def show(self, progress: Progress) -> Iterator[None]:
        """Show a line for ``progress`` while the block runs; it is removed afterwards."""
        from rich.console import Console, Group  # a tenth of a second to import
        from rich.live import Live

        self._shown = [*self._shown, progress]
        is_first = self._live is None
        if self._live is None:
            console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
            self._live = Live(
                console=console,
                transient=True,
                refresh_per_second=_REFRESHES_PER_SECOND,
                get_renderable=lambda: Group(*(_bar_line(each, console.width) for each in self._shown)),
            )
            self._live.start()
        try:
            yield
        finally:
            self._shown = [each for each in self._shown if each is not progress]
            if is_first:
                self._live.stop()
                self._live = None


def _bar_line(progress: Progress, columns: int) -> RenderableType:
    """Return a line whose text is cut off where the terminal ends."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1, 0, 0))
    cells: list[RenderableType] = [Text(progress.name, no_wrap=True)] if progress.name else []
    if progress.share is not None and columns >= _BARE_COLUMNS:
        cells.append(ProgressBar(total=1.0, completed=progress.share, width=_BAR_COLUMNS))
    table.add_row(*cells, Text(progress.text(), no_wrap=True, overflow="ellipsis"))
    return table
