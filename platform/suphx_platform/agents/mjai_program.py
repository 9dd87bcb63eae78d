"""An outside program that plays one seat of one game in the mjai protocol, as a child process.

As on mjai.app: the program gets its seat (0 to 3) as its last argument. A line on its standard input is a JSON list of
all events since the line before; it answers every line with one JSON object on its standard output.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Any

START_SECONDS = 60.0
"""For the first answer, in which a program may load its nets."""
_MAX_LINE = 1 << 20
_PIECE = 1 << 16

Event = dict[str, Any]


class MjaiProgram:
    """Usage::

    program = MjaiProgram("python bot.py", seat=2, move_seconds=10)
    program.send(events)
    reply = program.receive()
    program.close()
    """

    def __init__(self, command: str, seat: int, move_seconds: float) -> None:
        """Start it; ValueError if it cannot be started."""
        self._name = f"mjai:{command} (seat {seat})"
        self._move_seconds = move_seconds
        self._limit = max(START_SECONDS, move_seconds)
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the program)
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                [*shlex.split(command), str(seat)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                bufsize=0,
            )
        except OSError as error:
            self._complaints.close()
            raise ValueError(f"{self._name} cannot be started: {error.strerror}: {error.filename}") from error

    def send(self, events: Sequence[Event]) -> None:
        """Tell what has happened since the last time; ValueError if the program has ended."""
        assert self._process.stdin is not None
        line = json.dumps(events, separators=(",", ":")).encode() + b"\n"
        try:
            self._process.stdin.write(line)
        except BrokenPipeError as error:
            raise self._error("it has ended") from error

    def receive(self) -> Event:
        """Return the answer to what was sent last; ValueError if it is late, none, or the program has ended."""
        line = self._read_line(time.monotonic() + self._limit)
        self._limit = self._move_seconds
        try:
            reply = json.loads(line)
        except ValueError as error:
            raise self._error(f"its answer is not JSON: {line!r:.200}") from error
        if not isinstance(reply, dict):
            raise self._error(f"its answer is no JSON object: {line!r:.200}")
        return reply

    def refuse(self, reply: Event, reason: Exception) -> ValueError:
        """Return the error for an answer that cannot be played."""
        return self._error(f"its answer {json.dumps(reply):.200} cannot be played: {reason}")

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._complaints):
            if stream is not None:
                stream.close()

    def _read_line(self, limit: float) -> bytes:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, limit - time.monotonic())):
                    raise self._error(f"no answer in {self._limit:g} s: give it more time (mjai-SECONDS:COMMAND)")
                piece = os.read(self._process.stdout.fileno(), _PIECE)
                self._rest += piece
                if not piece or len(self._rest) > _MAX_LINE:
                    raise self._error("it has ended" if not piece else "its answer has no end")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _error(self, text: str) -> ValueError:
        """Return an error with the last line that the program has written to its standard error."""
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        said = f"; it says: {lines[-1]:.300}" if lines else ""
        return ValueError(f"{self._name}: {text}{said}")
