"""An agent of a game of two sides whose moves come from an outside program: ``program:COMMAND LINE``.

Each line that the program gets is a decision as its seat sees it (``CandidateGame.seen_by``) with all legal moves, as a
JSON object; it answers each with a line such as ``{"move": "345"}`` (docs/doudizhu.md). As in riichi (mjai_agent.py),
every seat of every game has a process of its own.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from suphx.games.game import CandidateGame
from suphx.kernel.record import I32, I64
from suphx_platform.agents.mjai.programs import MOVE_SECONDS, CommandLine, Event, ProgramAgent

PROGRAM_DECKS = 4
"""Decks of a task, and those that are played side by side, in a match with a program: 12 processes at a time for each
agent."""
_FORM = re.compile(r"program(?:-(?P<seconds>\d+(?:\.\d+)?))?:(?P<command>.*)", re.DOTALL)


def is_side_program(address: str) -> bool:
    """Tell whether the agent is an outside program."""
    return _FORM.fullmatch(address) is not None


class SideProgram(ProgramAgent):
    """Plays with a program; where only one move is legal the program is not asked.

    A program that crashes, is late, or answers a move that is not legal is ended, and its side has lost the game.
    """

    max_tables = 2 * PROGRAM_DECKS

    def __init__(self, address: str, game: CandidateGame) -> None:
        """``address``: ``is_side_program``. ValueError if there is no such program, or no time for it."""
        match = _FORM.fullmatch(address)
        assert match is not None, f"{address!r} is not a program"
        self.command_line = CommandLine(match["command"], form="program")
        seconds = float(match["seconds"]) if match["seconds"] else MOVE_SECONDS
        self._game = game
        super().__init__(address, self.command_line, seconds, rest="the games in which a program fails are lost")

    def act(self, tables: Any, indices: I64) -> I32:
        """Return the program's moves; the first legal one after it was ended."""
        offsets, legal = tables.legal(indices)
        moves: I32 = legal[offsets[:-1]]
        choices = [legal[first:end] for first, end in pairwise(offsets.tolist())]
        places = list(zip(indices.tolist(), tables.actors(indices).tolist(), strict=True))

        def question(i: int) -> Event:
            own = [self._game.recorded_move(tables.rules, move) for move in choices[i].tolist()]
            return self._game.seen_by(tables, places[i][0]) | {"legal": own}

        def take(i: int, reply: Event) -> None:
            text = reply.get("move")
            if not isinstance(text, str):
                raise ValueError('it has no "move" that is a text')
            try:
                move = self._game.text.read_move(tables.rules, text)
            except ValueError as error:
                raise ValueError(f"{text!r:.40} is not a move of {self._game.name}") from error
            if move not in choices[i]:
                raise ValueError(self._game.text.refusal(tables, places[i][0], move))
            moves[i] = move

        self.ask({i: place for i, place in enumerate(places) if len(choices[i]) > 1}, question, take)
        return moves
