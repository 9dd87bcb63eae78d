"""An agent whose moves come from an outside program in the mjai protocol (mjai_program.py).

Every seat of every game has a process of its own, which begins and ends with the game. A program sees what a player
sees: the others' hands and draws are ``?``.
"""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass

import numpy as np

from suphx.games.riichi import (
    CLAIM,
    ROB_KAN,
    GameRecorder,
    Table,
    action_of_reply,
    kyoku_events,
    running_kyoku_events,
    seen_by,
    start_event,
)
from suphx.kernel.record import I16, I64, Records
from suphx_platform.agents.mjai_program import Event, MjaiProgram

MOVE_SECONDS = 10.0
_TABLES = 4  # so that there are at most 16 processes at a time


@dataclass(slots=True)
class _Player:
    """One program at one seat, and how far it knows the game."""

    program: MjaiProgram
    num_kyokus: int = 0
    """Kyokus that it knows from start to end."""
    num_events: int = 0
    """Events of the next kyoku that it knows."""


class MjaiAgent:
    """Plays with a program; where only one action is legal the program is not asked."""

    max_tables = _TABLES

    def __init__(self, name: str, command: str, move_seconds: float = MOVE_SECONDS) -> None:
        """ValueError if there is no such program, or no time for it."""
        words = shlex.split(command)
        if not words or shutil.which(words[0]) is None:
            raise ValueError(
                f"{name!r}: there is no program {words[0] if words else ''!r}: give a command, or its path"
            )
        if move_seconds <= 0:
            raise ValueError(f"{name!r} has {move_seconds:g} s for a move: give it more")
        self.name = name
        self._command = command
        self._move_seconds = move_seconds
        self._players: dict[tuple[int, int], _Player] = {}
        self._recorder: GameRecorder | None = None

    def follow(self, recorder: GameRecorder) -> None:
        """Begin with new games."""
        self.leave()
        self._recorder = recorder

    def leave(self) -> None:
        """End all programs."""
        for player in self._players.values():
            player.program.close()
        self._players.clear()

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table. ValueError if a program does not answer as it should."""
        actions = np.zeros(indices.shape, np.int16)
        asked = []
        for i, index in enumerate(indices.tolist()):
            table = tables[index]
            if table["num_legal"] == 1:
                actions[i] = np.flatnonzero(table["legal"])[0]
            else:
                asked.append((i, table, self._ask(table, index)))
        for i, table, program in asked:
            reply = program.receive()
            try:
                actions[i] = action_of_reply(reply, table["legal"], int(table["drawn"]))
            except ValueError as error:
                raise program.refuse(error) from error
        return actions

    def _ask(self, table: Table, index: int) -> MjaiProgram:
        seat = int(table["actor"])  # type: ignore[index]  # a record outside of kernels
        player = self._players.get((index, seat))
        events: list[Event] = []
        if player is None:
            player = _Player(MjaiProgram(self._command, seat, self._move_seconds))
            self._players[index, seat] = player
            events = [start_event("0123", int(table["num_winds"])) | {"id": seat}]  # type: ignore[index]
        is_own_turn = int(table["phase"]) not in (CLAIM, ROB_KAN)  # type: ignore[index]
        events += self._news(player, index, seat, is_own_turn=is_own_turn)
        player.program.send([seen_by(seat, event) for event in events])
        return player.program

    def _news(self, player: _Player, index: int, seat: int, *, is_own_turn: bool) -> list[Event]:
        """Return the events that a program does not know yet."""
        assert self._recorder is not None, "the agent has no games to follow"
        finished = self._recorder.finished_kyokus(index)
        before = [event for kyoku in finished[player.num_kyokus :] for event in kyoku_events(kyoku)]
        running = self._recorder.running_kyoku(index)
        now = list(running_kyoku_events(running, seat, is_own_turn=is_own_turn))
        known, player.num_kyokus, player.num_events = player.num_events, len(finished), len(now)
        return [*before, *now][known:]
