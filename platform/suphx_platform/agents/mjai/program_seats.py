"""The programs at the seats of running games: each has a process or a connection of its own, from start to end."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from suphx_platform.agents.mjai.mjai_program import MjaiProgram
from suphx_platform.agents.mjai.program_channel import ProgramAddress

MOVE_SECONDS = 10.0
_logger = logging.getLogger(__name__)
Place: TypeAlias = tuple[int, int]
"""A table, and a seat at it."""


class ProgramSeats:
    """Starts programs, and ends those that cannot go on: their games are forfeits.

    >>> seats = ProgramSeats("mjai:python bot.py", CommandLine("python bot.py"), 10.0, rest="it discards what it draws")
    >>> with seats.forfeiting(place):
    ...     seats.program(place).send(events)
    """

    def __init__(self, name: str, address: ProgramAddress, move_seconds: float, *, rest: str) -> None:
        """``rest``: what a seat does after its program was ended. ValueError for no such program, or no time for it."""
        try:
            address.check()
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from error
        if move_seconds <= 0:
            raise ValueError(f"{name!r} has {move_seconds:g} s for a move: give it more")
        self._address = address
        self._move_seconds = move_seconds
        self._rest = rest
        self._programs: dict[Place, MjaiProgram] = {}
        self.reasons: dict[Place, str] = {}
        """Why a program could not play its game to the end."""
        self._has_forfeited = False
        self._start_seconds: float | None = None
        """Less than usual while no program has ever answered, or taken a connection: others would not either."""
        self._has_answered = False

    def leave(self) -> None:
        """End all programs and connections."""
        for program in self._programs.values():
            program.close()
        self._programs.clear()
        self.reasons.clear()

    def program(self, place: Place) -> MjaiProgram:
        """Return the program at a place, which is started if there is none yet; ValueError if that fails."""
        if place not in self._programs:
            self._programs[place] = MjaiProgram(self._address, place[1], self._move_seconds, self._start_seconds)
        return self._programs[place]

    @contextmanager
    def forfeiting(self, place: Place) -> Iterator[None]:
        """End the program at a place if the block raises ValueError, and note why."""
        try:
            yield
        except ValueError as error:
            if not self._has_forfeited:
                self._has_forfeited = True
                _logger.warning("%s; from now on %s", error, self._rest)
            self.reasons[place] = str(error)
            program = self._programs.pop(place, None)
            if program is not None:
                program.close()
        else:
            program = self._programs.get(place)
        if program is not None and program.has_answered:
            self._has_answered, self._start_seconds = True, None
        elif place in self.reasons and not self._has_answered:
            self._start_seconds = self._move_seconds
