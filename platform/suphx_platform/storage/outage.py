"""A storage that is away: how long already, when it is asked again, and when it has been away for too long."""

from __future__ import annotations

import logging
import threading
import time

from suphx.growing_pause import GrowingPause

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two attempts."""
_SECONDS_BETWEEN_WARNINGS = 600.0

_logger = logging.getLogger(__name__)


class Outage:
    """Used by the thread that asks the storage; ``seconds`` and ``give_up`` also by others."""

    def __init__(self, limit: float, address: str) -> None:
        """``limit``: seconds without a success after which the storage's error is raised."""
        self._limit = limit
        self._address = address
        self._began: float | None = None
        self._warned = -_SECONDS_BETWEEN_WARNINGS
        self._pause = GrowingPause(_FIRST_PAUSE, _LONGEST_PAUSE)
        self._is_given_up = threading.Event()

    @property
    def seconds(self) -> float:
        """Seconds since the first failure after the last success; 0 while all is well."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def wait_after(self, error: OSError) -> None:
        """Wait before the next attempt; raise ``error``, with what it means, if there is to be none."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
            self._pause.reset()
        left = self._limit - (now - self._began)
        if left <= 0 or self._is_given_up.is_set():
            raise OSError(
                f"{error}; nothing could be stored for {self.seconds / 60:.0f} min (storage.max_outage_hours): the "
                "results are in the run's folder on this machine, repeat the command there to store them"
            ) from error
        if now - self._warned >= _SECONDS_BETWEEN_WARNINGS:
            self._warned = now
            text = "%s does not take what the run saves; the run goes on and tries again for %.1f h: %s"
            _logger.warning(text, self._address, left / 3600, error)
        self._is_given_up.wait(min(self._pause.next(), left))

    def end(self) -> None:
        """Note that the storage has taken something."""
        if self._began is not None:
            _logger.warning("%s takes what is saved again, after %.0f min", self._address, self.seconds / 60)
        self._began = None
        self._warned = -_SECONDS_BETWEEN_WARNINGS

    def give_up(self) -> None:
        """Wait no longer: the next failure is raised."""
        self._is_given_up.set()
