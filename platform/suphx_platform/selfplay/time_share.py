"""How much of the time of a self-play is over and how much is left: its updates and its matches, each by what it takes.

>>> times = TimeShare(config, evaluation_hanchans=200, final_hanchans=2000, starts_with_match=True)
>>> times.begin_match()
>>> times.add_hanchans(8)  # played in a match
>>> times.after(updates=20, seconds=31.5)
RunTime(share=0.18, seconds_left=143.5)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from suphx.evaluation.deal_match import hanchans_of
from suphx.training.reinforcement_config import ReinforcementConfig

_HANCHANS_PER_DECISION = 60 / 8192
"""Hanchans of a match that take as long as learning from a decision, about; used until both have been measured."""
_KNOWN_UPDATES, _KNOWN_SECONDS = 20, 10.0
"""The speed of updates is known after so many of them, or after so long."""


class RunTime(NamedTuple):
    """Where a run stands."""

    share: float
    """Of its time, 0 to 1."""
    seconds_left: float | None
    """By the speed of this process; None until it is known."""


class TimeShare:
    """Consumes: updates and hanchans of matches with their times. Produces: the share that is over, the time left.

    The share is that of the work, weighed by what an update and a hanchan take now. So a run that resumes at another
    speed has the share that it had before. Matches that are played while the updates go on (over Ray) report no
    hanchans before they end; they count as if the updates waited for them.
    """

    def __init__(
        self,
        config: ReinforcementConfig,
        *,
        evaluation_hanchans: int,
        final_hanchans: int,
        starts_with_match: bool,
        match_seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``evaluation_hanchans``, ``final_hanchans``: of all matches together during the run, and at its end.

        ``match_seconds``: spent on matches in earlier sittings.
        """
        self._config = config
        self._evaluation, self._final = evaluation_hanchans, final_hanchans
        self._starts_with_match = starts_with_match
        self._clock = clock
        self._counted_at = clock()
        self.match_seconds = match_seconds
        """What matches have taken, over all sittings."""
        self._measured = self._ended = self._open = 0.0
        """Hanchans: those that took these seconds, those of matches that are over, and of one that is not."""
        self._skipped = 0
        self._newest, self._changes = -1, 0
        self._since: tuple[float, int] | None = None
        """Seconds and updates from which on the speed of updates counts."""

    def begin_match(self) -> None:
        """Take the time: matches begin."""
        self._counted_at = self._clock()

    def add_hanchans(self, hanchans: float, *, is_kept: bool = False) -> None:
        """Count hanchans of a match that is being played; parts are allowed. ``is_kept``: of an earlier sitting."""
        now = self._clock()
        self._open += hanchans
        if not is_kept:
            self.match_seconds += now - self._counted_at
            self._measured += hanchans
        self._counted_at = now

    def skip_match(self) -> None:
        """Note that a match during the run is left out."""
        self._skipped += self._evaluation

    def add_match(self, entry: Mapping[str, Any], *, is_earlier: bool = False) -> None:
        """Count a match that has ended: an entry of ``matches`` in metrics.json.

        ``is_earlier``: in another sitting.
        """
        hanchans = entry["hanchans"] + (hanchans_of(self._config.evaluation_deals) if "deals" in entry else 0)
        self._ended += hanchans
        if is_earlier:
            self._measured += hanchans
        else:
            self._open = max(0.0, self._open - hanchans)

    def after(self, updates: int, seconds: float) -> RunTime:
        """Return where the run stands after ``updates`` updates, which took ``seconds`` without matches.

        Before the first update, ``seconds`` are those in which the critic learned. They tell nothing about an update.
        """
        config = self._config
        done = min(1.0, config.share_done(updates, seconds))
        per_update, is_known = self._seconds_per_update(updates, seconds)
        per_hanchan = self.match_seconds / self._measured if self.match_seconds and self._measured else None
        ratio = _HANCHANS_PER_DECISION * config.buffer.batch_size
        if per_update is None:
            per_update = 0.0 if per_hanchan is None else per_hanchan * ratio
        if per_hanchan is None:
            per_hanchan = per_update / ratio
        limits = []  # how long the updates that are left take, and those that are done at the same speed
        if config.max_updates:
            limits.append(((config.max_updates - updates) * per_update, updates * per_update))
        if config.max_minutes:
            limits.append((60 * config.max_minutes - seconds, seconds))
        left_updates, learned = min(limits)
        learning = max(0.0, left_updates)
        total = updates / done if done and updates else config.max_updates  # updates, as far as that is known
        matches = max(0, math.ceil(total / config.evaluate_every) - 1) if config.evaluate_every else 0
        matches += bool(self._starts_with_match and config.evaluate_every)
        hanchans = max(0, matches * self._evaluation - self._skipped) + self._final
        played = self._ended + self._open
        over = learned + played * per_hanchan
        left = learning + max(0.0, hanchans - played) * per_hanchan
        share = over / (over + left) if over + left else done
        return RunTime(share, left if is_known or not learning or not config.max_updates else None)

    def _seconds_per_update(self, updates: int, seconds: float) -> tuple[float | None, bool]:
        """Return what an update takes, by this process if it has made some, and whether that is known well.

        The first update had to wait for the first games.
        """
        if updates > self._newest or not updates:
            self._newest, self._changes = updates, self._changes + 1 if updates else 1
            if self._changes == 2:
                self._since = (seconds, updates)
        first_seconds, first_updates = self._since or (0.0, 0)
        made, took = updates - first_updates, seconds - first_seconds
        is_known = self._since is not None and (made >= _KNOWN_UPDATES or took >= _KNOWN_SECONDS)
        if not made:
            return (seconds / updates if updates else None), False
        return took / made, is_known
