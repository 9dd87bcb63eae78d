"""Playouts: answers to one decision are each tried on a copy of the table, and a scripted agent plays on at all seats.

All branches of a decision have the same wall and the same hidden hands. So most of the luck is the same in each of
them, and two answers after which nothing else changes differ by exactly 0. A net that learns from many decisions
averages over what is hidden (rollouts: Tesauro and Galperin 1996; a rollout set with common random numbers: Schulman
and others 2015, arXiv 1502.05477, section 5.2, "vine").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.bots.baseline import choose_ukeire
from suphx.games.riichi.engine.kyoku import step
from suphx.games.riichi.features.head import DISCARD_HEAD, PLAYOUT_HEADS
from suphx.games.riichi.hand.suit_table import Suits
from suphx.games.riichi.selfplay.decision import discard_action
from suphx.games.riichi.table.action import PASS
from suphx.games.riichi.table.table import KYOKU_END, TABLE, Table
from suphx.games.riichi.table.wall import DORA, RINSHAN
from suphx.kernel.jit import jit
from suphx.kernel.random_number import seed_counter, shuffle
from suphx.kernel.record import I16, I64, Records

F32 = NDArray[np.float32]

NO_BRANCH = -1
"""A choice that stands for none, in a row with fewer branches than others."""


def play_out(
    tables: Records, suits: Suits, head: int, indices: I64, candidates: I64, choices: I16, *, num_walls: int = 1
) -> F32:
    """Return the points that the deciding seat wins or loses until the end of the deal: float32 [n, k].

    ``indices`` int64 [n]: tables that wait for a decision of ``head``; ``candidates`` int64 [n]: the claim of a row
    (``HeadObservations``); ``choices`` int16 [n, k]: answers of the head to try, a kind to discard, or 1 = yes and
    0 = no; NO_BRANCH gets 0 points. Every answer is tried in ``num_walls`` orders of the undrawn tiles, of which the
    points are the mean: first that of the game, then random ones, the same for all answers of a row. Riichi sticks
    count when they are paid and won. The scripted agent is ``ukeire``. The tables stay as they are. Raises ValueError
    for a head that is not one of PLAYOUT_HEADS, and for an answer that is not legal.
    """
    if head not in PLAYOUT_HEADS:
        raise ValueError(f"head {head} cannot be played out: use one of {PLAYOUT_HEADS}")
    actions = np.full(choices.shape, NO_BRANCH, np.int16)
    row = _fill_actions(tables, head, indices, candidates, choices, actions)
    if row >= 0:
        raise ValueError(f"row {row}: one of the answers {choices[row].tolist()} is not legal")
    points = np.zeros(choices.shape, np.float32)
    _play_out(np.zeros(2, TABLE), tables, suits, indices, actions, num_walls, points)
    return points


@jit
def _fill_actions(tables: Records, head: int, indices: I64, candidates: I64, choices: I16, actions: I16) -> int:
    """Fill int16 [n, k] with the actions of the answers; return the first row with one that is not legal, or -1."""
    for i in range(len(indices)):
        t = tables[indices[i]]
        for k in range(choices.shape[1]):
            choice = int(choices[i, k])
            if choice == NO_BRANCH:
                continue
            action = _action_of(t, head, int(candidates[i]), choice)
            if action < 0 or not t.legal[action]:
                return i
            actions[i, k] = action
    return -1


@jit
def _action_of(t: Table, head: int, candidate: int, choice: int) -> int:
    """Return the action of an answer, or -1 if the head has no such answer."""
    if head == DISCARD_HEAD:
        is_held = 0 <= choice < 34 and t.hand[t.actor, choice] > 0
        return discard_action(t, choice) if is_held else -1
    if choice == 1:
        return candidate
    return PASS if choice == 0 else -1


@jit
def _play_out(
    scratch: Records, tables: Records, suits: Suits, indices: I64, actions: I16, num_walls: int, points: F32
) -> None:
    """Fill ``points`` float32 [n, k]. ``scratch`` (2,) is overwritten."""
    start, t = scratch[0], scratch[1]
    ids, state = np.zeros(136, np.int64), np.zeros(1, np.int64)
    for i in range(len(indices)):
        scratch[0] = tables[indices[i]]
        seed_counter(state, start.wall_seed)
        state[0] += start.num_decisions
        seat = start.actor
        for wall in range(num_walls):
            if wall > 0:
                shuffle_undrawn(start, ids, state)
            for k in range(actions.shape[1]):
                if actions[i, k] == NO_BRANCH:
                    continue
                scratch[1] = scratch[0]
                step(t, suits, actions[i, k])
                while t.phase != KYOKU_END:
                    step(t, suits, choose_ukeire(t, suits))
                points[i, k] += (t.scores[seat] - start.scores[seat]) / num_walls


@jit
def shuffle_undrawn(t: Table, ids: I64, state: I64) -> None:
    """Bring all tiles of the wall that nobody has drawn or seen into random order; ``ids`` (136,) is overwritten."""
    count = 0
    for place in range(t.next_draw, 136):
        if _is_undrawn(t, place):
            ids[count] = t.wall[place]
            count += 1
    shuffle(ids[:count], state)
    count = 0
    for place in range(t.next_draw, 136):
        if _is_undrawn(t, place):
            t.wall[place] = ids[count]
            count += 1


@jit
def _is_undrawn(t: Table, place: int) -> bool:
    """Tell whether the tile at ``place``, behind all ordinary draws so far, is neither drawn nor an open indicator."""
    is_undrawn = True
    for i in range(t.num_kans):
        is_undrawn &= place != RINSHAN[i]
    for i in range(t.num_dora):
        is_undrawn &= place != DORA - 2 * i
    return is_undrawn
