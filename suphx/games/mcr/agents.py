"""The scripted agents ``random``, ``shanten`` and ``fan_plan``, as kernels.

All win whenever they can; ``random`` else makes any legal move. ``shanten`` keeps the lowest shanten over all forms of
hands, with the most unseen tiles that lower it, and claims what lowers it; it does not look at fans. ``fan_plan`` does
(plan.py). An agent reads nothing that is hidden from its seat, and what it draws at random depends on the seed and the
number of the decision.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.claims import claimed_meld
from suphx.games.mahjong.planes import count_bits
from suphx.games.mahjong.shanten import (
    Suits,
    rows_shanten,
    special_counts,
    standard_shanten,
    suit_rows,
    thirteen_orphans_shanten,
)
from suphx.games.mahjong.tile import EAST, HONOUR_BITS, add_meld
from suphx.games.mcr.engine import count_unseen
from suphx.games.mcr.fan_table import KNITTED_KINDS
from suphx.games.mcr.names import AGENTS
from suphx.games.mcr.plan import choose_plan
from suphx.games.mcr.table import CHOW, DISCARD, KONG, NUM_ACTIONS, NUM_KINDS, OWN_TURN, PASS, WIN, Table
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I8

RANDOM, SHANTEN, FAN_PLAN = range(len(AGENTS))
_FAR = 99


@jit
def choose_scripted(t: Table, suits: Suits, agent: int) -> int:
    """Return the move of an agent, a place in ``AGENTS``, for the seat that decides."""
    if t.legal[WIN]:
        return WIN
    if agent == RANDOM:
        return _choose_random(t)
    if agent == FAN_PLAN:
        unseen = np.zeros(NUM_KINDS, np.int8)
        count_unseen(t, t.actor, unseen)
        return choose_plan(t, suits, unseen)
    return _choose_turn(t, suits) if t.phase == OWN_TURN else _choose_claim(t, suits)


@jit
def _choose_random(t: Table) -> int:
    total = 0
    for move in range(NUM_ACTIONS):
        total += t.legal[move]
    number = int(uniform_of(t.seed, t.num_decisions, 0) * total)
    for move in range(NUM_ACTIONS):
        number -= t.legal[move]
        if number < 0:
            return move
    return PASS


@jit
def best_shanten(suits: Suits, hand: I8, num_melds: int) -> int:
    """Return the shanten of concealed tiles beside melds over all forms of hands: -1 is complete."""
    rows = suit_rows(suits, hand)
    best = rows_shanten(suits, rows, num_melds)
    if num_melds > 1:
        return best
    kinds = pairs = 0
    for kind in range(NUM_KINDS):
        kinds |= int(hand[kind] > 0) << kind
        pairs += hand[kind] >> 1
    honours = count_bits(kinds & HONOUR_BITS)
    if num_melds == 0:
        best = min(best, 6 - pairs, thirteen_orphans_shanten(special_counts(rows)))
    for order in range(len(KNITTED_KINDS)):
        held = kinds & KNITTED_KINDS[order]
        knitted = count_bits(held)
        if num_melds == 0:
            best = min(best, 13 - knitted - honours)
        if 8 - knitted < best:
            best = min(best, 9 - knitted + _rest_shanten(suits, hand, num_melds, held))
    return best


@jit
def _rest_shanten(suits: Suits, hand: I8, num_melds: int, held: int) -> int:
    """Return the shanten of what remains beside the ``held`` tiles of a knitted straight: a pair, and a set if there is
    no meld."""
    rest = hand.copy()
    for kind in range(EAST):
        rest[kind] -= held >> kind & 1
    return standard_shanten(suits, rest, 3 + num_melds)


@jit
def _choose_turn(t: Table, suits: Suits) -> int:
    """Choose a discard of the lowest shanten and the most tiles that lower it, or a kong that does not raise it."""
    hand, num_melds = t.hand[t.actor], t.num_melds[t.actor]
    after, unseen = np.full(NUM_KINDS, _FAR, np.int8), np.zeros(NUM_KINDS, np.int8)
    for kind in range(NUM_KINDS):
        if hand[kind] > 0:
            hand[kind] -= 1
            after[kind] = best_shanten(suits, hand, num_melds)
            hand[kind] += 1
    lowest = after.min()
    for kind in range(NUM_KINDS):
        if t.legal[KONG + kind]:
            number = hand[kind]
            hand[kind] = 0
            is_kept = best_shanten(suits, hand, num_melds + (number == 4)) <= lowest
            hand[kind] = number
            if is_kept:
                return KONG + kind
    count_unseen(t, t.actor, unseen)
    most, choice = -1, 0
    for kind in range(NUM_KINDS - 1, -1, -1):
        if after[kind] == lowest:
            hand[kind] -= 1
            tiles = _count_improving(suits, hand, num_melds, lowest, unseen)
            hand[kind] += 1
            if tiles > most:
                most, choice = tiles, kind
    return DISCARD + choice


@jit
def _count_improving(suits: Suits, hand: I8, num_melds: int, shanten: int, unseen: I8) -> int:
    """Return how many unseen tiles lower the shanten of a hand before its draw."""
    total = 0
    for kind in range(NUM_KINDS):
        if unseen[kind] > 0:
            hand[kind] += 1
            if best_shanten(suits, hand, num_melds) < shanten:
                total += unseen[kind]
            hand[kind] -= 1
    return total


@jit
def _choose_claim(t: Table, suits: Suits) -> int:
    """Choose the claim that lowers the shanten most, or pass."""
    hand, num_melds, claimed = t.hand[t.actor], t.num_melds[t.actor], t.claimed
    best, choice = best_shanten(suits, hand, num_melds), PASS
    for move in range(KONG, PASS):
        if t.legal[move]:
            meld_type, lowest = claimed_meld(claimed, move, CHOW)
            hand[claimed] += 1
            add_meld(hand, meld_type, lowest, -1)
            after = best_shanten(suits, hand, num_melds + 1)
            add_meld(hand, meld_type, lowest, 1)
            hand[claimed] -= 1
            if after < best:
                best, choice = after, move
    return choice
