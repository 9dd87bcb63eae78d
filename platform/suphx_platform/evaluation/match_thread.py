"""Matches beside self-play over Ray: a thread of the driver gives their games to workers on the nodes for simulators.

A worker that is lost loses the games that it played; others play these again (ray_game_workers.py). Matches at the end
of a run keep what is finished in the run's folder, so that a killed run goes on with them.
"""

from __future__ import annotations

import logging
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

from suphx.selfplay.layout import BESIDE
from suphx_platform.evaluation.ray_game_workers import RayGameWorkers
from suphx_platform.selfplay.self_play_match import MatchOrder, MatchOutcome

_BESIDE_SIMULATORS = {"num_cpus": 0, "resources": {"simulator": BESIDE}}
_logger = logging.getLogger(__name__)


class MatchThread:
    """Consumes: orders. Produces: outcomes, one after another. Waits for: workers.

    >>> matches = MatchThread()
    >>> future = matches.play(order)  # comes back at once
    >>> future.result().match.difference
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="match")
        self._is_closed = Event()

    def play(self, order: MatchOrder) -> Future[MatchOutcome]:
        """Have a match played with the nets that its folder has now.

        The error of the future is a ChildProcessError if the workers of the same games are lost again and again.
        """
        files = None if order.keeps_games else order.files()  # the nets of a run that goes on change
        return self._executor.submit(self._play, order, files)

    def close(self) -> None:
        """End the match that is played, and forget all others."""
        self._is_closed.set()
        self._executor.shutdown(cancel_futures=True)

    def _play(self, order: MatchOrder, files: dict[str, bytes] | None) -> MatchOutcome:
        workers = RayGameWorkers(
            order.workers, say=_logger.info, needs=_BESIDE_SIMULATORS, is_stopped=self._is_closed.is_set
        )
        try:
            if files is None:
                return order.play(other_workers=workers)
            with tempfile.TemporaryDirectory(prefix="suphx-match-") as name:
                for path, content in files.items():
                    target = Path(name, path)
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(content)
                return replace(order, folder=Path(name)).play(other_workers=workers)
        finally:
            workers.close()
