"""An outside program that plays one seat of one game in the mjai protocol: a child process, or one over TCP.

As on mjai.app: a line that the program gets is a JSON list of all events since the line before; it answers every line
with one JSON object. Its seat (0 to 3) is ``id`` of ``start_game``; a process also gets it as its last argument.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Sequence
from typing import Any

from suphx.json_text import parse_json
from suphx.printable_text import shortened
from suphx_platform.agents.mjai.program_channel import ProgramAddress

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

    program = MjaiProgram(CommandLine("python bot.py"), seat=2, move_seconds=10)
    program.send(events)
    reply = program.receive()
    program.close()
    """

    def __init__(
        self, address: ProgramAddress, seat: int, move_seconds: float, start_seconds: float | None = None
    ) -> None:
        """Start it, or connect to it; ValueError if that fails. ``start_seconds``: for the first answer."""
        self._address = address
        self._name = f"{address} (seat {seat})"
        self._move_seconds = move_seconds
        self._limit = max(START_SECONDS, move_seconds) if start_seconds is None else start_seconds
        self.has_answered = False
        """Whether it has sent an answer in time, sensible or not."""
        self._unsent = self._rest = self._line = self._said = b""
        try:
            self._channel = address.open(seat, self._limit)
        except OSError as error:
            raise ValueError(f"{self._name}: {error}") from error
        self._has_complaints = self._channel.complaints is not None

    def send(self, events: Sequence[Event] | Event) -> None:
        """Send a line without waiting, such as what has happened since the last one; ValueError if it has ended."""
        self._unsent += json.dumps(events, separators=(",", ":")).encode() + b"\n"
        self._write()

    def receive(self) -> Event:
        """Return the answer to what was sent last; ValueError if it is late, none, or the program has ended."""
        line = self._line = self._read_line(time.monotonic() + self._limit)
        self._limit = self._move_seconds
        self.has_answered = True
        try:
            reply = parse_json(line)
        except ValueError as error:
            raise self._error(f"its answer is not JSON: {line!r:.200} ({error})") from error
        if not isinstance(reply, dict):
            raise self._error(f"its answer is no JSON object: {line!r:.200}")
        return reply

    def refuse(self, reason: Exception) -> ValueError:
        """Return the error for an answer that cannot be played: the last one."""
        return self._error(f"its answer {self._line.decode(errors='replace'):.200} cannot be played: {reason}")

    def close(self) -> None:
        """End the program and the processes that it has started, or the connection."""
        self._channel.close()

    def _read_line(self, limit: float) -> bytes:
        channel = self._channel
        while b"\n" not in self._rest:
            readable, writable = self._wait(limit - time.monotonic())
            if not readable and not writable:
                form = self._address.slower_form
                raise self._error(f"no answer in {self._limit:g} s: give it more time ({form})")
            if channel.complaints in readable:
                self._has_complaints = self._read_complaints()
            if writable:
                self._write()
            if channel.output in readable:
                self._read_piece()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _wait(self, seconds: float) -> tuple[set[int], set[int]]:
        """Return the descriptors that can be read and written, or have ended; none when the time is over."""
        if seconds <= 0:
            return set(), set()
        channel = self._channel
        poll = select.poll()
        wanted = {channel.output: select.POLLIN}
        if self._has_complaints and channel.complaints is not None:
            wanted[channel.complaints] = select.POLLIN
        if self._unsent:
            wanted[channel.input] = wanted.get(channel.input, 0) | select.POLLOUT
        for descriptor, events in wanted.items():
            poll.register(descriptor, events)
        ready = [(descriptor, wanted[descriptor], events) for descriptor, events in poll.poll(1000 * seconds)]
        return (
            {descriptor for descriptor, asked, events in ready if asked & select.POLLIN and events & ~select.POLLOUT},
            {descriptor for descriptor, asked, events in ready if asked & select.POLLOUT and events & ~select.POLLIN},
        )

    def _read_piece(self) -> None:
        try:
            piece = self._channel.read(_PIECE)
        except BlockingIOError:  # a part of a record of TLS
            return
        except ConnectionError as error:
            raise self._error(self._channel.ended) from error
        self._rest += piece
        if not piece or len(self._rest) > _MAX_LINE:
            raise self._error("its answer has no end" if piece else self._channel.ended)

    def _write(self) -> None:
        """Send as much as the program takes now."""
        try:
            self._unsent = self._unsent[self._channel.write(self._unsent) :]
        except BlockingIOError:
            return
        except ConnectionError as error:
            raise self._error(self._channel.ended) from error

    def _read_complaints(self) -> bool:
        """Read a piece of its standard error, of which only the end is kept; False if there is no more."""
        if self._channel.complaints is None:
            return False
        try:
            piece = os.read(self._channel.complaints, _PIECE)
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
        said = f"; it says: {shortened(lines[-1], 300)}" if lines else ""
        return ValueError(f"{self._name}: {text}{said}")
