"""An outside program that plays one seat of one game in the mjai protocol, as a child process.

As on mjai.app: the program gets its seat (0 to 3) as its last argument. A line on its standard input is a JSON list of
all events since the line before; it answers every line with one JSON object on its standard output.
"""

from __future__ import annotations

import json
import os
import selectors
import shlex
import time
from collections.abc import Sequence
from typing import Any

from suphx_platform.agents.mjai.program_process import end_process, start_process

START_SECONDS = 60.0
"""For the first answer, in which a program may load its nets."""
_MAX_LINE = 1 << 20
_PIECE = 1 << 16
_MAX_COMPLAINT = 1 << 12
"""Bytes that are kept of its standard error."""
_LAST_PIECES = 64
"""Of its standard error, that are read before an error is shown: as much as a pipe takes, and a flood ends."""

Event = dict[str, Any]


class MjaiProgram:
    """Usage::

    program = MjaiProgram("python bot.py", seat=2, move_seconds=10)
    program.send(events)
    reply = program.receive()
    program.close()
    """

    def __init__(self, command: str, seat: int, move_seconds: float, start_seconds: float | None = None) -> None:
        """Start it; ValueError if it cannot be started. ``start_seconds``: for the first answer."""
        self._name = f"mjai:{command} (seat {seat})"
        self._move_seconds = move_seconds
        self._limit = max(START_SECONDS, move_seconds) if start_seconds is None else start_seconds
        self.has_answered = False
        """Whether it has sent an answer in time, sensible or not."""
        self._unsent = self._rest = self._line = self._said = b""
        try:
            self._process = start_process([*shlex.split(command), str(seat)])
        except OSError as error:
            raise ValueError(f"{self._name} cannot be started: {error.strerror}: {error.filename}") from error
        for pipe in self._pipes():
            os.set_blocking(pipe, False)

    def send(self, events: Sequence[Event]) -> None:
        """Tell what has happened since the last time, without waiting; ValueError if the program has ended."""
        self._unsent += json.dumps(events, separators=(",", ":")).encode() + b"\n"
        self._write()

    def receive(self) -> Event:
        """Return the answer to what was sent last; ValueError if it is late, none, or the program has ended."""
        line = self._line = self._read_line(time.monotonic() + self._limit)
        self._limit = self._move_seconds
        self.has_answered = True
        try:
            reply = json.loads(line)
        except RecursionError as error:
            raise self._error(f"its answer is nested too deeply: {line!r:.200}") from error
        except ValueError as error:
            raise self._error(f"its answer is not JSON: {line!r:.200}") from error
        if not isinstance(reply, dict):
            raise self._error(f"its answer is no JSON object: {line!r:.200}")
        return reply

    def refuse(self, reason: Exception) -> ValueError:
        """Return the error for an answer that cannot be played: the last one."""
        return self._error(f"its answer {self._line.decode(errors='replace'):.200} cannot be played: {reason}")

    def close(self) -> None:
        """End the program and the processes that it has started."""
        end_process(self._process)

    def _pipes(self) -> tuple[int, int, int]:
        """Return the numbers of its standard input, output and error."""
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        return stdin.fileno(), stdout.fileno(), stderr.fileno()

    def _read_line(self, limit: float) -> bytes:
        stdin, stdout, stderr = self._pipes()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            if self._unsent:
                selector.register(stdin, selectors.EVENT_WRITE)
            while b"\n" not in self._rest:
                seconds = limit - time.monotonic()
                ready = {key.fd for key, _ in selector.select(seconds)} if seconds > 0 else set()
                if not ready:
                    raise self._error(f"no answer in {self._limit:g} s: give it more time (mjai-SECONDS:COMMAND)")
                if stderr in ready and not self._read_complaints():
                    selector.unregister(stderr)
                if stdin in ready:
                    self._write()
                    if not self._unsent:
                        selector.unregister(stdin)
                if stdout in ready:
                    self._read_piece(stdout)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _read_piece(self, stdout: int) -> None:
        piece = os.read(stdout, _PIECE)
        self._rest += piece
        if not piece or len(self._rest) > _MAX_LINE:
            raise self._error("its answer has no end" if piece else "it has ended")

    def _write(self) -> None:
        """Send as much as the program takes now."""
        try:
            self._unsent = self._unsent[os.write(self._pipes()[0], self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError as error:
            raise self._error("it has ended") from error

    def _read_complaints(self) -> bool:
        """Read a piece of its standard error, of which only the end is kept; False if there is no more."""
        try:
            piece = os.read(self._pipes()[2], _PIECE)
        except BlockingIOError:
            return False
        self._said = (self._said + piece)[-_MAX_COMPLAINT:]
        return bool(piece)

    def _error(self, text: str) -> ValueError:
        """Return an error with the last line that the program has written to its standard error."""
        for _ in range(_LAST_PIECES):
            if not self._read_complaints():
                break
        lines = self._said.decode(errors="replace").strip().splitlines()
        said = f"; it says: {lines[-1]:.300}" if lines else ""
        return ValueError(f"{self._name}: {text}{said}")
