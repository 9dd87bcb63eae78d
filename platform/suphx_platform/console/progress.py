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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from suphx_platform.console.table_text import duration_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

PERCENT_UNIT = "%"
_WINDOW_SECONDS = 600.0
_WINDOW_POINTS = 20
_ROUNDING = 1e-6
"""Parts of a unit are summed: a thousand games may be 999.999999."""
_FEW = 100
"""Units: of fewer, tenths are shown."""
_KNOWN_SHARE = 0.05
"""Of the work of this sitting: before it is done, start-up costs make an estimate of the time left useless."""
_KNOWN_SECONDS = 60.0
"""After this time even less work gives an estimate: that of a run of days."""


class RateWindow:
    """The speed of the last ten minutes, or of the last 20 points if they took longer.

    >>> window = RateWindow()
    >>> window.add(0.0, 0)
    >>> window.add(30.0, 60)
    >>> window.rate(40.0, 60)
    1.5
    """

    def __init__(self) -> None:
        self._points: deque[tuple[float, float]] = deque()

    def __len__(self) -> int:
        return len(self._points)

    def add(self, seconds: float, done: float) -> None:
        """Add a point: what was done after so many seconds."""
        points = self._points
        points.append((seconds, done))
        while len(points) > _WINDOW_POINTS and points[1][0] <= seconds - _WINDOW_SECONDS:
            points.popleft()

    def seconds(self, now: float) -> float:
        """Return how long ago the oldest point is."""
        return now - self._points[0][0] if self._points else 0.0

    def forget_first(self) -> None:
        """Remove the oldest point."""
        self._points.popleft()

    def rate(self, seconds: float, done: float) -> float | None:
        """Return what is done in a second, until now: ``done`` after ``seconds``; None if it is unknown."""
        if not self._points:
            return None
        first_seconds, first_done = self._points[0]
        if done <= first_done or seconds <= first_seconds:
            return None
        return (done - first_done) / (seconds - first_seconds)


