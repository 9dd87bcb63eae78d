"""Playouts of riichi (suphx/games/playouts.py): the scripted agent ``ukeire`` plays on to the end of the deal.

>>> branches = branch(tables, head, indices, candidates, choices, num_walls=4)
>>> points = branches.points()
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.playouts import NO_BRANCH, BranchTables
from suphx.games.riichi.bots import choose_ukeire
from suphx.games.riichi.kyoku import step
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD, RIICHI_HEAD
from suphx.games.riichi.selfplay.decision import discard_action
from suphx.games.riichi.table import KYOKU_END, PASS, RIICHI, TABLE, Table, is_undrawn
from suphx.kernel.jit import jit
from suphx.kernel.random_number import seed_counter, shuffle
from suphx.kernel.record import I16, I64, Records

F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RiichiBranches(BranchTables):
    """Copies of tables, TABLE [m]."""

    def table_deals(self) -> I64:
        """Return a number for the deal of each copy (``deal_numbers``)."""
        return deal_numbers(self.tables)

    def gains(self) -> NDArray[np.number]:
        """Return what the deciding seats won or lost; riichi sticks count when they are paid and won."""
        ends = self.tables.copy()
        _play_scripted(ends, load_suits(), self.actions)
        lines, seats = np.arange(len(ends)), self.tables["actor"].astype(np.int64)
        gains: NDArray[np.number] = ends["scores"][lines, seats] - self.tables["scores"][lines, seats]
        return gains


def deal_numbers(tables: Records) -> I64:
    """Return a number for the deal of each of ``tables`` TABLE [n], int64 [n]: equal numbers are the same deal.

    That holds for games whose seeds differ in their low 52 bits, as those of one training do.
    """
    numbers: I64 = tables["wall_seed"] << 12 | tables["num_kyoku"]
    return numbers


def branch(
    tables: Records,
    head: int,
    indices: I64,
    candidates: I64,
    choices: I16,
    *,
    num_walls: int = 1,
    after_no: I64 | None = None,
) -> RiichiBranches:
    """Return copies of the tables ``indices`` int64 [n], which wait for decisions of ``head`` and stay as they are.

    ``candidates`` int64 [n]: the claim of a row (``HeadObservations``); ``choices`` int16 [n, k]: actions of the head
    to try, a kind to discard, or 1 = yes and 0 = no; NO_BRANCH: none. ``after_no`` int64 [n]: what follows a no: of
    the riichi head the kind that is discarded, of claims the action (without it, they pass). Every action is tried in
    ``num_walls`` orders of the undrawn tiles: first that of the game, then random ones, the same for all actions of a
    row. Raises ValueError for a head whose actions cannot be played out,
    and for a choice that is not legal.
    """
    if not DECISIONS[head].can_be_played_out:
        raise ValueError(f"the actions of {DECISIONS[head].name} cannot be played out")
    actions = np.full(choices.shape, NO_BRANCH, np.int16)
    if after_no is None:
        after_no = np.full(len(indices), NO_BRANCH if head == RIICHI_HEAD else PASS, np.int64)
    row = _fill_actions(tables, head, indices, candidates, choices, after_no, actions)
    if row >= 0:
        raise ValueError(f"row {row}: one of the choices {choices[row].tolist()} is not legal")
    positions = np.repeat(np.flatnonzero(actions.ravel() != NO_BRANCH), num_walls)
    copies: Records = np.zeros(len(positions), TABLE)
    _fill_copies(tables, indices, actions, num_walls, np.zeros(1, TABLE), copies)
    return RiichiBranches(copies, actions.ravel()[positions], positions, *choices.shape)


def second_choices(tables: I64, candidates: I64, probabilities: F32) -> I64:
    """Return what is done after a no to each claim, int64 [n]: the surest other claim of its table, or PASS.

    ``tables`` and ``candidates`` int64 [n], ``probabilities`` float32 [n] of yes: by claim. Other claims count if they
    are more probable than not.
    """
    order = np.lexsort((-probabilities, tables))
    places = np.arange(len(order))
    first = np.searchsorted(tables[order], tables[order])
    other = np.where(places == first, np.minimum(places + 1, len(order) - 1), first)
    is_wanted = (other != places) & (tables[order][other] == tables[order]) & (probabilities[order][other] > 0.5)
    found = np.full(len(order), PASS, np.int64)
    found[order] = np.where(is_wanted, candidates[order][other], PASS)
    return found


@jit
def _fill_actions(
    tables: Records, head: int, indices: I64, candidates: I64, choices: I16, after_no: I64, actions: I16
) -> int:  # fmt: skip
    """Fill int16 [n, k] with the actions of the choices; return the first row with one that is not legal, or -1."""
    for i in range(len(indices)):
        t = tables[indices[i]]
        for k in range(choices.shape[1]):
            choice = int(choices[i, k])
            if choice == NO_BRANCH:
                continue
            action = _action_of(t, head, int(candidates[i]), choice, int(after_no[i]))
            if action < 0 or not t.legal[action]:
                return i
            actions[i, k] = action
    return -1


@jit
def _action_of(t: Table, head: int, candidate: int, choice: int, after_no: int) -> int:
    """Return the action of a choice, or -1 if the head has no such choice; ``after_no``: as in ``branch``."""
    if head == DISCARD_HEAD:
        return _discard_of(t, choice)
    if head == RIICHI_HEAD:
        if choice == 1:
            return RIICHI
        return _discard_of(t, after_no) if choice == 0 else -1
    if choice == 1:
        return candidate
    return after_no if choice == 0 else -1


@jit
def _discard_of(t: Table, kind: int) -> int:
    is_held = 0 <= kind < 34 and t.hand[t.actor, kind] > 0
    return discard_action(t, kind) if is_held else -1


@jit
def _fill_copies(
    tables: Records, indices: I64, actions: I16, num_walls: int, scratch: Records, copies: Records
) -> None:
    """Fill ``copies``: the actions of a row one after another, of each the orders of the undrawn tiles side by side.

    ``scratch`` (1,) is overwritten.
    """
    ids, state = np.zeros(136, np.int64), np.zeros(1, np.int64)
    first = 0
    for i in range(len(indices)):
        scratch[0] = tables[indices[i]]
        start = scratch[0]
        seed_counter(state, start.wall_seed)
        state[0] += start.num_decisions
        num_actions = (actions[i] != NO_BRANCH).sum()
        for wall in range(num_walls):
            if wall > 0:
                shuffle_undrawn(start, ids, state)
            for k in range(num_actions):
                copies[first + k * num_walls + wall] = scratch[0]
        first += num_actions * num_walls


@jit
def _play_scripted(tables: Records, suits: Suits, actions: I16) -> None:
    for i in range(len(tables)):
        t = tables[i]
        step(t, suits, actions[i])
        while t.phase != KYOKU_END:
            step(t, suits, choose_ukeire(t, suits))


@jit
def shuffle_undrawn(t: Table, ids: I64, state: I64) -> None:
    """Bring all tiles of the wall that nobody has drawn or seen into random order; ``ids`` (136,) is overwritten."""
    count = 0
    for position in range(t.next_draw, 136):
        if is_undrawn(t, position):
            ids[count] = t.wall[position]
            count += 1
    shuffle(ids[:count], state)
    count = 0
    for position in range(t.next_draw, 136):
        if is_undrawn(t, position):
            t.wall[position] = ids[count]
            count += 1
