"""The text of progress: what is done, the time left and a note, in as many columns as there are."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from suphx_platform.console.table_text import duration_text

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
