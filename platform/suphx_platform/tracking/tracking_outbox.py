"""Calls to MLflow, in order: a server that is away for a while must not end a run of days."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable

from suphx_platform.console.table_text import count_text
from suphx_platform.tracking.mlflow_call import TrackingError

_MAX_WAITING = 5_000
"""Messages; about 30 MB of figures."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 30.0, 600.0

_log = logging.getLogger(__name__)


class Outbox:
    """Usage::

        outbox = Outbox(is_there=lambda: client.search_experiments(max_results=1))
        outbox.put(lambda: client.log_batch(...))  # at once, or later if MLflow does not answer
        outbox.close()

    Consumes: messages. Produces: their calls, one after another. Waits for: an answer, until the call times out.
    After a timeout the next attempt is made after a pause, and begins with a short call.
    """

    def __init__(
        self, is_there: Callable[[], object], *, first_pause_seconds: float = _FIRST_PAUSE_SECONDS,
        max_waiting: int = _MAX_WAITING,
    ) -> None:  # fmt: skip
        """``is_there`` raises TrackingError within seconds if MLflow does not answer."""
        self._is_there = is_there
        self._first_pause = first_pause_seconds
        self._max_waiting = max_waiting
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_away = False
        self._pause = first_pause_seconds
        self._next_attempt = 0.0
        self._num_lost = 0

    def put(self, message: Callable[[], None], *, may_be_lost: bool = False) -> None:
        """Send it and all waiting messages; keep those that MLflow does not take now. Raises the error of a refusal.

        ``may_be_lost``: drop the message if too many are waiting.
        """
        if may_be_lost and len(self._waiting) >= self._max_waiting:
            self._num_lost += 1
        else:
            self._waiting.append(message)
        if time.monotonic() >= self._next_attempt:
            try:
                self.send()
            except TrackingError as error:
                self._note_away(error)

    def send(self) -> None:
        """Send all waiting messages; TrackingError if MLflow does not take them."""
        if self._is_away:
            self._is_there()
            _log.warning("MLflow answers again: sending %s%s", count_text(len(self._waiting), "message"), self._lost())
            self._is_away, self._pause = False, self._first_pause
        while self._waiting:
            message = self._waiting[0]
            try:
                message()
            except TrackingError:
                raise
            except Exception:
                self._waiting.popleft()  # it would be refused again
                raise
            self._waiting.popleft()

    def close(self) -> None:
        """Try once more, and warn about messages that cannot be sent."""
        try:
            self.send()
        except TrackingError as error:
            lost = len(self._waiting) + self._num_lost
            _log.warning(
                "%s. %s could not be sent to MLflow; the folder of the run contains all figures",
                error,
                count_text(lost, "message of this run", "messages of this run"),
            )

    def _note_away(self, error: TrackingError) -> None:
        if not self._is_away:
            _log.warning("%s. The run continues; its figures are kept and sent when MLflow answers", error)
        self._is_away = True
        self._next_attempt = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECONDS)

    def _lost(self) -> str:
        return f", {self._num_lost} more were dropped" if self._num_lost else ""
