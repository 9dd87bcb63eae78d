"""An agent whose moves come from an outside program in the mjai protocol (programs.py).

Every seat of every game has a process or a connection of its own, which begins and ends with the game. A program sees
what a player sees: the others' hands and draws are ``?``.
"""

from __future__ import annotations

from dataclasses import dataclass

from suphx.games.riichi.records.mjai import (
    kyoku_events,
    refuse_untold_tables,
    running_kyoku_events,
    seen_by,
    start_event,
)
from suphx.games.riichi.records.mjai_table import action_of_reply
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.table import CLAIM, ROB_KAN, Table
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records
from suphx_platform.agents.mjai.programs import MOVE_SECONDS, Event, MjaiProgram, Place, ProgramAddress, ProgramAgent

_TABLES = 4  # so that there are at most 16 processes or connections at a time


@dataclass(slots=True)
class _Known:
    """How far a program knows its game."""

    num_kyokus: int = 0
    """Kyokus that it knows from start to end."""
    num_events: int = 0
    """Events of the next kyoku that it knows."""


class MjaiAgent(ProgramAgent):
    """Plays with a program; where only one action is legal the program is not asked.

    A program that crashes, is late, or answers what cannot be played is ended: its seat passes, discards what it
    draws and wins where it can until the game is over, and the game is a forfeit of this agent.
    """

    max_tables = _TABLES

    def __init__(self, name: str, address: ProgramAddress, move_seconds: float = MOVE_SECONDS) -> None:
        """ValueError if there is no such program, or no time for it."""
        rest = "this seat discards what it draws, or wins with it"
        super().__init__(name, address, move_seconds, rest=rest)
        self._known: dict[Place, _Known] = {}
        self._recorder: GameRecorder | None = None
        self._fallback = ScriptedAgent("tsumogiri")

    def follow(self, tables: GameRecorder) -> None:
        """Begin with new games."""
        self.leave()
        self._recorder = tables

    def leave(self) -> None:
        """End all programs and connections."""
        super().leave()
        self._known.clear()

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table; ValueError for rules that mjai has no words for."""
        refuse_untold_tables(tables[indices])
        actions = self._fallback.act(tables, indices)
        asked = []
        for i, index in enumerate(indices.tolist()):
            table = tables[index]
            place = index, int(table["actor"])
            if table["num_legal"] > 1 and place not in self.reasons:
                with self.forfeiting(place):
                    asked.append((i, place, self._ask(table, index)))
        for i, place, program in asked:
            with self.forfeiting(place):
                actions[i] = _answer(program, tables[place[0]])
        return actions

    def _ask(self, table: Table, index: int) -> MjaiProgram:
        seat = int(table["actor"])  # type: ignore[index]  # a record outside of kernels
        place = index, seat
        program = self.program(place)
        events: list[Event] = []
        if place not in self._known:
            self._known[place] = _Known()
            events = [start_event("0123", int(table["num_winds"])) | {"id": seat}]  # type: ignore[index]
        is_own_turn = int(table["phase"]) not in (CLAIM, ROB_KAN)  # type: ignore[index]
        events += self._news(self._known[place], index, seat, is_own_turn=is_own_turn)
        program.send([seen_by(seat, event) for event in events])
        return program

    def _news(self, known: _Known, index: int, seat: int, *, is_own_turn: bool) -> list[Event]:
        """Return the events that a program does not know yet."""
        if self._recorder is None:
            raise ValueError(f"{self.name} is a program, which has to see a game from its start: let it play")
        finished = self._recorder.finished_kyokus(index)
        before = [event for kyoku in finished[known.num_kyokus :] for event in kyoku_events(kyoku)]
        running = self._recorder.running_kyoku(index)
        now = list(running_kyoku_events(running, seat, is_own_turn=is_own_turn))
        num_known, known.num_kyokus, known.num_events = known.num_events, len(finished), len(now)
        return [*before, *now][num_known:]


def _answer(program: MjaiProgram, table: Table) -> int:
    """Return the action that a program answers; ValueError if it is late, or the answer cannot be played."""
    reply = program.receive()
    try:
        return action_of_reply(reply, table["legal"], int(table["drawn"]), int(table["claimed_face"]))  # type: ignore[index]
    except ValueError as error:
        raise program.refuse(error) from error
