"""What a run tells MLflow: written down at once, sent by threads of its own, in order and once.

Training never waits for MLflow, and nothing is lost by an outage or a killed process: the messages are files in the
folder of the run, and whoever opens the run next sends what is left.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from suphx_platform.console.table_text import count_text
from suphx_platform.tracking.messages.message_admission import MessageAdmission
from suphx_platform.tracking.messages.message_lane import MessageLane, QueueFullError
from suphx_platform.tracking.messages.message_log import MAX_BYTES, Message, MessageLog, parse_message

CLOSE_SECONDS, STOP_SECONDS = 300.0, 60.0
"""How long the end of a run waits for MLflow at most, and that of a run that was asked to stop: its pod has little
time."""
_MAX_METRICS = 1000
"""MLflow's own limit of one request. Its client would make several of more, and what the first had sent would be sent
again if the second failed."""
_REFUSED, _MAX_REFUSED_SHOWN = "refused.jsonl", 10
_OF_REFUSED = ("error", "tries", "sitting")
"""Entries of refused messages that are left out when they are sent again."""

_logger = logging.getLogger(__name__)


class Outbox:
    """Usage::

        outbox = Outbox(folder / ".mlflow-queue", send=make_calls)
        outbox.put({"do": "metrics", "key": "laptop-1", "metrics": [...]})  # returns at once
        outbox.close()

    Messages have two lanes, so that a file that cannot be sent holds up no metric: an ``artifact`` moves to the lane
    of files when all messages before it were sent.
    """

    def __init__(
        self,
        folder: Path,
        *,
        send: Callable[[Sequence[Message]], None],
        probe: Callable[[], None] | None = None,
        sends_refused: bool = False,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """``send`` makes the calls of messages, ``probe`` a small one: see MessageLane.

        ``sends_refused``: send again what MLflow has refused. OSError if another process has the folder.

        ``max_bytes``: of messages that wait (the nearer they come to it, the fewer points of curves are kept), and of
        refused ones.
        """
        self._folder = folder
        self._send = send
        self._num_refused, self._num_set_aside = 0, 0
        self._max_bytes = max_bytes
        try:
            self._logs = [MessageLog(folder / "calls.jsonl", max_bytes=max_bytes), MessageLog(folder / "files.jsonl")]
        except BlockingIOError as error:
            raise OSError(f"another process sends what {folder} has for MLflow: wait until it has ended") from error
        calls, files = self._logs
        if sends_refused:
            self._take_refused(calls)
        self.num_before = sum(map(len, self._logs))
        """Messages that an earlier start has left, which are sent first."""
        if self.num_before:
            left = count_text(self.num_before, "message")
            _logger.warning("sending %s that MLflow has not got from an earlier start", left)
        self._files = MessageLane(files, send=send, set_aside=self._set_aside, is_ordered=False)
        self._calls = MessageLane(
            calls, send=self._call, set_aside=self._set_aside, joined=joined_metrics, apart=apart_metrics, probe=probe
        )
        self._admission = MessageAdmission(self._calls.put, lambda: self._calls.fill, folder)
        self._lock = threading.Lock()

    def put(self, message: Message) -> None:
        """Have a message sent. Only points of curves are left out, with a warning, when the queue is full."""
        with self._lock:
            self._admission.put(message)

    @property
    def num_waiting(self) -> int:
        """Messages that MLflow has not got yet."""
        return sum(map(len, self._logs)) + len(self._admission)

    @property
    def num_left(self) -> int:
        """Messages that MLflow has not taken: that wait after ``close``, and that it has refused."""
        return self.num_waiting + self._num_refused

    def flush(self, *, files: bool = True) -> None:
        """Wait until all messages, or all but ``files``, are sent; TrackingError if MLflow does not take them now."""
        with self._lock:
            self._admission.write_held()
        self._calls.flush()
        if files:
            self._files.flush()

    def figures(self) -> dict[str, float]:
        """Return what is watched: messages that wait, and for how long MLflow has taken nothing."""
        lanes = (self._calls, self._files)
        return {
            "tracking_waiting": float(self.num_waiting),
            "tracking_outage_seconds": max(lane.away_seconds for lane in lanes),
        }

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Send what waits as long as MLflow takes it, for at most ``seconds``; say what remains, and where."""
        deadline = time.monotonic() + seconds
        with self._lock:
            self._admission.write_held()
        for lane in (self._calls, self._files):
            lane.close(max(0.0, deadline - time.monotonic()))
        lost = self._admission.summary()
        left = sum(map(len, self._logs))
        if self._num_refused > _MAX_REFUSED_SHOWN:
            refused, path = count_text(self._num_refused, "message"), self._folder / _REFUSED
            _logger.warning("MLflow has refused %s: %s has %d of them", refused, path, self._num_set_aside)
        if left:
            error = self._calls.error or self._files.error or "MLflow is slow"
            _logger.warning(
                "%s. %s of this run could not be sent to MLflow and %s in %s: the same command sends them.%s",
                *(error, count_text(left, "message"), "waits" if left == 1 else "wait", self._folder, lost),
            )
        elif lost:
            _logger.warning("MLflow has this run without some messages:%s", lost)
        if self._calls.is_ended and self._files.is_ended:
            for log in self._logs:
                log.close()
            if not left and not (self._folder / _REFUSED).exists():
                shutil.rmtree(self._folder, ignore_errors=True)
                with suppress(OSError):  # it holds a run's results
                    self._folder.parent.rmdir()

    def _take_refused(self, calls: MessageLog) -> None:
        """Append what MLflow has refused to the messages that wait. A kill meanwhile sends it twice."""
        path = self._folder / _REFUSED
        if path.is_file():
            for line in path.read_bytes().splitlines():
                message = parse_message(line)
                # Its run has gone on since: what is known of its last steps does not count.
                calls.append({name: value for name, value in message.items() if name not in _OF_REFUSED})
            path.unlink()

    def _call(self, messages: Sequence[Message]) -> None:
        if messages[0]["do"] == "artifact":
            try:
                self._files.put(messages[0])
            except OSError as error:  # a full disk: the message stays where it is
                raise QueueFullError(f"{self._folder} takes no messages for MLflow ({error})") from error
        else:
            self._send(messages)

    def _set_aside(self, message: Message, error: Exception) -> None:
        """Note a message that MLflow has refused for good, if there is room for it."""
        self._num_refused += 1
        path = self._folder / _REFUSED
        kept = f"kept in {path}: suphx runs send {message.get('key', '').partition('/')[0]} sends it again"
        try:
            with path.open("a", encoding="utf-8") as file:
                if file.tell() >= self._max_bytes:
                    raise OSError(f"{path} already has {count_text(self._max_bytes, 'byte')}")
                file.write(json.dumps({**message, "error": str(error)}) + "\n")
            self._num_set_aside += 1
        except OSError as full:
            kept = f"lost: {full}"
        if self._num_refused <= _MAX_REFUSED_SHOWN:
            names = sorted({entry[0] for entry in _entries(message)})
            about = message.get("path") or " ".join((str(message.get("do")), ", ".join(names))).strip()
            _logger.warning("MLflow has refused %s of %s: %s (%s)", about, message.get("key"), error, kept)
        if self._num_refused == _MAX_REFUSED_SHOWN:
            _logger.warning("further messages that MLflow refuses are counted at the end")


