"""A thread that sends the messages of one log, in order, however long MLflow is away."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from suphx.growing_pause import GrowingPause
from suphx_platform.console.table_text import count_text
from suphx_platform.tracking.client.mlflow_call import TrackingError
from suphx_platform.tracking.messages.message_log import Message, MessageLog

_MAX_TRIES = 5
"""How often a message is tried that MLflow does not take although it takes others."""
_TRIES = "tries"
"""In a message that was sent without success and has gone to the end: how often."""
_BATCH = 100
"""Messages that may become one call."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 2.0, 60.0

_logger = logging.getLogger(__name__)


class QueueFullError(TrackingError):
    """The disk does not take a message that is to wait elsewhere: that is no fault of MLflow or the message."""


class MessageLane:
    """Consumes: a log. Produces: calls of ``send``. Waits for: MLflow, in a thread of its own.

    What MLflow does not take now is sent again after a pause, each twice as long as the one before. What it refuses
    for good goes to ``set_aside``; so does what it has not taken ``_MAX_TRIES`` times, if it takes something else.
    """

    def __init__(
        self,
        log: MessageLog,
        *,
        send: Callable[[Sequence[Message]], None],
        set_aside: Callable[[Message, Exception], None],
        joined: Callable[[Sequence[Message]], int] = lambda messages: 1,
        apart: Callable[[Sequence[Message]], Sequence[Message]] = lambda messages: messages,
        probe: Callable[[], None] | None = None,
        is_ordered: bool = True,
    ) -> None:
        """``send`` raises TrackingError if the messages should be sent again, any other error if not.

        ``joined`` returns how many of the first messages one call of ``send`` gets; ``apart`` divides them again, into
        the smallest messages of which one may be refused. ``probe``: a small call that changes something in MLflow,
        which raises TrackingError if MLflow does not take it; None: the last message that it has taken is sent again.
        ``is_ordered``: a message that cannot be sent now holds up those behind it; otherwise it goes to the end.
        """
        self._messages = log
        self._send, self._set_aside, self._joined, self._apart = send, set_aside, joined, apart
        self._probe, self._is_ordered = probe, is_ordered
        self._changed = threading.Condition()
        self._pause = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        self._away_since: float | None = None
        self._num_attempts_failed = 0
        self._num_singly = self._num_passed = self._num_tries = 0
        self._has_set_aside = False
        """Whether the last message was set aside although it was not refused for good."""
        self._last_sent: Message | None = None
        self._error: TrackingError | None = None
        self._is_hurried = self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="mlflow", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """Return how many messages wait."""
        return len(self._messages)

    @property
    def away_seconds(self) -> float:
        """Seconds since the first failure after the last success; 0 while all is well."""
        since = self._away_since
        return 0.0 if since is None else time.monotonic() - since

    @property
    def error(self) -> TrackingError | None:
        """Why messages wait; None while all is well."""
        return self._error

    @property
    def fill(self) -> float:
        """Bytes that wait as a share of the log's bound."""
        return self._messages.fill

    def put(self, message: Message) -> None:
        """Have a message sent; OSError if it cannot be written down."""
        self._messages.append(message)
        with self._changed:
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all messages are sent; TrackingError if MLflow does not take them now."""
        with self._changed:
            failed = self._num_attempts_failed
            self._is_hurried = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not len(self._messages) or self._num_attempts_failed > failed)
            if len(self._messages) and self._error is not None:
                raise self._error

    def close(self, seconds: float) -> None:
        """End the thread when all is sent or was tried once more, or after ``seconds``.

        In an ordered lane the first message that MLflow does not take is the last that is tried, unless MLflow takes
        others.
        """
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join(seconds)

    @property
    def is_ended(self) -> bool:
        """Whether the thread has ended, after ``close``."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.notify_all()
                self._changed.wait_for(lambda: len(self._messages) or self._is_closing)
                if not len(self._messages):
                    return
                self._is_hurried = False
                is_last_attempt = self._is_closing
            try:
                self._send_first()
            except TrackingError as error:
                self._note_away(error)
                self._num_passed += is_last_attempt
                if is_last_attempt and self._is_ordered:
                    if not self._fails_alone(error):
                        return
                    time.sleep(_FIRST_PAUSE_SECONDS)
                elif is_last_attempt and self._num_passed >= len(self._messages):
                    return
                elif not is_last_attempt:
                    self._wait()
            else:
                self._note_there()

    def _send_first(self) -> None:
        messages = self._messages.first(_BATCH)
        messages = messages[: 1 if self._num_singly else self._joined(messages)]
        try:
            self._send(messages)
        except TrackingError as error:
            self._num_tries = 1 + (self._num_tries if self._is_ordered else messages[0].get(_TRIES, 0))
            max_tries = 1 if self._is_ordered and self._has_set_aside else _MAX_TRIES  # it may be the same metric again
            if self._num_tries % max_tries or not self._fails_alone(error):  # not each time: it may be a large file
                if not self._is_ordered:
                    with suppress(OSError):  # a full disk: it stays where it is
                        self._messages.append({**messages[0], _TRIES: self._num_tries})
                        self._messages.drop(1)
                raise
            self._send_apart(messages, error)
            self._has_set_aside = True
        except Exception as error:  # noqa: BLE001 - refused, whatever the reason: the thread must go on
            if len(messages) > 1:  # one of them
                self._num_singly = len(messages)
                return
            self._send_apart(messages, error)
        else:
            self._last_sent, self._has_set_aside = messages[0], False
        self._messages.drop(len(messages))
        self._num_tries = 0
        self._num_singly = max(0, self._num_singly - len(messages))

    def _send_apart(self, messages: Sequence[Message], error: Exception) -> None:
        """Send the parts of what MLflow does not take as a whole, and set aside those that it does not take.

        TrackingError, with nothing set aside, if MLflow has gone away: all is sent again then, which changes nothing.
        """
        parts = self._apart(messages)
        refused = [(part, error) for part in parts]
        if len(parts) > 1 or isinstance(error, TrackingError):  # MLflow may have come back since: then it takes it
            refused.clear()
            for part in parts:
                try:
                    self._send([part])
                except Exception as reason:
                    if isinstance(reason, TrackingError) and not self._fails_alone(reason):
                        raise
                    refused.append((part, reason))
        for part, part_error in refused:
            self._set_aside(part, part_error)

    def _fails_alone(self, error: TrackingError) -> bool:
        """Tell whether it is MLflow that does not take a message, although it takes something else now."""
        if isinstance(error, QueueFullError):
            return False
        try:
            if self._probe is not None:
                self._probe()
            elif self._last_sent is not None:
                self._send([self._last_sent])
            else:
                return False
        except Exception:  # noqa: BLE001 - whatever a client of MLflow raises
            return False
        return True

    def _note_away(self, error: TrackingError) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            _logger.warning("%s. The run continues; what it tracks is kept and sent when MLflow answers", error)
        with self._changed:
            self._error = error
            self._num_attempts_failed += 1
            self._changed.notify_all()

    def _wait(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closing or self._is_hurried, self._pause.next())

    def _note_there(self) -> None:
        if self._away_since is not None:
            _logger.warning("MLflow answers again: sending %s", count_text(len(self._messages), "message"))
        self._away_since = self._error = None
        self._pause.reset()
