"""Every decision of a recorded game twice: as the rules engine's table, and as the history of its events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.log.gamelog import GameLog, KyokuLog
from suphx.games.riichi.records.log.kyoku_playback import Called, DeclaredRiichi, Discarded, Drew, Event, play_kyoku
from suphx.games.riichi.records.log.replay import follow, recorded_action
from suphx.games.riichi.table.action import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, PASS, PON, PON_RED
from suphx.games.riichi.table.rules import apply_rules
from suphx.games.riichi.table.table import CALL_DISCARD, CLAIM, KYOKU_END, OWN_TURN, RIICHI_DISCARD, ROB_KAN, TABLE
from tests.games.riichi.features.builders.public_history import PublicHistory

_SHOWN_BY = {OWN_TURN: Drew, RIICHI_DISCARD: DeclaredRiichi, CALL_DISCARD: Called, CLAIM: Discarded, ROB_KAN: Called}


class Position(NamedTuple):
    table: Any
    """The TABLE record; it changes when the next position is asked for."""
    history: PublicHistory

    @property
    def actor(self) -> int:
        return int(self.table["actor"])

    def claims(self) -> list[int]:
        """Return the possible claims and kans of the actor that a net judges."""
        judged = [PON, PON_RED, MINKAN, *range(CHI, CHI_RED + 3), *range(ANKAN, KAKAN + 34)]
        return [action for action in judged if self.table["legal"][action] and self.table["phase"] != ROB_KAN]


def positions(game: GameLog) -> Iterator[Position]:
    """Yield every decision of ``game``, passes included."""
    for log in game.kyokus:
        yield from _positions(log, game)


def _positions(log: KyokuLog, game: GameLog) -> Iterator[Position]:
    tables, suits = np.zeros(1, TABLE), load_suits()
    table: Any = tables[0]
    apply_rules(tables, game.rules)
    table["scores"], table["wall"] = log.scores, log.wall
    table["kyoku"], table["honba"], table["kyotaku"] = log.kyoku, log.honba, log.kyotaku
    history = PublicHistory(log, game.rules)
    events = play_kyoku(log)
    cursor = np.zeros(4, np.int64)
    start_kyoku(tables[0], suits)
    window = None
    while table["phase"] != KYOKU_END:
        now = tuple(int(value) for value in (table["phase"], table["river_length"].sum(), table["num_kans"]))
        if table["phase"] not in (CLAIM, ROB_KAN) or now != window:  # several seats are asked about one tile
            _catch_up(history, events, table)
        window = now
        yield Position(table, history)
        action = recorded_action(tables[0], log.moves, int(log.result["result"]), cursor)
        assert action <= PASS, f"{game.id}: the record has no move for seat {table['actor']}"
        follow(tables[0], suits, log.moves, cursor, action)


def _catch_up(history: PublicHistory, events: Iterator[Event], table: Any) -> None:
    """Follow the events up to the one that put ``table`` where it stands."""
    shown_by = _SHOWN_BY[int(table["phase"])]
    seat = int(table["turn"])
    for event in events:
        history.add(event)
        if isinstance(event, shown_by) and getattr(event, "seat", None) == seat:
            return
    raise AssertionError(f"no event brings the table to phase {table['phase']}")