@dataclass(slots=True)
class ProgressState:
    """How far some work is."""

    unit: str
    """What is counted, such as ``games``; ``%`` for a share of 100; empty for work that cannot be counted."""
    total: float | None = None
    """How many units there are; None if unknown."""
    name: str = ""
    """Shown in front, such as ``discard``."""
    done: float = 0.0
    """Units done, including those of an earlier sitting."""
    done_before: float = 0.0
    """Units done in an earlier sitting; the speed is measured without them."""
    note: str = ""
    """Items separated by ``, ``, the most important one first."""
    has_own_estimate: bool = False
    """Whether ``own_seconds_left`` counts, and not the speed."""
    own_seconds_left: float | None = None
    """The time left as whoever works knows it; None as long as it is unknown."""
    window: RateWindow = field(default_factory=RateWindow)
    """What was done in this sitting, by the time since its start."""

    @property
    def share(self) -> float | None:
        """How much is done, 0 to 1; None if the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    def seconds_left(self, elapsed: float) -> float | None:
        """Return the time that the rest takes at the last speed; None as long as too little is done to know it."""
        if self.has_own_estimate:
            return self.own_seconds_left
        done_now = self.done - self.done_before
        if self.total is None or done_now <= 0 or elapsed <= 0:
            return None
        if elapsed < _KNOWN_SECONDS and done_now < _KNOWN_SHARE * (self.total - self.done_before):
            return None
        rate = self.window.rate(elapsed, done_now) or done_now / elapsed
        return max(0.0, self.total - self.done) / rate


def plain_line(state: ProgressState, elapsed: float, *, is_finished: bool = False) -> str:
    """Return the progress as one line of a log, however long; at the end without the note, which is over then."""
    head = f"{state.name}: " if state.name else ""
    return head + ", ".join(_items(state, elapsed, is_finished=is_finished))


def fitting_items(state: ProgressState, elapsed: float, columns: int) -> str:
    """Return the progress in at most ``columns`` characters; items that do not fit are left out from the end."""
    items = _items(state, elapsed)
    text = items[0] if items else ""
    for item in items[1:]:
        longer = f"{text}, {item}"
        if len(longer) > columns:
            break
        text = longer
    return text


def _items(state: ProgressState, elapsed: float, *, is_finished: bool = False) -> list[str]:
    """Return what there is to show, the most important item first."""
    count = _count(state)
    if is_finished:
        return [f"{count} in {duration_text(round(elapsed))}"]
    return [item for item in (count, _time(state, elapsed), *state.note.split(", ")) if item]


def _count(state: ProgressState) -> str:
    if state.unit == PERCENT_UNIT:
        return f"{int(state.done + _ROUNDING)} %"
    if not state.unit:
        return ""
    of = f" of {state.total:,.0f}" if state.total is not None else ""
    is_one = (state.done if state.total is None else state.total) == 1
    done = int(state.done + _ROUNDING)
    tenths = int(10 * state.done + _ROUNDING) / 10
    has_tenths = state.total is not None and state.total < _FEW and tenths > done  # a game may take minutes
    return f"{tenths if has_tenths else done:,}{of} {state.unit.removesuffix('s') if is_one else state.unit}"


def _time(state: ProgressState, elapsed: float) -> str:
    left = state.seconds_left(elapsed)
    if left is not None:
        return f"{duration_text(round(left))} left"
    return duration_text(round(elapsed)) + (" elapsed" if state.unit else "")


T = TypeVar("T")

SECONDS_TO_FIRST_LINE = 2.5
SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_BETWEEN_POINTS = 1.0


class Progress:
    """Counts units of work; any thread may count. What shows it reads ``state`` and ``elapsed``."""

    def __init__(self, state: ProgressState) -> None:
        self.state = state
        self._lock = threading.Lock()
        self._start()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def advance(self, count: float = 1, note: str = "") -> None:
        """Count ``count`` more units; ``note``: short items separated by ``, ``, such as ``"loss 0.71, 3 games"``."""
        with self._lock:
            self._set(self.state.done + count, note)

    def reach(self, done: float, note: str = "") -> None:
        """Set the count to ``done`` units."""
        with self._lock:
            self._set(done, note)

    def estimate(self, done: float, seconds_left: float | None, note: str = "") -> None:
        """Set the count to ``done`` units, and the time left to what the caller knows better than the speed shows."""
        with self._lock:
            self.state.has_own_estimate, self.state.own_seconds_left = True, seconds_left
            self._set(done, note)

    def resume(self, done: float) -> None:
        """Set the count to ``done`` units of an earlier sitting, which do not count for the speed."""
        with self._lock:
            self.state.done = self.state.done_before = done
            self._start()

    def skip(self, count: float) -> None:
        """Count ``count`` more units of an earlier sitting, which do not count for the speed."""
        with self._lock:
            self.state.done += count
            self.state.done_before += count

    def expect(self, count: float) -> None:
        """Set the total: ``count`` more units are to do, whatever it was before."""
        with self._lock:
            self.state.total = self.state.done + count

    def count(self, items: Iterable[T]) -> Iterator[T]:
        """Return an iterator over ``items`` that counts each."""
        for item in items:
            yield item
            self.advance()

    def _start(self) -> None:
        self._started = self._noted_at = time.monotonic()
        self.state.window = RateWindow()
        self.state.window.add(0.0, 0.0)

    def _set(self, done: float, note: str) -> None:
        self.state.done = done
        self.state.note = note or self.state.note
        now = time.monotonic()
        if now - self._noted_at >= _SECONDS_BETWEEN_POINTS:
            self._noted_at = now
            self.state.window.add(now - self._started, done - self.state.done_before)


class ProgressLines:
    """Consumes: a progress. Produces: a plain line through ``show`` now and then, from a thread. Waits for: nothing.

    ``with ProgressLines(progress, show): …`` frames the work; nothing is shown after it.
    """

    def __init__(self, progress: Progress, show: Callable[[str], None]) -> None:
        self._progress = progress
        self._show = show
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="progress")

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        due = time.monotonic() + SECONDS_TO_FIRST_LINE
        while not self._is_over.wait(_SECONDS_BETWEEN_LOOKS):
            if time.monotonic() < due:
                continue
            due = time.monotonic() + SECONDS_BETWEEN_LINES
            try:
                self._show(plain_line(self._progress.state, self._progress.elapsed))
            except (OSError, ValueError):  # nobody reads stderr any more
                return


_BAR_COLUMNS = 20
_REFRESHES_PER_SECOND = 4
_BARE_COLUMNS = 60
"""A narrower terminal gets no bar, only its text."""


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
    from rich.cells import cell_len
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    state = progress.state
    table = Table.grid(padding=(0, 1, 0, 0))
    cells: list[RenderableType] = []
    room = columns - 1
    if state.name:
        cells.append(Text(state.name, no_wrap=True))
        room -= cell_len(state.name) + 1
    if state.share is not None and columns >= _BARE_COLUMNS:
        cells.append(ProgressBar(total=1.0, completed=state.share, width=_BAR_COLUMNS))
        room -= _BAR_COLUMNS + 1
    cells.append(Text(fitting_items(state, progress.elapsed, room), no_wrap=True, overflow="crop"))
    table.add_row(*cells)
    return table
