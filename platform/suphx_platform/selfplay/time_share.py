"""How much of the time of a self-play is over: its updates and its matches, each by what it takes.

>>> times = TimeShare(config, evaluation_hanchans=200, final_hanchans=2000, starts_with_match=True)
>>> times.begin_match()
>>> times.add_hanchans(8)  # played in a match
>>> times.after(updates=20, seconds=31.5)
0.18
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from suphx.evaluation.deal_match import hanchans_of
from suphx_platform.parts.reinforcement_config import ReinforcementConfig

_HANCHANS_PER_DECISION = 60 / 8192
"""Hanchans of a match that take as long as learning from a decision, about; used until both have been measured."""


class TimeShare:
    """Consumes: updates and hanchans of matches with their times. Produces: a share from 0 to 1 that never falls.

    Matches that are played while the updates go on (over Ray) report no hanchans before they end; they count as if the
    updates waited for them.
    """

    def __init__(
        self,
        config: ReinforcementConfig,
        *,
        evaluation_hanchans: int,
        final_hanchans: int,
        starts_with_match: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``evaluation_hanchans``, ``final_hanchans``: of all matches together during the run, and at its end."""
        self._config = config
        self._evaluation, self._final = evaluation_hanchans, final_hanchans
        self._starts_with_match = starts_with_match
        self._clock = clock
        self._counted_at = clock()
        self._measured = self._seconds = 0.0
        self._ended = 0.0
        self._open = 0.0
        self._skipped = 0
        self._share = 0.0
        self._first: tuple[int, float] | None = None

    def begin_match(self) -> None:
        """Take the time: matches begin."""
        self._counted_at = self._clock()

    def add_hanchans(self, hanchans: float) -> None:
        """Count hanchans of a match that is being played; parts are allowed."""
        now = self._clock()
        self._seconds += now - self._counted_at
        self._counted_at = now
        self._measured += hanchans
        self._open += hanchans

    def skip_match(self) -> None:
        """Note that a match during the run is left out."""
        self._skipped += self._evaluation

    def add_match(self, entry: Mapping[str, Any]) -> None:
        """Count a match that has ended (an entry of ``matches`` in metrics.json), of this sitting or an earlier one."""
        hanchans = entry["hanchans"] + (hanchans_of(self._config.evaluation_deals) if "deals" in entry else 0)
        self._ended += hanchans
        self._open = max(0.0, self._open - hanchans)

    def after(self, updates: int, seconds: float) -> float:
        """Return the share after ``updates`` updates, which took ``seconds`` without matches.

        Before the first update, ``seconds`` are those in which the critic learned. They tell nothing about an update.
        """
        done = self._config.share_done(updates, seconds)
        if not updates or self._first is None:
            self._first = (updates, seconds)
        if not done and not self._measured:
            return self._share
        per_update = self._seconds_per_update(updates, seconds)
        per_hanchan = self._seconds / self._measured if self._measured else None
        ratio = _HANCHANS_PER_DECISION * self._config.buffer.batch_size
        if per_hanchan is None:
            per_hanchan = (per_update or 0.0) / ratio
        played = self._ended + self._open
        spent = seconds + played * per_hanchan
        left = self._seconds_left(updates, seconds, per_update or per_hanchan * ratio)
        left += max(0.0, self._hanchans(done, updates) - played) * per_hanchan
        share = spent / (spent + left) if spent + left else min(1.0, done)
        self._share = max(self._share, min(1.0, share))
        return self._share

    def _seconds_per_update(self, updates: int, seconds: float) -> float | None:
        """Return what an update takes: in this sitting, without the time before the first one; None if unknown."""
        assert self._first is not None
        first_updates, first_seconds = self._first
        if updates > first_updates:
            return (seconds - first_seconds) / (updates - first_updates)
        return seconds / updates if updates else None

    def _seconds_left(self, updates: int, seconds: float, per_update: float) -> float:
        """Return how long the updates that are left take."""
        limits = [(self._config.max_updates - updates) * per_update] if self._config.max_updates else []
        limits += [60 * self._config.max_minutes - seconds] if self._config.max_minutes else []
        return max(0.0, min(limits))

    def _hanchans(self, done: float, updates: int) -> int:
        """Return how many hanchans all matches of the run have, as far as the number of updates is known."""
        total = updates / min(1.0, done) if done and updates else self._config.max_updates
        every = self._config.evaluate_every
        matches = max(0, math.ceil(total / every) - 1) if every else 0
        if self._starts_with_match and every:
            matches += 1
        return max(0, matches * self._evaluation - self._skipped) + self._final
