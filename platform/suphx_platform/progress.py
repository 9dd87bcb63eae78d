"""Progress of work that takes long: a bar on a terminal, a plain line now and then elsewhere.

A thread redraws it, so that a person sees the time pass while the work itself has nothing to report.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from suphx_platform.progress_line import ProgressState, bar_line, plain_line

T = TypeVar("T")

SECONDS_TO_FIRST_LINE = 2.5
SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_BARS = 0.5
_SHORTEST_REDRAW = 0.1


class Progress(ABC):
    """Something that counts work that is done."""

    @abstractmethod
    def advance(self, count: float = 1, note: str = "") -> None:
        """Count ``count`` more units; ``note``: short items separated by ``, ``, such as ``"loss 0.71, 3 games"``."""

    @abstractmethod
    def reach(self, done: float, note: str = "") -> None:
        """Set the count to ``done`` units."""

    @abstractmethod
    def resume(self, done: float) -> None:
        """Set the count to ``done`` units of an earlier sitting, which do not count for the speed."""

    def count(self, items: Iterable[T]) -> Iterator[T]:
        """Return an iterator over ``items`` that counts each."""
        for item in items:
            yield item
            self.advance()


class SilentProgress(Progress):
    """Counts nothing."""

    def advance(self, count: float = 1, note: str = "") -> None:
        """Do nothing."""

    def reach(self, done: float, note: str = "") -> None:
        """Do nothing."""

    def resume(self, done: float) -> None:
        """Do nothing."""


class LiveProgress(Progress):
    """Consumes: counts. Produces: a text through ``show``, from its own thread too. Waits for: nothing.

    ``show(text)`` is called when a new text is due; ``start`` and ``finish`` frame the work.
    """

    def __init__(self, state: ProgressState, show: Callable[[str], None], *, seconds_between: float) -> None:
        self.state = state
        self._show = show
        self._seconds_between = seconds_between
        self._started = self._shown = time.monotonic()
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="progress")

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def start(self) -> None:
        """Begin to redraw."""
        self._thread.start()

    def finish(self) -> None:
        """Stop to redraw; nothing is shown after it."""
        self._is_over.set()
        self._thread.join()

    def advance(self, count: float = 1, note: str = "") -> None:
        """Count ``count`` more units and show that if it is time."""
        self._set(self.state.done + count, note)

    def reach(self, done: float, note: str = "") -> None:
        """Set the count to ``done`` units and show that if it is time."""
        self._set(done, note)

    def resume(self, done: float) -> None:
        """Set the count to ``done`` units of an earlier sitting."""
        with self._lock:
            self.state.done = self.state.done_before = done
            self._started = time.monotonic()

    def text(self) -> str:
        """Return what is shown now."""
        return plain_line(self.state, self.elapsed)

    def is_due(self) -> bool:
        """Tell whether the next text is due."""
        return time.monotonic() - self._shown >= self._seconds_between

    def _set(self, done: float, note: str) -> None:
        with self._lock:
            self.state.done = done
            if note:
                self.state.note = note
        self._show_if_due()

    def _show_if_due(self) -> None:
        with self._lock:
            if not self.is_due() or self._is_over.is_set():
                return
            self._shown = time.monotonic()
            text = self.text()
        self._show(text)

    def _watch(self) -> None:
        while not self._is_over.wait(_SECONDS_BETWEEN_BARS):
            try:
                self._show_if_due()
            except (OSError, ValueError):  # nobody reads stderr any more
                return


class BarProgress(LiveProgress):
    """A bar that is redrawn on one line of a terminal."""

    def __init__(
        self, state: ProgressState, show: Callable[[str], None], columns: Callable[[], int], *, is_unicode: bool
    ) -> None:
        """``columns``: returns the width of the terminal as it is now."""
        super().__init__(state, show, seconds_between=_SHORTEST_REDRAW)
        self._columns = columns
        self._is_unicode = is_unicode

    def text(self) -> str:
        """Return the line with the bar."""
        return bar_line(self.state, self.elapsed, self._columns() - 1, is_unicode=self._is_unicode)


class LineProgress(LiveProgress):
    """A line now and then, the first one after some seconds."""

    def __init__(self, state: ProgressState, show: Callable[[str], None]) -> None:
        super().__init__(state, show, seconds_between=SECONDS_BETWEEN_LINES)
        self.num_lines = 0
        self._shown += SECONDS_TO_FIRST_LINE - SECONDS_BETWEEN_LINES

    def text(self) -> str:
        """Return the line and count it."""
        self.num_lines += 1
        return super().text()
