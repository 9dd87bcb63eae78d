"""Messages in a file, first in, first out: what was appended is still there after ``kill -9``."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from suphx.json_text import parse_json

Message = dict[str, Any]
"""JSON; ``do`` says what it asks for."""

MAX_BYTES = 64 * 2**20
"""Bound of what waits, unless another one is given."""
_CHUNK_BYTES = 2**20


class MessageLog:
    """Usage::

        log = MessageLog(folder / "calls.jsonl")
        log.append({"do": "tags", ...})
        messages = log.first(100)
        log.drop(len(messages))  # they were sent

    A line is a message; ``<path>.sent`` holds how many bytes at the beginning were sent. ``fill`` is the share of the
    bound that waits; ``append`` itself takes whatever the disk takes, because only the caller knows which messages may
    be left out. Bytes that were sent are removed from the file when they exceed the bound. One process at a time:
    BlockingIOError otherwise. Threads may append while another one reads and drops. Appending takes some
    microseconds: the operating system has the message then, which a killed process does not change.
    """

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        """``max_bytes``: the bound, of messages that wait."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._mark = os.open(path.with_name(f"{path.name}.sent"), os.O_RDWR | os.O_CREAT, 0o600)
        self._end = os.fstat(self._file).st_size
        self._sent = self._read_mark()
        self._compact_at = max_bytes
        """Bytes that were sent above which the file is written anew."""
        os.pwrite(self._mark, b"%020d" % self._sent, 0)  # one behind the end must not count when the file grows past it
        waiting = os.pread(self._file, self._end - self._sent, self._sent)
        self._end = self._sent + waiting.rfind(b"\n") + 1  # a killed process may leave half a line
        self._count = waiting.count(b"\n")
        self._lengths: list[int] = []

    def __len__(self) -> int:
        """Return how many messages wait."""
        return self._count

    @property
    def fill(self) -> float:
        """Bytes that wait as a share of the bound: 1 and more if it is reached."""
        return (self._end - self._sent) / self._max_bytes

    def append(self, message: Message) -> None:
        """Add a message at the end. OSError, with nothing added, if the disk is full."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            written = os.pwrite(self._file, line, self._end)
            if written < len(line):  # overwritten by the next one
                raise OSError("the disk is full")
            self._end += len(line)
            self._count += 1

    def first(self, max_messages: int) -> list[Message]:
        """Return the messages at the beginning, at least one if there are any."""
        with self._lock:
            data, size = b"", _CHUNK_BYTES
            while b"\n" not in data and self._count:
                data = os.pread(self._file, min(size, self._end - self._sent), self._sent)
                size *= 2
            lines = data.splitlines(keepends=True)[:max_messages]
            if lines and not lines[-1].endswith(b"\n"):
                lines.pop()
            self._lengths = [len(line) for line in lines]
        return [parse_message(line) for line in lines]

    def drop(self, count: int) -> None:
        """Remove the first ``count`` of the messages that ``first`` returned last.

        If a full disk does not take the mark, a later start sends them again.
        """
        with self._lock:
            self._sent += sum(self._lengths[:count])
            del self._lengths[:count]
            self._count -= count
            with suppress(OSError):
                if self._count == 0:  # in this order: a mark behind the end counts as 0
                    os.ftruncate(self._file, 0)
                    self._sent = self._end = 0
                    self._compact_at = self._max_bytes
                os.pwrite(self._mark, b"%020d" % self._sent, 0)
                if self._sent > self._compact_at:
                    self._compact()

    def close(self) -> None:
        """Let another process have the file."""
        os.close(self._file)
        os.close(self._mark)

    def _compact(self) -> None:
        """Give the file only the messages that wait. A kill between the two steps sends some messages again.

        OSError, with the file as it was, if the disk is full. That is tried again when as much was sent once more.
        """
        self._compact_at = self._sent + self._max_bytes
        new = self._path.with_name(f"{self._path.name}.new")
        waiting = os.pread(self._file, self._end - self._sent, self._sent)
        file = os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            if os.write(file, waiting) < len(waiting):
                raise OSError("the disk is full")
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.pwrite(self._mark, b"%020d" % 0, 0)
            new.replace(self._path)
        except OSError:
            os.close(file)
            new.unlink(missing_ok=True)
            with suppress(OSError):
                os.pwrite(self._mark, b"%020d" % self._sent, 0)
            raise
        os.close(self._file)
        self._file, self._end, self._sent = file, self._end - self._sent, 0
        self._compact_at = self._max_bytes

    def _read_mark(self) -> int:
        text = os.pread(self._mark, 20, 0)
        sent = int(text) if text.isdigit() else 0
        return sent if sent <= self._end else 0


def parse_message(line: bytes) -> Message:
    """Return the message of a line; if the line is damaged, a message that nobody can send."""
    try:
        found = parse_json(line)
    except ValueError:
        found = None
    is_message = isinstance(found, dict) and isinstance(found.get("do"), str)
    return found if is_message else {"do": "damaged line", "text": line.decode(errors="replace")}
