"""Progress of work that takes long: what is counted, and plain lines now and then where there is no terminal.

The bars of a terminal are in ``progress_bars.py``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from suphx_platform.console.progress_line import ProgressState, RateWindow, plain_line

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
