"""One recorded deal, decision by decision: the one way to follow a game outside compiled code.

>>> walk = KyokuWalk(game, 0)
>>> for decision in walk:  # walk.table is the table before the decision
...     ...
>>> walk.table["phase"]  # KYOKU_END
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.log.replay import ABSENT, NO_MOVE, follow, is_action_known, recorded_action
from suphx.games.riichi.table.action import LEAVE, PASS
from suphx.games.riichi.table.rules import apply_rules
from suphx.games.riichi.table.table import KYOKU_END, TABLE
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
