"""An agent whose moves come from an external program in the mjai protocol (programs.py).

Every seat of every game has a process of its own, which begins and ends with the game. A program sees what a player
sees: the others' hands and draws are ``?``.
"""

from __future__ import annotations

from suphx.games.riichi.records.mjai import (
    kyoku_events,
    refuse_untold_tables,
    running_kyoku_events,
    seen_by,
    start_event,
)
from suphx.games.riichi.records.mjai_table import action_of_reply
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.table import CLAIM, ROB_KAN
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records
from suphx_platform.agents.mjai.programs import MOVE_SECONDS, CommandLine, Event, Place, ProgramAgent

_TABLES = 4  # so that there are at most 16 processes at a time


class MjaiAgent(ProgramAgent):
    """Plays with a program; where only one action is legal the program is not asked.

    A program that crashes, is late, or answers what cannot be played is ended: its seat passes, discards what it
    draws and wins where it can until the game is over, and the game is a forfeit of this agent.
    """

    max_tables = _TABLES

    def __init__(self, name: str, address: CommandLine, move_seconds: float = MOVE_SECONDS) -> None:
        """ValueError if there is no such program, or no time for it."""
        rest = "this seat discards what it draws, or wins with it"
        super().__init__(name, address, move_seconds, rest=rest)
        self._known: dict[Place, tuple[int, int]] = {}
        """Kyokus that a program knows from start to end, and events of the next one that it knows."""
        self._recorder: GameRecorder | None = None
        self._fallback = ScriptedAgent("tsumogiri")

    def follow(self, tables: GameRecorder) -> None:
        """Begin with new games."""
        self.leave()
        self._recorder = tables

    def leave(self) -> None:
        """End all programs."""
        super().leave()
        self._known.clear()

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table; ValueError for rules that mjai has no words for."""
        refuse_untold_tables(tables[indices])
        actions = self._fallback.act(tables, indices)
        own = tables[indices]
        places = list(zip(indices.tolist(), own["actor"].tolist(), strict=True))

        def take(i: int, reply: Event) -> None:
            actions[i] = action_of_reply(reply, own[i]["legal"], int(own[i]["drawn"]), int(own[i]["claimed_face"]))

        asked = {i: place for i, place in enumerate(places) if own[i]["num_legal"] > 1}
        self.ask(asked, lambda i: self._news(own[i], places[i]), take)
        return actions

    def _news(self, table: Records, place: Place) -> list[Event]:
        """Return the events that the program at ``place`` does not know yet, as its seat sees them."""
        if self._recorder is None:
            raise ValueError(f"{self.name} is a program, which has to see a game from its start: let it play")
        index, seat = place
        start = [] if place in self._known else [start_event("0123", int(table["num_winds"])) | {"id": seat}]
        num_kyokus, num_events = self._known.get(place, (0, 0))
        finished = self._recorder.finished_kyokus(index)
        before = [event for kyoku in finished[num_kyokus:] for event in kyoku_events(kyoku)]
        is_own_turn = int(table["phase"]) not in (CLAIM, ROB_KAN)
        now = list(running_kyoku_events(self._recorder.running_kyoku(index), seat, is_own_turn=is_own_turn))
        self._known[place] = len(finished), len(now)
        return [seen_by(seat, event) for event in [*start, *[*before, *now][num_events:]]]
