"""Matches during self-play: the newest version against the nets that the run began with, and against the weak ones."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from suphx.evaluation.match import MatchReport, play_match
from suphx.features.head import HEAD_NAMES
from suphx.models.checkpoint_name import checkpoint_name
from suphx_platform.reinforcement_config import ReinforcementConfig

START_FOLDER = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOrder:
    """A match that is to be played."""

    folder: Path
    """Has the candidate's checkpoints, and those of the baselines in ``start``."""
    baseline: str
    """start or weak."""
    num_hanchans: int
    seed: int
    workers: int

    def play(self) -> MatchReport:
        """Play it here."""
        start = self.folder / START_FOLDER
        return play_match(
            str(self.folder),
            str(start) if self.baseline == "start" else f"{start}:weak",
            num_hanchans=self.num_hanchans,
            seed=self.seed,
            workers=self.workers,
        )

    def files(self) -> dict[str, bytes]:
        """Return the checkpoints that it needs by their path in the folder, for another machine."""
        names = [checkpoint_name(head) for head in HEAD_NAMES]
        names += [f"{START_FOLDER}/{checkpoint_name(h, is_weak=self.baseline == 'weak')}" for h in HEAD_NAMES]
        return {name: (self.folder / name).read_bytes() for name in names}


def play_elsewhere(order: MatchOrder, files: Mapping[str, bytes]) -> MatchReport:
    """Play a match with ``files`` of its folder, which itself is on another machine."""
    with tempfile.TemporaryDirectory(prefix="suphx-match-") as name:
        for path, content in files.items():
            target = Path(name, path)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(content)
        return replace(order, folder=Path(name)).play()


class MatchPlayer(Protocol):
    """Whoever has matches played."""

    def play_match(self, order: MatchOrder) -> Future[MatchReport]:
        """Have it played, at once or while other work goes on."""
        ...


class SelfPlayMatches:
    """Consumes: checkpoints in a folder. Produces: entries for ``matches`` of metrics.json. Waits for: nothing.

    >>> matches = SelfPlayMatches(config, folder, flow, has_weak=True)
    >>> matches.begin(100)  # after 100 updates
    >>> for entry in matches.ended():
    ...     print(entry["baseline"], entry["difference"])
    """

    def __init__(self, config: ReinforcementConfig, folder: Path, player: MatchPlayer, *, has_weak: bool) -> None:
        self._config = config
        self._folder = folder
        self._player = player
        self._baselines = ("start", "weak") if has_weak else ("start",)
        self._open: list[tuple[int, str, Future[MatchReport]]] = []

    def begin(self, updates: int) -> None:
        """Have the newest checkpoints in the folder play, those after ``updates`` updates."""
        for baseline in self._baselines:
            order = MatchOrder(
                folder=self._folder,
                baseline=baseline,
                num_hanchans=self._config.evaluation_hanchans,
                seed=updates % (1 << 20),  # other walls every time
                workers=self._config.evaluation_workers,
            )
            self._open.append((updates, baseline, self._player.play_match(order)))

    def ended(self, *, waits: bool = False) -> list[dict[str, Any]]:
        """Return the matches that ended since the last call, in the order of their beginning; ``waits`` for all."""
        entries = []
        while self._open and (waits or self._open[0][2].done()):
            updates, baseline, future = self._open.pop(0)
            entries.append(_entry(updates, baseline, future.result()))
        return entries


def _entry(updates: int, baseline: str, match: MatchReport) -> dict[str, Any]:
    difference = match.difference
    return {
        "updates": updates,
        "baseline": baseline,
        "hanchans": match.hanchans,
        "average_placement": match.statistics.average_placement,
        "difference": difference.mean,
        "interval": [difference.interval.low, difference.interval.high],
    }
