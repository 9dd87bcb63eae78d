"""An agent of a game of two sides whose moves come from an outside program: ``program:COMMAND LINE``.

Each line that the program gets is a decision as its seat sees it (``CandidateGame.seen_by``) with all legal moves, as a
JSON object; it answers each with a line such as ``{"move": "345"}`` (docs/doudizhu.md). As in riichi (mjai_agent.py),
every seat of every game has a process of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from suphx.experience.observation import SeatObservations
from suphx.games.game import CandidateAgent, CandidateGame
from suphx.kernel.record import I32, I64
from suphx_platform.agents.mjai.programs import MOVE_SECONDS, CommandLine, Event, MjaiProgram, ProgramSeats

PROGRAM_DECKS = 4
"""Decks of a task, and those that are played side by side, in a match with a program: 12 processes at a time for each
agent."""
_FORM = re.compile(r"program(?:-(?P<seconds>\d+(?:\.\d+)?))?:(?P<command>.*)", re.DOTALL)


def is_side_program(address: str) -> bool:
    """Tell whether the agent is an outside program."""
    return _FORM.fullmatch(address) is not None


@dataclass(frozen=True, slots=True)
class SideCommandLine(CommandLine):
    """A program of this machine, as the address of an agent."""

    slower_form = "program-SECONDS:COMMAND"

    def __str__(self) -> str:
        return f"program:{self.command}"


class SideProgram(CandidateAgent):
    """Plays with a program; where only one move is legal the program is not asked.

    A program that crashes, is late, or answers a move that is not legal is ended, and its side has lost the game.
    """

    max_tables = 2 * PROGRAM_DECKS

    def __init__(self, address: str, game: CandidateGame) -> None:
        """``address``: ``is_side_program``. ValueError if there is no such program, or no time for it."""
        match = _FORM.fullmatch(address)
        assert match is not None, f"{address!r} is no program"
        self.program = SideCommandLine(match["command"])
        seconds = float(match["seconds"]) if match["seconds"] else MOVE_SECONDS
        self.name = address
        self._game = game
        self._seats = ProgramSeats(address, self.program, seconds, rest="the games in which a program fails are lost")

    def choose(self, simulator: Any, seen: SeatObservations) -> I64:
        """Return the program's choices, as ``CandidateAgent.choose``; the first legal move after it was ended."""
        chosen: I64 = seen.offsets[:-1].copy()
        asked: list[tuple[int, MjaiProgram]] = []
        before = set(self._seats.reasons)
        for i, table in enumerate(seen.tables.tolist()):
            place, moves = (table, seen.seat), _moves_at(seen, i)
            if len(moves) > 1 and place not in before:
                with self._seats.forfeiting(place):
                    program = self._seats.program(place)
                    program.send(self._decision(simulator, table, moves))
                    asked.append((i, program))
        for i, program in asked:
            table = int(seen.tables[i])
            with self._seats.forfeiting((table, seen.seat)):
                chosen[i] += self._answer(simulator, table, program, _moves_at(seen, i))
        return chosen

    def follow(self, tables: Any) -> None:
        """Begin with new games."""
        self.leave()

    def forfeits(self, index: int) -> dict[int, str]:
        """Return seat -> why, of the seats in the game at table ``index`` at which a program was ended."""
        return {seat: reason for (table, seat), reason in self._seats.reasons.items() if table == index}

    def leave(self) -> None:
        """End all programs."""
        self._seats.leave()

    def _decision(self, simulator: Any, table: int, moves: I32) -> Event:
        legal = [self._game.recorded_move(simulator.rules, move) for move in moves.tolist()]
        return self._game.seen_by(simulator, table) | {"legal": legal}

    def _answer(self, simulator: Any, table: int, program: MjaiProgram, moves: I32) -> int:
        """Return the place of a program's answer among the legal moves; ValueError if it is late or none of them."""
        text = program.receive().get("move")
        try:
            if not isinstance(text, str):
                raise ValueError('it has no "move" that is a text')
            move = self._read(simulator, text)
            places = np.flatnonzero(moves == move)
            if not places.size:
                raise ValueError(self._game.text.refusal(simulator, table, move))
        except ValueError as error:
            raise program.refuse(error) from error
        return int(places[0])

    def _read(self, simulator: Any, text: str) -> int:
        try:
            return self._game.text.read_move(simulator.rules, text)
        except ValueError as error:
            raise ValueError(f"{text!r:.40} is no move of {self._game.name}") from error


def _moves_at(seen: SeatObservations, i: int) -> I32:
    """Return the legal moves at a table of ``seen``."""
    moves: I32 = seen.moves[seen.offsets[i] : seen.offsets[i + 1]]
    return moves
