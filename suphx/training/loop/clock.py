"""The time that a training takes, and how much of it is spent waiting for samples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from suphx.training.loop.training_state import TrainingProgress


class Clock:
    """Adds the time that passes to ``progress``; knows how fast rows go and how long was waited for them.

    On a GPU the wait is that of the process that launches the work: the device may still be busy with what was
    launched before, so that the share is the most that the device can have been idle for lack of samples.
    """

    def __init__(self, progress: TrainingProgress) -> None:
        self._progress = progress
        self._last_tick = self._lap_start = time.monotonic()
        self._lap_samples, self._lap_waited = progress.samples, progress.waited_seconds

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time inside the block as waiting."""
        start = time.monotonic()
        yield
        self._progress.waited_seconds += time.monotonic() - start

    def tick(self) -> None:
        """Add the time since the last tick."""
        now = time.monotonic()
        self._progress.seconds += now - self._last_tick
        self._last_tick = now

    def lap(self) -> tuple[float, float]:
        """Return rows a second and the share of waiting since the last lap, and start a new one."""
        now, progress = time.monotonic(), self._progress
        elapsed = max(now - self._lap_start, 1e-9)
        samples, waited = progress.samples - self._lap_samples, progress.waited_seconds - self._lap_waited
        self._lap_start, self._lap_samples, self._lap_waited = now, progress.samples, progress.waited_seconds
        return samples / elapsed, waited / elapsed