def joined_metrics(messages: Sequence[Mapping[str, object]]) -> int:
    """Return how many of the first messages are metrics of one run that one call can take."""
    first = messages[0]
    if first["do"] != "metrics":
        return 1
    entries = 0
    for count, message in enumerate(messages):
        if any(message.get(name) != first.get(name) for name in ("do", "key", "sitting")):
            return count
        values = message.get("metrics")
        entries += len(values) if isinstance(values, list) else 0
        if count and entries > _MAX_METRICS:
            return count
    return len(messages)


def apart_metrics(messages: Sequence[Message]) -> list[Message]:
    """Return a message for each metric of ``messages``, which one call can take; other messages as they are."""
    entries: dict[str, list[Any]] = {}
    for message in messages:
        for entry in _entries(message):
            entries.setdefault(entry[0], []).append(entry)
    if len(entries) <= 1:
        return list(messages)
    return [{**messages[0], "metrics": own} for own in entries.values()]


def _entries(message: Message) -> list[list[Any]]:
    """Return the points of metrics, which begin with their names; nothing of another or a damaged message."""
    found: Any = message.get("metrics")
    is_whole = isinstance(found, list) and all(
        isinstance(each, list) and each and isinstance(each[0], str) for each in found
    )
    entries: list[list[Any]] = found if is_whole and message["do"] == "metrics" else []
    return entries
