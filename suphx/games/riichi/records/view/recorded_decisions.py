"""All decisions of a recorded game as arrays, and what an agent thinks of them: the viewer and reviews read these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.log.replay import ABSENT, NO_MOVE, follow, is_action_known, recorded_action
from suphx.games.riichi.table.action import LEAVE, PASS
from suphx.games.riichi.table.rules import apply_rules
from suphx.games.riichi.table.table import KYOKU_END, TABLE
from suphx.kernel.record import I16, I64, Records
from suphx.printable_text import printable


class Decision(NamedTuple):
    """What the actor of the table did."""

    action: int
    """0-119, legal."""
    is_known: bool
    """The action is the actor's own wish: the seat was connected, and no claim of another seat hides it."""


class KyokuWalk:
    """Iterates once over the decisions of a deal; ``tables`` (1,) and ``table`` change with each step."""

    def __init__(self, game: GameLog, index: int) -> None:
        """Deal ``index`` of ``game``; the table waits for the dealer's first decision."""
        self.log = game.kyokus[index]
        self.tables = np.zeros(1, TABLE)
        self.table: Any = self.tables[0]
        self.place = f"deal {index} of game {printable(game.id)}"
        self._suits = load_suits()
        apply_rules(self.tables, game.rules)
        for name in ("kyoku", "honba", "kyotaku", "scores", "wall"):
            self.table[name] = getattr(self.log, name)
        start_kyoku(self.tables[0], self._suits)

    def __iter__(self) -> Iterator[Decision]:
        """Yield each decision before it is applied; ValueError when the moves contradict the rules."""
        moves, cursor = self.log.moves, np.zeros(4, np.int64)
        while self.table["phase"] != KYOKU_END:
            action = recorded_action(self.tables[0], moves, int(self.log.result["result"]), cursor)
            if action == NO_MOVE or action >= LEAVE or not self.table["legal"][action]:
                raise ValueError(f"{self.place} contradicts the rules: see suphx records verify")
            is_absent = bool(cursor[ABSENT] >> int(self.table["actor"]) & 1)
            is_hidden = action == PASS and not is_action_known(self.tables[0], moves, cursor)
            yield Decision(int(action), not is_absent and not is_hidden)
            follow(self.tables[0], self._suits, moves, cursor, action)


NO_ACTION = -1


@dataclass(frozen=True, slots=True)
class RecordedDecisions:
    """The decisions of a game in order, forced ones included."""

    tables: Records
    """TABLE records (n,): each before its decision."""
    actions: I16
    """int16 (n,): what the actor did."""
    is_known: NDArray[np.bool_]
    """(n,): the action is the actor's own wish (``Decision.is_known``)."""
    kyokus: I64
    """int64 (n,): index of the deal."""


@dataclass(frozen=True, slots=True)
class Opinions:
    """What an agent would do at each of the decisions of ``RecordedDecisions``."""

    name: str
    """Of the agent."""
    actions: I16
    """int16 (n,), NO_ACTION where the agent never comes into such a position."""
    probabilities: NDArray[np.float32]
    """float32 (n, NUM_ACTIONS) by action, NaN where no net was asked (``move_probabilities``)."""


def recorded_decisions(game: GameLog) -> RecordedDecisions:
    """Return all decisions of ``game``; ValueError when its moves contradict the rules."""
    tables, actions, is_known, kyokus = [], [], [], []
    for index in range(len(game.kyokus)):
        walk = KyokuWalk(game, index)
        for decision in walk:
            tables.append(walk.tables.copy())
            actions.append(decision.action)
            is_known.append(decision.is_known)
            kyokus.append(index)
    return RecordedDecisions(
        np.concatenate(tables) if tables else np.zeros(0, TABLE),
        np.array(actions, np.int16),
        np.array(is_known, np.bool_),
        np.array(kyokus, np.int64),
    )
