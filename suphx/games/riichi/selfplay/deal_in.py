"""What each discard costs at once: the points that the actor pays if the other seats win on it.

The other seats win by a rule (win_rule.py), so this is known before the discard to whoever sees all hands: it is exact,
and training uses it instead of the one discard that was sampled (training/policy_gradient.py).
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.engine.kyoku import step
from suphx.games.riichi.engine.legal import is_furiten
from suphx.games.riichi.hand.suit_table import Suits
from suphx.games.riichi.selfplay.decision import UNDECIDED, discard_action, rule_action
from suphx.games.riichi.table.action import PASS
from suphx.games.riichi.table.table import CLAIM, WIN_RESULT, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I64, U8, Records

COST_POINTS = 100
"""Of one unit of a cost: all payments are multiples of it."""


def deal_in_costs(tables: Records, suits: Suits, indices: I64, masks: U8) -> I16:
    """Return the cost of each discard in hundreds of points, int16 [n, 34]; 0 if nobody wins on it.

    ``indices`` [n]: tables whose actors discard; ``masks`` uint8 [n, 34]: the kinds that they may discard. Honba are
    included; riichi sticks are not, since no discard that is won on pays one.
    """
    costs = np.zeros((len(indices), 34), np.int16)
    count = _list_risks(tables, indices, masks, _NONE, _NONE)
    lines, kinds = np.zeros(count, np.int64), np.zeros(count, np.int64)
    _list_risks(tables, indices, masks, lines, kinds)
    _fill_costs(tables[indices[lines]], suits, lines, kinds, costs)
    return costs


_NONE = np.zeros(0, np.int64)


@jit
def _list_risks(tables: Records, indices: I64, masks: U8, lines: I64, kinds: I64) -> int:
    """Return how many discards another seat waits for; fill ``lines`` of the indices and ``kinds`` unless empty."""
    n = 0
    for i in range(len(indices)):
        waits = _waits_of_others(tables[indices[i]])
        for kind in range(34):
            if waits >> kind & 1 and masks[i, kind]:
                if len(lines) > 0:
                    lines[n] = i
                    kinds[n] = kind
                n += 1
    return n


@jit
def _waits_of_others(t: Table) -> int:
    waits = 0
    for distance in range(1, 4):
        seat = (t.actor + distance) % 4
        if not is_furiten(t, seat):
            waits |= t.waits[seat]
    return waits


@jit
def _fill_costs(copies: Records, suits: Suits, lines: I64, kinds: I64, costs: I16) -> None:
    for i in range(len(lines)):
        costs[lines[i], kinds[i]] = _points_lost(copies[i], suits, kinds[i]) // COST_POINTS


@jit
def _points_lost(t: Table, suits: Suits, kind: int) -> int:
    """Discard ``kind`` and let the other seats win on it or pass; return what the discarder pays."""
    seat = t.actor
    step(t, suits, discard_action(t, kind))
    while t.phase == CLAIM:
        action = rule_action(t)
        step(t, suits, PASS if action == UNDECIDED else action)
    return -t.deltas[seat] if t.result == WIN_RESULT else 0
