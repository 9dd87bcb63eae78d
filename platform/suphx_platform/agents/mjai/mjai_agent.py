"""An agent whose moves come from an outside program in the mjai protocol (mjai_program.py).

Every seat of every game has a process or a connection of its own, which begins and ends with the game. A program sees
what a player sees: the others' hands and draws are ``?``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from suphx.games.riichi import (
    CLAIM,
    ROB_KAN,
    GameRecorder,
    Table,
    action_of_reply,
    kyoku_events,
    refuse_untold_tables,
    running_kyoku_events,
    seen_by,
    start_event,
)
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import ScriptedAgent
from suphx_platform.agents.mjai.mjai_program import Event, MjaiProgram
from suphx_platform.agents.mjai.program_channel import ProgramAddress

MOVE_SECONDS = 10.0
_logger = logging.getLogger(__name__)
_TABLES = 4  # so that there are at most 16 processes or connections at a time


@dataclass(slots=True)
class _Player:
    """One program at one seat, and how far it knows the game."""

    program: MjaiProgram
    num_kyokus: int = 0
    """Kyokus that it knows from start to end."""
    num_events: int = 0
    """Events of the next kyoku that it knows."""


class MjaiAgent:
    """Plays with a program; where only one action is legal the program is not asked.

    A program that crashes, is late, or answers what cannot be played is ended: its seat passes, discards what it
    draws and wins where it can until the game is over, and the game is a forfeit of this agent.
    """

    max_tables = _TABLES

    def __init__(self, name: str, address: ProgramAddress, move_seconds: float = MOVE_SECONDS) -> None:
        """ValueError if there is no such program, or no time for it."""
        try:
            address.check()
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from error
        if move_seconds <= 0:
            raise ValueError(f"{name!r} has {move_seconds:g} s for a move: give it more")
        self.name = name
        self._address = address
        self._move_seconds = move_seconds
        self._players: dict[tuple[int, int], _Player] = {}
        self._recorder: GameRecorder | None = None
        self._forfeits: dict[tuple[int, int], str] = {}
        self._has_forfeited = False
        self._start_seconds: float | None = None
        """Less than usual while no program has ever answered, or taken a connection: others would not either."""
        self._has_answered = False
        self._fallback = ScriptedAgent("tsumogiri")

    def follow(self, recorder: GameRecorder) -> None:
        """Begin with new games."""
        self.leave()
        self._recorder = recorder

    def leave(self) -> None:
        """End all programs and connections."""
        for player in self._players.values():
            player.program.close()
        self._players.clear()
        self._forfeits.clear()

    def forfeits(self, index: int) -> dict[int, str]:
        """Return seat -> why, of the seats in the game at table ``index`` that a program did not play to the end."""
        return {seat: reason for (table, seat), reason in self._forfeits.items() if table == index}

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table; ValueError for rules that mjai has no words for."""
        refuse_untold_tables(tables[indices])
        actions = self._fallback.act(tables, indices)
        asked = []
        for i, index in enumerate(indices.tolist()):
            table = tables[index]
            place = index, int(table["actor"])
            if table["num_legal"] > 1 and place not in self._forfeits:
                with self._forfeiting(place):
                    asked.append((i, place, self._ask(table, index)))
        for i, place, program in asked:
            with self._forfeiting(place):
                actions[i] = _answer(program, tables[place[0]])
            if program.has_answered:
                self._has_answered, self._start_seconds = True, None
        return actions

    @contextmanager
    def _forfeiting(self, place: tuple[int, int]) -> Iterator[None]:
        """End the program at a table and seat if it cannot go on, and note why."""
        try:
            yield
        except ValueError as error:
            if not self._has_forfeited:
                self._has_forfeited = True
                _logger.warning("%s; from now on this seat discards what it draws, or wins with it", error)
            self._forfeits[place] = str(error)
            player = self._players.pop(place, None)
            if player is not None:
                player.program.close()
            if not self._has_answered and (player is None or not player.program.has_answered):
                self._start_seconds = self._move_seconds

    def _ask(self, table: Table, index: int) -> MjaiProgram:
        seat = int(table["actor"])  # type: ignore[index]  # a record outside of kernels
        player = self._players.get((index, seat))
        events: list[Event] = []
        if player is None:
            player = _Player(MjaiProgram(self._address, seat, self._move_seconds, self._start_seconds))
            self._players[index, seat] = player
            events = [start_event("0123", int(table["num_winds"])) | {"id": seat}]  # type: ignore[index]
        is_own_turn = int(table["phase"]) not in (CLAIM, ROB_KAN)  # type: ignore[index]
        events += self._news(player, index, seat, is_own_turn=is_own_turn)
        player.program.send([seen_by(seat, event) for event in events])
        return player.program

    def _news(self, player: _Player, index: int, seat: int, *, is_own_turn: bool) -> list[Event]:
        """Return the events that a program does not know yet."""
        if self._recorder is None:
            raise ValueError(f"{self.name} is a program, which has to see a game from its start: let it play")
        finished = self._recorder.finished_kyokus(index)
        before = [event for kyoku in finished[player.num_kyokus :] for event in kyoku_events(kyoku)]
        running = self._recorder.running_kyoku(index)
        now = list(running_kyoku_events(running, seat, is_own_turn=is_own_turn))
        known, player.num_kyokus, player.num_events = player.num_events, len(finished), len(now)
        return [*before, *now][known:]


def _answer(program: MjaiProgram, table: Table) -> int:
    """Return the action that a program answers; ValueError if it is late, or the answer cannot be played."""
    reply = program.receive()
    try:
        return action_of_reply(reply, table["legal"], int(table["drawn"]), int(table["claimed_face"]))  # type: ignore[index]
    except ValueError as error:
        raise program.refuse(error) from error
