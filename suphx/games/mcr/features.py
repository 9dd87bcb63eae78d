"""What a seat sees when it decides, as planes, and the tables of choices of the nets (names.py).

Who can win wins, and where one move is legal it is made: nets are not asked (``forced_move``). Nothing that is hidden
from the seat has any influence, nor has any fan that tells the suits apart. (The plans try suits in their order, which
can change what a move is worth by a little.)
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.planes import PlaneLayout, count_masks, layout, set_bit, set_counts, set_kinds, set_plane
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, add_meld
from suphx.games.mcr.engine import count_unseen
from suphx.games.mcr.names import CLAIM_KIND, DISCARD_KIND
from suphx.games.mcr.plan import SEARCH, weigh_moves
from suphx.games.mcr.search import CHOWS, NUM_ADVICES, NUM_SLOTS, OWN, PUNGS, UNSEEN, search
from suphx.games.mcr.table import (
    CHOW,
    CLAIM,
    DISCARD,
    KONG,
    NUM_ACTIONS,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    PASS,
    PUNG,
    WIN,
    Table,
)
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

ENCODER = "gb237"
PASS_CHOICE, FIRST_CHOW, FIRST_PUNG, FIRST_KONG = 0, 1, 22, 56
"""Choices of a claim; those of a discard are the kinds."""
SHOWN_DISCARDS = 37
# Steps of the planes of ``PLAN_LAYOUT``. The worth is a chance times a payment of about 40 points.
_WORTHS = (0.03, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0)
_LOSSES = (0.002, 0.01, 0.03, 0.1, 0.3)
_GAINS = (0.9, 1.0, 1.1, 1.3, 2.0)

LAYOUT = layout(
    ENCODER,
    1,
    (
        ("seat_wind", NUM_SEATS, "full: the own seat, east to north"),
        ("round_wind", NUM_SEATS, "full: the round wind, east to north"),
        ("own", 4, "own tiles, melds and concealed kongs included: count planes"),
        ("hand", 4, "own concealed tiles, which can be discarded, the drawn one included: count planes"),
        (
            "melds",
            (NUM_SEATS, 4),
            "4 seats, the observer first, x count planes of melds, without the concealed kongs of others",
        ),
        ("rivers", (NUM_SEATS, SHOWN_DISCARDS), "4 seats x discards, the oldest first, those that were claimed too"),
        ("unseen", 4, "tiles that the observer does not see: count planes"),
        ("advice", (NUM_SLOTS, 3), "26 slots of search.py x the part that makes the fan, kinds to keep, kinds to drop"),
        ("base", 2, "without any advice: kinds to keep, kinds to drop"),
    ),
)
PLAN_LAYOUT = layout(
    "gb265",
    1,
    (
        *((part.name, part.shape or part.count, part.meaning) for part in LAYOUT.ranges),
        ("worth", len(_WORTHS), "full: the hand is worth so much by plan.py, before a claim or after the best discard"),
        ("losses", len(_LOSSES), "kinds whose discard loses at most such a share of this worth"),
        ("gains", (3, len(_GAINS)), "lowest kinds of chows, pungs, kongs after which the hand is worth so many times"),
    ),
)
LAYOUTS = (LAYOUT, PlaneLayout("gb184", 1, LAYOUT.ranges[:7]), PLAN_LAYOUT)
"""A net may subtract the 27 planes of kinds to drop from those to keep: 237, 184 (no advice) and 265 remain."""
_AT = PLAN_LAYOUT.first_planes()
_ROW_BYTES = LAYOUT.observation_bytes


@jit
def kind_of(t: Table) -> int:
    """Return the kind of the decision that a table waits for, of names.py: first about kongs, then a discard."""
    if t.phase != OWN_TURN:
        return CLAIM_KIND
    return CLAIM_KIND if t.kong_declined == 0 and t.legal[KONG:CHOW].any() else DISCARD_KIND


@jit
def forced_move(t: Table) -> int:
    """Return the move that needs no net, or -1: a win, or the only legal one."""
    if t.legal[WIN]:
        return WIN
    found = -1
    for move in range(NUM_ACTIONS):
        if t.legal[move]:
            if found >= 0:
                return -1
            found = move
    return found


@jit
def choice_of_move(t: Table, kind: int, move: int) -> int:
    """Return the choice of a decision of ``kind`` that a legal move is; -1 for a win.

    To discard where kongs are decided is the choice 0.
    """
    if move == WIN:
        return -1
    if kind == DISCARD_KIND:
        return move - DISCARD
    if move == PASS or move < KONG:
        return PASS_CHOICE
    if move == PUNG:
        return FIRST_PUNG + t.claimed
    if move < CHOW:
        return FIRST_KONG + move - KONG
    lowest = move - CHOW
    return FIRST_CHOW + 7 * (lowest // 9) + lowest % 9


@jit
def move_of_choice(t: Table, kind: int, choice: int) -> int:
    """Return the move of a legal choice of a decision of ``kind``; -1 to pass in one's own turn: a discard follows."""
    if kind == DISCARD_KIND:
        return DISCARD + choice
    if choice == PASS_CHOICE:
        return -1 if t.phase == OWN_TURN else PASS
    if choice >= FIRST_KONG:
        return KONG + choice - FIRST_KONG
    if choice >= FIRST_PUNG:
        return PUNG
    return CHOW + 9 * ((choice - FIRST_CHOW) // 7) + (choice - FIRST_CHOW) % 7


@jit
def fill_mask(t: Table, kind: int, mask: U8) -> None:
    """Mark the legal choices of a decision of ``kind`` in zeros, uint8 [34 or 90]."""
    for move in range(NUM_ACTIONS):
        if t.legal[move] and move != WIN and (kind == CLAIM_KIND or move < KONG):
            mask[choice_of_move(t, kind, move)] = 1


@jit
def encode(t: Table, suits: Suits, row: U8) -> None:
    """Fill the zeros of ``row``, uint8 [observation_bytes] of LAYOUT or PLAN_LAYOUT, with what ``t.actor`` sees."""
    seat = int(t.actor)
    counts = np.zeros((4, NUM_KINDS), np.int8)
    own, tiles = counts[OWN], np.zeros(NUM_KINDS, np.int8)
    own[:] = t.hand[seat]
    tiles[:] = own
    for i in range(t.num_melds[seat]):
        meld_type, lowest = int(t.meld_type[seat, i]), int(t.meld_kind[seat, i])
        add_meld(tiles, meld_type, lowest, 1)
        counts[CHOWS if meld_type == CHI_MELD else PUNGS, lowest] += 1
    count_unseen(t, seat, counts[UNSEEN])
    if t.phase == CLAIM:
        counts[UNSEEN, t.claimed] -= 1
    set_plane(row, _AT.seat_wind + seat)
    set_plane(row, _AT.round_wind + int(t.round_wind))
    set_counts(row, _AT.own, count_masks(tiles))
    set_counts(row, _AT.hand, count_masks(own))
    set_counts(row, _AT.unseen, count_masks(counts[UNSEEN]))
    for distance in range(NUM_SEATS):
        _fill_seat(t, (seat + distance) % NUM_SEATS, distance, row)
    advice = np.zeros((NUM_ADVICES, 3), np.int64)
    search(suits, counts, advice)
    for slot in range(NUM_SLOTS):
        for i in range(3):
            if advice[slot, i] != 0:
                set_kinds(row, _AT.advice + 3 * slot + i, int(advice[slot, i]))
    for i in range(1, 3):
        set_kinds(row, _AT.base + i - 1, int(advice[NUM_SLOTS, i]))
    if len(row) > _ROW_BYTES:
        _fill_worths(t, suits, row)


@jit
def _fill_worths(t: Table, suits: Suits, row: U8) -> None:
    """Fill what the moves are worth by the plans of the agent fan_plan."""
    unseen, searches = np.zeros(NUM_KINDS, np.int8), np.zeros(1, SEARCH)
    count_unseen(t, t.actor, unseen)
    weigh_moves(t, suits, unseen, searches)
    worths = searches[0].worths
    worth = worths[PASS]
    for kind in range(NUM_KINDS):
        worth = max(worth, worths[DISCARD + kind])
    for i in range(len(_WORTHS)):
        if worth >= _WORTHS[i]:
            set_plane(row, _AT.worth + i)
    for move in range(NUM_ACTIONS):
        if t.legal[move] and move < KONG and worth > 0.0:
            for i in range(len(_LOSSES)):
                if worth - worths[move] <= _LOSSES[i] * worth:
                    set_bit(row, _AT.losses + i, move - DISCARD)
        elif t.legal[move] and KONG <= move < PASS and worths[move] > 0.0:
            meld, kind = (1, int(t.claimed)) if move == PUNG else (2, move - KONG) if move < CHOW else (0, move - CHOW)
            for i in range(len(_GAINS)):
                if worths[move] >= _GAINS[i] * worth:
                    set_bit(row, _AT.gains + len(_GAINS) * meld + i, kind)


@jit
def _fill_seat(t: Table, other: int, distance: int, row: U8) -> None:
    """Fill what all know of a seat: its melds and its discards, a plane each."""
    melds = np.zeros(NUM_KINDS, np.int8)
    for i in range(t.num_melds[other]):
        if distance == 0 or t.meld_type[other, i] != ANKAN_MELD:
            add_meld(melds, int(t.meld_type[other, i]), int(t.meld_kind[other, i]), 1)
    set_counts(row, _AT.melds + 4 * distance, count_masks(melds))
    for i in range(t.num_discards[other]):
        set_bit(row, _AT.rivers + SHOWN_DISCARDS * distance + i, int(t.river[other, i]))
