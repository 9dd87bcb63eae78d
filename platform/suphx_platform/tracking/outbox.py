"""What a run logs to MLflow: one queue on disk, sent by one thread of its own, in order and once.

Training never waits for MLflow, and nothing is lost by an outage or a killed process: the messages are in a database in
the folder of the run, and whoever opens the run next sends what is left.
"""

from __future__ import annotations

import json
import logging
import math
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from suphx.growing_pause import GrowingPause
from suphx.json_text import parse_json
from suphx_platform.console.table_text import count_text
from suphx_platform.tracking.mlflow_client import TrackingError

Message = dict[str, Any]
"""JSON; ``do`` is what it asks for, ``key`` that of the run."""
Refused = Sequence[tuple[Message, Exception]]
CLOSE_SECONDS, STOP_SECONDS = 300.0, 60.0
"""How long the end of a run waits for MLflow at most, and that of a run that was asked to stop: its pod has little
time."""
_BATCH, _MAX_METRICS = 100, 1000
"""Messages that may become one call, and MLflow's own limit of metrics in one. Its client would make several calls of
more, and what the first had sent would be sent again if the second failed."""
_MAX_TRIES = 5
"""How often a message is tried that MLflow does not take although it takes others."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 2.0, 60.0
_MAX_REFUSED_SHOWN = 10
FILES = ("artifact", "model_files", "model_result")
"""Messages that need the place of files, which may be away alone."""

_logger = logging.getLogger(__name__)


class Outbox:
    """Usage::

        outbox = Outbox(folder / ".mlflow-queue", send=make_calls, probe=make_small_call)
        outbox.put({"do": "metrics", "key": "laptop-1", "metrics": [...]})  # returns at once
        outbox.close()

    What MLflow does not take now is sent again after a pause, each twice as long as the one before. What it refuses for
    good is set aside in the same database, and so is what it has not taken ``_MAX_TRIES`` times although it takes other
    messages. A file that cannot be sent, as when only the place of files is unavailable, is skipped until its next
    try, in this process or a later one.
    """

    def __init__(
        self,
        folder: Path,
        *,
        send: Callable[[Sequence[Message]], None],
        probe: Callable[[], None],
        sends_refused: bool = False,
    ) -> None:
        """``send`` makes one call for messages; TrackingError if they should be sent again, another error if not.

        ``probe``: a small call that changes something in MLflow; TrackingError if MLflow does not take it.
        ``sends_refused``: send again what MLflow has refused. OSError if another process has the folder.
        """
        self._folder, self._send, self._probe = folder, send, probe
        self._database = _opened(folder / "messages.db")
        if sends_refused:
            self._database.execute("UPDATE messages SET error = NULL")
        found = self._database.execute("SELECT count(*) FROM messages WHERE error IS NULL").fetchone()
        self.num_waiting = int(found[0])
        """Messages that MLflow has not got yet."""
        self.num_before = self.num_waiting
        """Messages that an earlier start has left, which are sent first."""
        if self.num_before:
            left = count_text(self.num_before, "message")
            _logger.warning("sending %s that MLflow has not got from an earlier start", left)
        self._changed = threading.Condition()
        """Guards the database too."""
        self._num_refused = self._num_tries = 0
        self._is_closing = self._is_hurried = False
        self._num_stuck = 0
        """How often nothing more could be sent although messages were left."""
        self._error: TrackingError | None = None
        self._away_since: float | None = None
        self._after, self._retry_at = 0, math.inf
        """Messages up to this id are files that were skipped, and when they are tried again."""
        self._pause = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        self._thread = threading.Thread(target=self._run, name="mlflow", daemon=True)
        self._thread.start()

    def put(self, message: Message) -> None:
        """Have a message sent; OSError if the disk does not take it."""
        with self._changed:
            try:
                self._database.execute("INSERT INTO messages (text) VALUES (?)", [json.dumps(message)])
            except sqlite3.Error as error:
                raise OSError(f"cannot write messages for MLflow ({error}): free space in {self._folder}") from error
            self.num_waiting += 1
            self._changed.notify_all()

    def flush(self, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Wait until all messages are sent, or it ``is_enough``; TrackingError if MLflow does not take them now."""
        with self._changed:
            self._hurry()
            num_stuck = self._num_stuck

            def is_over() -> bool:
                return is_enough() or not self.num_waiting or self._num_stuck > num_stuck or self.is_ended

            self._changed.wait_for(is_over)
            if self.num_waiting and not is_enough() and self._error is not None:
                raise self._error

    def figures(self) -> dict[str, float]:
        """Return the metrics: messages that wait, and for how long MLflow, or its place of files, takes nothing."""
        since = self._away_since
        away = 0.0 if since is None else time.monotonic() - since
        return {"tracking_waiting": float(self.num_waiting), "tracking_outage_seconds": away}

    def close(self, seconds: float = CLOSE_SECONDS) -> int:
        """Send what waits as long as MLflow takes it, for at most ``seconds``; log what remains, and where.

        Returns how many messages MLflow has not taken, including those that it has refused.
        """
        with self._changed:
            self._is_closing = True
            self._hurry()
        self._thread.join(seconds)
        left = self.num_waiting
        if self._num_refused > _MAX_REFUSED_SHOWN:
            _logger.warning("MLflow has refused %s", count_text(self._num_refused, "message"))
        if left:
            wait = "waits" if left == 1 else "wait"
            text = "%s. %s of this run could not be sent to MLflow and %s in %s: the same command sends them"
            _logger.warning(text, self._error or "MLflow is slow", count_text(left, "message"), wait, self._folder)
        if self.is_ended:
            is_empty = not self._database.execute("SELECT 1 FROM messages LIMIT 1").fetchone()
            self._database.close()
            if is_empty:
                shutil.rmtree(self._folder, ignore_errors=True)
                with suppress(OSError):  # it holds a run's results
                    self._folder.parent.rmdir()
        return left + self._num_refused

    @property
    def is_ended(self) -> bool:
        """Whether the thread has ended, after ``close``."""
        return not self._thread.is_alive()

    def _hurry(self) -> None:
        self._after, self._is_hurried = 0, True
        self._changed.notify_all()

    # The thread that sends

    def _run(self) -> None:
        while rows := self._next():
            number, message = rows[0]
            may_refuse = message["do"] not in FILES and self._num_tries + 1 >= _MAX_TRIES
            try:
                refused = self._deliver([each for _, each in rows], may_refuse=may_refuse)
            except TrackingError as error:
                if not self._wait_after(error, number, is_file=message["do"] in FILES):
                    return
                continue
            if not self._is_settled([each for each, _ in rows], refused):
                return
            self._num_tries = 0
            self._pause.reset()
            if self._away_since is not None and not self._after:
                _logger.warning("MLflow answers again: sending %s", count_text(self.num_waiting, "message"))
                self._away_since = self._error = None
            self._warn(refused)

    def _next(self) -> list[tuple[int, Message]]:
        """Wait for messages that one call can take, and return them with their ids; nothing if the thread is to end."""
        with self._changed:
            while True:
                left = self._retry_at - time.monotonic()
                if left <= 0:
                    self._after, self._retry_at = 0, math.inf
                rows = self._first()
                if self._after and not rows:  # only files are left, and none is tried now
                    self._num_stuck += 1
                self._changed.notify_all()
                if rows or self._is_closing:
                    self._is_hurried = False
                    return rows[: _num_joined([message for _, message in rows])]
                self._changed.wait(left if self._after else None)

    def _first(self) -> list[tuple[int, Message]]:
        """Return the first messages that are not skipped, with their ids."""
        rows = []
        query = "SELECT id, text FROM messages WHERE error IS NULL AND id > ? ORDER BY id LIMIT ?"
        for number, text in self._database.execute(query, [self._after, _BATCH]).fetchall():
            try:
                rows.append((number, parse_json(text)))
            except ValueError as error:  # of a damaged disk: it holds up nothing
                self._database.execute("UPDATE messages SET error = ? WHERE id = ?", [str(error), number])
                self.num_waiting -= 1
                self._warn([({"do": "a damaged message"}, error)])
        return rows

    def _deliver(self, messages: Sequence[Message], *, may_refuse: bool) -> list[tuple[Message, Exception]]:
        """Send messages, in parts if MLflow does not take all, and return those that it refuses.

        TrackingError if they are to be sent again, which changes nothing for those that have arrived.
        """
        try:
            self._send(messages)
        except Exception as error:
            if isinstance(error, TrackingError) and not (may_refuse and self._is_there()):
                raise
            parts, points = list(messages), messages[0].get("metrics", ())
            if len(messages) == 1:  # of a single message each metric
                parts = [{**messages[0], "metrics": [point]} for point in points]
            if len(parts) <= 1:
                return [(messages[0], error)]
            return [refused for part in parts for refused in self._deliver([part], may_refuse=may_refuse)]
        return []

    def _is_settled(self, ids: Sequence[int], refused: Refused) -> bool:
        """Settle, and wait while a full disk prevents it; False if it does at the end: the next start sends again."""
        is_over = False
        while True:
            try:
                self._settle(ids, refused)
            except sqlite3.Error as error:
                self._error = TrackingError(f"cannot remove sent messages ({error}): free space in {self._folder}")
                if self._away_since is None:
                    self._away_since = time.monotonic()
                    _logger.warning("%s. The run continues; nothing more is sent to MLflow until then", self._error)
                if is_over:
                    return False
                is_over = self._rest()
            else:
                return True

    def _settle(self, ids: Sequence[int], refused: Refused) -> None:
        """Remove messages that were sent, and keep what MLflow has ``refused`` of them with the reason.

        Refused points count whatever MLflow has taken since, so they lose their session. sqlite3.Error, with nothing
        changed, if a full disk does not let them go.
        """
        kept = [
            (json.dumps({name: value for name, value in message.items() if name != "session"}), str(error))
            for message, error in refused
        ]
        with self._changed:
            self._database.execute("BEGIN")
            try:
                self._database.executemany("INSERT INTO messages (text, error) VALUES (?, ?)", kept)
                self._database.executemany("DELETE FROM messages WHERE id = ?", [(each,) for each in ids])
                self._database.execute("COMMIT")
            except sqlite3.Error:
                with suppress(sqlite3.Error):  # SQLite may have done so itself
                    self._database.execute("ROLLBACK")
                raise
            self.num_waiting -= len(ids)

    def _is_there(self) -> bool:
        try:
            self._probe()
        except Exception:  # noqa: BLE001 - whatever a client of MLflow raises
            return False
        return True

    def _wait_after(self, error: TrackingError, number: int, *, is_file: bool) -> bool:
        """Wait before what could not be sent is tried again; False if it is the end and MLflow takes nothing."""
        self._error = error
        if self._away_since is None:
            self._away_since = time.monotonic()
            _logger.warning("%s. The run continues; what it tracks is kept and sent when MLflow answers", error)
        if not self._is_there():
            is_over = False
            while not is_over:
                is_over = self._rest()
                if self._is_there():
                    return True
            return False
        if is_file:
            with self._changed:
                if not self._after:
                    self._retry_at = math.inf if self._is_closing else time.monotonic() + _LONGEST_PAUSE_SECONDS
                self._after = number
            return True
        self._num_tries += 1
        if self._rest():
            time.sleep(_FIRST_PAUSE_SECONDS)
        return True

    def _rest(self) -> bool:
        """Wait before the next attempt, unless somebody waits for it; return whether it is to be the last one."""
        with self._changed:
            self._num_stuck += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_closing or self._is_hurried, self._pause.next())
            self._is_hurried = False
            return self._is_closing

    def _warn(self, refused: Refused) -> None:
        """Log the first refused messages."""
        for message, error in refused:
            self._num_refused += 1
            if self._num_refused > _MAX_REFUSED_SHOWN:
                continue
            names = ", ".join(sorted({entry[0] for entry in message.get("metrics", ())}))
            about, key = message.get("path") or f"{message['do']} {names}".strip(), message.get("key", "")
            run = key.partition("/")[0]
            text = "MLflow has refused %s of %s: %s (it is kept: suphx runs send %s sends it again)"
            _logger.warning(text, about, key, error, run)


def _opened(path: Path) -> sqlite3.Connection:
    """Return the database of messages, first in, first out: what was appended is still there after ``kill -9``.

    One process at a time. Appending takes some microseconds: the operating system has the message then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        for setting in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
            database.execute(f"PRAGMA {setting}")
        database.execute(
            "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, error TEXT)"
        )
    except sqlite3.Error as error:
        database.close()
        if "locked" in str(error):
            text = f"another process sends what {path.parent} has for MLflow: wait until it has ended"
        else:
            text = f"{path} cannot be used ({error}): free space on its disk; if the file is damaged, remove it"
        raise OSError(text) from error
    return database


def _num_joined(messages: Sequence[Message]) -> int:
    """Return how many of the first messages are metrics of one run that one call can take."""
    num_metrics = 0
    for number, message in enumerate(messages):
        num_metrics += len(message.get("metrics", ()))
        is_other = any(message.get(name) != messages[0].get(name) for name in ("do", "key", "session", "model", "data"))
        if number and (message["do"] != "metrics" or is_other or num_metrics > _MAX_METRICS):
            return number
    return len(messages)
