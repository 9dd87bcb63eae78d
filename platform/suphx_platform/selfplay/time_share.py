"""How much of a self-play is over: its updates and its matches, each by the time that it usually takes.

>>> times = TimeShare(config, evaluation_hanchans=200, final_hanchans=2000, starts_with_match=True)
>>> times.add_hanchans(8)  # played in a match
>>> times.share(updates=20, seconds=31.5)
0.18
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from suphx.evaluation.deal_match import hanchans_of
from suphx.training.reinforcement_config import ReinforcementConfig

_HANCHANS_PER_DECISION = 60 / 8192
"""Hanchans of a match that take about as long as learning from a decision."""


class TimeShare:
    """The work of a run, counted in updates: a hanchan of a match is a part of one.

    Over Ray, matches are played beside the updates, and tell of no hanchans before they end; they count as if the
    updates waited for them.
    """

    def __init__(
        self,
        config: ReinforcementConfig,
        *,
        evaluation_hanchans: int,
        final_hanchans: int,
        starts_with_match: bool,
    ) -> None:
        """``evaluation_hanchans``, ``final_hanchans``: of all matches together during the run, and at its end."""
        self._config = config
        self._evaluation, self._final = evaluation_hanchans, final_hanchans
        self._starts_with_match = starts_with_match
        self._ended = self._open = 0.0
        """Hanchans of matches that are over, and of those that are not."""
        self._skipped = 0

    def add_hanchans(self, hanchans: float) -> None:
        """Count hanchans of a match that is being played; parts are allowed."""
        self._open += hanchans

    def skip_match(self) -> None:
        """Note that a match during the run is left out."""
        self._skipped += self._evaluation

    def add_match(self, entry: Mapping[str, Any]) -> None:
        """Count a match that has ended: an entry of ``matches`` in metrics.json."""
        hanchans = entry["hanchans"] + (hanchans_of(self._config.evaluation_deals) if "deals" in entry else 0)
        self._ended += hanchans
        self._open = max(0.0, self._open - hanchans)

    def share(self, updates: int, seconds: float) -> float:
        """Return how much is over, 0 to 1, after ``updates`` updates, which took ``seconds`` without matches."""
        config = self._config
        done = min(1.0, config.share_done(updates, seconds))
        if not (config.max_updates or (done and updates)):
            return done  # of a time limit: how many updates fit into it is not known yet
        total = updates / done if done and updates else float(config.max_updates)
        matches = max(0, math.ceil(total / config.evaluate_every) - 1) if config.evaluate_every else 0
        matches += bool(self._starts_with_match and config.evaluate_every)
        hanchans = max(0, matches * self._evaluation - self._skipped) + self._final
        played = self._ended + self._open
        per_update = _HANCHANS_PER_DECISION * config.buffer.batch_size
        over, whole = done * total + played / per_update, total + max(hanchans, played) / per_update
        return over / whole
