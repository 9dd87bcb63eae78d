"""What a run tells MLflow: written down at once, sent by one thread of its own, in order and once.

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
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from suphx.growing_pause import GrowingPause
from suphx.json_text import parse_json
from suphx_platform.console.table_text import count_text
from suphx_platform.tracking.mlflow_client import TrackingError

Message = dict[str, Any]
"""JSON; ``do`` says what it asks for, ``key`` for which run."""
CLOSE_SECONDS, STOP_SECONDS = 300.0, 60.0
"""How long the end of a run waits for MLflow at most, and that of a run that was asked to stop: its pod has little
time."""
_BATCH, _MAX_METRICS = 100, 1000
"""Messages that may become one call, and MLflow's own limit of metrics in one. Its client would make several calls of
more, and what the first had sent would be sent again if the second failed."""
_MAX_TRIES = 5
"""How often a message is tried that MLflow does not take although it takes others."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 2.0, 60.0
_REFUSED, _MAX_REFUSED_BYTES, _MAX_REFUSED_SHOWN = "refused.jsonl", 64 * 2**20, 10
_OF_REFUSED = ("error", "sitting")
"""Entries of refused messages that are left out when they are sent again: MLflow's steps have gone on since."""

_logger = logging.getLogger(__name__)


class Outbox:
    """Usage::

        outbox = Outbox(folder / ".mlflow-queue", send=make_calls, probe=make_small_call)
        outbox.put({"do": "metrics", "key": "laptop-1", "metrics": [...]})  # returns at once
        outbox.close()

    What MLflow does not take now is sent again after a pause, each twice as long as the one before. What it refuses for
    good is set aside in a file, and so is what it has not taken ``_MAX_TRIES`` times although it takes other messages.
    A file that cannot be sent holds up nothing meanwhile: it is passed over until its next try.
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
        self._messages = _Queue(folder / "messages.db")
        if sends_refused:
            self._take_refused()
        self.num_before = len(self._messages)
        """Messages that an earlier start has left, which are sent first."""
        if self.num_before:
            left = count_text(self.num_before, "message")
            _logger.warning("sending %s that MLflow has not got from an earlier start", left)
        self._held: deque[Message] = deque()
        """Messages that must not be lost and that a full disk does not take."""
        self._is_disk_told = False
        self._num_left_out = self._num_refused = self._num_set_aside = 0
        self._changed = threading.Condition()
        self._is_closing = self._is_hurried = False
        self._num_stuck = 0
        """How often nothing more could be sent although messages were left."""
        self._error: TrackingError | None = None
        self._away_since: float | None = None
        self._files_away_since: float | None = None
        self._tries: dict[int, int] = {}
        self._due: dict[int, float] = {}
        """By id, of files that could not be sent: when they are tried again."""
        self._last_file: Message | None = None
        self._pause = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        self._has_set_aside = False
        """Whether the last message was set aside although it was not refused for good."""
        self._thread = threading.Thread(target=self._run, name="mlflow", daemon=True)
        self._thread.start()

    def put(self, message: Message) -> None:
        """Have a message sent. Only points of curves are left out, with a warning, when the disk is full."""
        with self._changed:
            self._held.append(message)
            self._write_held()
            if self._held and message["do"] == "metrics" and message.get("is_curve"):
                self._held.pop()
                self._num_left_out += 1
            self._changed.notify_all()

    @property
    def num_waiting(self) -> int:
        """Messages that MLflow has not got yet."""
        return len(self._messages) + len(self._held)

    @property
    def num_left(self) -> int:
        """Messages that MLflow has not taken: that wait after ``close``, and that it has refused."""
        return self.num_waiting + self._num_refused

    def flush(self, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Wait until all messages are sent, or it ``is_enough``; TrackingError if MLflow does not take them now."""
        with self._changed:
            self._write_held()
            self._due.clear()
            self._is_hurried = True
            num_stuck = self._num_stuck
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: is_enough() or not len(self._messages) or self._num_stuck > num_stuck or self.is_ended
            )
            if len(self._messages) and not is_enough() and self._error is not None:
                raise self._error

    def figures(self) -> dict[str, float]:
        """Return what is watched: messages that wait, and for how long MLflow, or its place of files, takes nothing."""
        since = min(filter(None, (self._away_since, self._files_away_since)), default=None)
        away = 0.0 if since is None else time.monotonic() - since
        return {"tracking_waiting": float(self.num_waiting), "tracking_outage_seconds": away}

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Send what waits as long as MLflow takes it, for at most ``seconds``; say what remains, and where."""
        with self._changed:
            self._write_held()
            self._due.clear()
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join(seconds)
        left, lost = len(self._messages), self._losses()
        if self._num_refused > _MAX_REFUSED_SHOWN:
            refused, path = count_text(self._num_refused, "message"), self._folder / _REFUSED
            _logger.warning("MLflow has refused %s: %s has %d of them", refused, path, self._num_set_aside)
        if left:
            _logger.warning(
                "%s. %s of this run could not be sent to MLflow and %s in %s: the same command sends them.%s",
                self._error or "MLflow is slow",
                count_text(left, "message"),
                "waits" if left == 1 else "wait",
                self._folder,
                lost,
            )
        elif lost:
            _logger.warning("MLflow has this run without some messages:%s", lost)
        if self.is_ended:
            self._messages.close()
            if not left and not (self._folder / _REFUSED).exists():
                shutil.rmtree(self._folder, ignore_errors=True)
                with suppress(OSError):  # it holds a run's results
                    self._folder.parent.rmdir()

    @property
    def is_ended(self) -> bool:
        """Whether the thread has ended, after ``close``."""
        return not self._thread.is_alive()

    def _write_held(self) -> None:
        """Write down what is in memory, as far as the disk takes it."""
        try:
            while self._held:
                self._messages.append(self._held[0])
                self._held.popleft()
            self._is_disk_told = False
        except OSError as error:
            if not self._is_disk_told:
                self._is_disk_told = True
                text = "%s takes no messages for MLflow (%s): they wait in memory, points of curves are left out"
                _logger.warning(text, self._folder, error)

    def _losses(self) -> str:
        """Return what was left out or is only in memory, as sentences with a blank before each; empty if nothing."""
        left_out = count_text(self._num_left_out, "point of a curve was", "points of curves were")
        text = f" {left_out} left out, because the disk was full." if self._num_left_out else ""
        held = count_text(len(self._held), "message")
        return f"{text} {held} could not be written to the disk." if self._held else text

    def _take_refused(self) -> None:
        """Append what MLflow has refused to the messages that wait. A kill meanwhile sends it twice."""
        path = self._folder / _REFUSED
        if path.is_file():
            for line in path.read_bytes().splitlines():
                message = _parsed(line)
                self._messages.append({name: value for name, value in message.items() if name not in _OF_REFUSED})
            path.unlink()

    # The thread that sends

    def _run(self) -> None:
        while rows := self._next():
            first, messages = rows[0][0], [message for _, message in rows]
            is_file = messages[0]["do"] == "artifact"
            tries = self._tries.get(first, 0) + 1
            max_tries = 1 if self._has_set_aside and not is_file else _MAX_TRIES  # it may be the same metric again
            is_last_try = tries % max_tries == 0 and (not is_file or self._are_files_taken())
            try:
                self._deliver(messages, is_last_try=is_last_try)
            except TrackingError as error:
                self._error = error
                if not self._is_there():
                    if not self._wait_for_mlflow(error):
                        return
                    continue
                self._tries[first] = tries
                if is_file:
                    self._pass_over(first, tries, error)
                elif self._rest():
                    time.sleep(_FIRST_PAUSE_SECONDS)
            else:
                self._pause.reset()
                if is_file:
                    self._files_away_since = None
                with self._changed:
                    self._messages.remove([each for each, _ in rows])
                    self._tries.pop(first, None)
                    self._due.pop(first, None)

    def _next(self) -> list[tuple[int, Message]]:
        """Wait for messages that one call can take, and return them with their ids; nothing if the thread is to end."""
        with self._changed:
            while True:
                now = time.monotonic()
                rows = self._messages.first(_BATCH, {each for each, due in self._due.items() if due > now})
                if self._due and not rows:  # only files are left, and none is tried now
                    self._num_stuck += 1
                self._changed.notify_all()
                if rows or self._is_closing:
                    self._is_hurried = False
                    return rows[: _num_joined([message for _, message in rows])]
                self._changed.wait(min(self._due.values()) - now if self._due else None)

    def _deliver(self, messages: Sequence[Message], *, is_last_try: bool) -> None:
        """Send messages, and set aside what MLflow refuses; TrackingError if they are to be sent again."""
        try:
            self._send(messages)
        except Exception as error:
            is_away = isinstance(error, TrackingError)
            if is_away and not (is_last_try and self._is_there()):
                raise
            for message, reason in self._refused(messages, error):
                self._set_aside(message, reason)
            self._has_set_aside = is_away
        else:
            self._has_set_aside = False
            if messages[0]["do"] == "artifact":
                self._last_file = messages[0]

    def _refused(self, messages: Sequence[Message], error: Exception) -> list[tuple[Message, Exception]]:
        """Send the parts of what MLflow does not take as a whole, and return those that it does not take.

        TrackingError if MLflow has gone away: all is sent again then, which changes nothing.
        """
        if len(messages) > 1 and not isinstance(error, TrackingError):
            middle = len(messages) // 2
            parts: list[Sequence[Message]] = [messages[:middle], messages[middle:]]
        else:
            parts = [[message] for message in _apart(messages)]
            if len(parts) == 1 and not isinstance(error, TrackingError):
                return [(messages[0], error)]
        refused = []
        for part in parts:
            try:
                self._send(part)
            except Exception as reason:
                if isinstance(reason, TrackingError) and not self._is_there():
                    raise
                is_smallest = len(part) == len(_apart(part)) == 1
                refused += [(part[0], reason)] if is_smallest else self._refused(part, reason)
        return refused

    def _is_there(self) -> bool:
        """Tell whether MLflow takes something now."""
        try:
            self._probe()
        except Exception:  # noqa: BLE001 - whatever a client of MLflow raises
            return False
        return True

    def _are_files_taken(self) -> bool:
        """Tell whether the place of files takes the last file again; False if it has taken none."""
        try:
            self._send([self._last_file] if self._last_file else [])
        except Exception:  # noqa: BLE001 - whatever a client of MLflow raises
            return False
        return self._last_file is not None

    def _wait_for_mlflow(self, error: TrackingError) -> bool:
        """Return when MLflow takes something again; False if it does not before the end."""
        self._away_since = time.monotonic()
        _logger.warning("%s. The run continues; what it tracks is kept and sent when MLflow answers", error)
        while True:
            is_over = self._rest()
            if self._is_there():
                break
            if is_over:
                return False
        _logger.warning("MLflow answers again: sending %s", count_text(len(self._messages), "message"))
        self._away_since = self._error = None
        self._pause.reset()
        return True

    def _rest(self) -> bool:
        """Wait before the next attempt, unless somebody waits for it; return whether it is to be the last one."""
        with self._changed:
            self._num_stuck += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_closing or self._is_hurried, self._pause.next())
            self._is_hurried = False
            return self._is_closing

    def _pass_over(self, file: int, tries: int, error: TrackingError) -> None:
        """Let others go before a file that could not be sent."""
        if self._files_away_since is None:
            self._files_away_since = time.monotonic()
            _logger.warning("%s. The run continues; what it tracks is kept and sent when MLflow answers", error)
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** min(tries, 10), _LONGEST_PAUSE_SECONDS)
        with self._changed:
            self._due[file] = math.inf if self._is_closing else time.monotonic() + pause

    def _set_aside(self, message: Message, error: Exception) -> None:
        """Note a message that MLflow has refused for good, if there is room for it."""
        self._num_refused += 1
        path = self._folder / _REFUSED
        kept = f"kept in {path}: suphx runs send {message.get('key', '').partition('/')[0]} sends it again"
        try:
            with path.open("a", encoding="utf-8") as file:
                if file.tell() >= _MAX_REFUSED_BYTES:
                    raise OSError(f"{path} already has {count_text(_MAX_REFUSED_BYTES, 'byte')}")
                file.write(json.dumps({**message, "error": str(error)}) + "\n")
            self._num_set_aside += 1
        except OSError as full:
            kept = f"lost: {full}"
        if self._num_refused <= _MAX_REFUSED_SHOWN:
            names = ", ".join(sorted({entry[0] for entry in _entries(message)}))
            about = message.get("path") or f"{message.get('do')} {names}".strip()
            _logger.warning("MLflow has refused %s of %s: %s (%s)", about, message.get("key"), error, kept)
        if self._num_refused == _MAX_REFUSED_SHOWN:
            _logger.warning("further messages that MLflow refuses are counted at the end")


class _Queue:
    """Messages in a database, first in, first out: what was appended is still there after ``kill -9``.

    One process at a time. Appending takes some microseconds: the operating system has the message then.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            for setting in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
                self._database.execute(f"PRAGMA {setting}")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT)"
            )
            self._num_waiting: int = self._database.execute("SELECT count(*) FROM messages").fetchone()[0]
        except sqlite3.Error as error:
            self._database.close()
            if "locked" in str(error):
                text = f"another process sends what {path.parent} has for MLflow: wait until it has ended"
            else:
                text = f"{path} cannot be used ({error}): free space on its disk; if the file is damaged, remove it"
            raise OSError(text) from error
        self._removed: set[int] = set()
        """Ids of messages that were sent and that a full disk has not let go."""

    def __len__(self) -> int:
        """Return how many messages wait."""
        return self._num_waiting

    def append(self, message: Message) -> None:
        """Add a message at the end. OSError, with nothing added, if the disk is full."""
        try:
            self._database.execute("INSERT INTO messages (text) VALUES (?)", [json.dumps(message)])
        except sqlite3.Error as error:
            raise OSError(str(error)) from error
        self._num_waiting += 1

    def first(self, count: int, without: Collection[int]) -> list[tuple[int, Message]]:
        """Return the messages at the beginning, but for those with the ids ``without``, with their ids."""
        passed = {*self._removed, *without}
        found = self._database.execute("SELECT id, text FROM messages ORDER BY id LIMIT ?", [count + len(passed)])
        return [(number, _parsed(text)) for number, text in found if number not in passed][:count]

    def remove(self, ids: Sequence[int]) -> None:
        """Remove messages. If a full disk does not let them go, a later start sends them again."""
        self._num_waiting -= len(ids)
        self._removed.update(ids)
        with suppress(sqlite3.Error):
            self._database.executemany("DELETE FROM messages WHERE id = ?", [(each,) for each in self._removed])
            self._removed.clear()

    def close(self) -> None:
        """Let another process have the messages."""
        self._database.close()


def _parsed(line: str | bytes) -> Message:
    """Return the message of a line; if the line is damaged, a message that nobody can send."""
    try:
        found = parse_json(line)
    except ValueError:
        found = None
    is_message = isinstance(found, dict) and isinstance(found.get("do"), str)
    return found if is_message else {"do": "damaged line", "text": str(line)}


def _num_joined(messages: Sequence[Message]) -> int:
    """Return how many of the first messages are metrics of one run that one call can take."""
    num_metrics = 0
    for number, message in enumerate(messages):
        num_metrics += len(_entries(message))
        is_other = any(message.get(name) != messages[0].get(name) for name in ("do", "key", "sitting"))
        if number and (message["do"] != "metrics" or is_other or num_metrics > _MAX_METRICS):
            return number
    return len(messages)


def _apart(messages: Sequence[Message]) -> list[Message]:
    """Return a message for each metric of ``messages``, which one call can take; other messages as they are."""
    entries: dict[str, list[Any]] = {}
    for message in messages:
        for entry in _entries(message):
            entries.setdefault(entry[0], []).append(entry)
    if len(entries) <= 1 and len(messages) == 1:
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
