"""What a seat sees when it decides, as planes, and the tables of choices of the nets (names.py).

Who can win wins, and where one move is legal it is made: nets are not asked (``forced_move``). All columns of honours
are empty. Nothing that is hidden from the seat has any influence.
"""

from __future__ import annotations

import numpy as np

from suphx.games.dazhong import table as code
from suphx.games.dazhong.hands import claim_shanten, count_all_pairs, hand_shanten, weigh_discards
from suphx.games.dazhong.names import DECISIONS
from suphx.games.dazhong.table import NO_KIND, NUM_ACTIONS, NUM_KINDS, NUM_SEATS, OWN_TURN, START, Table
from suphx.games.mahjong.planes import NUM_COLUMNS, count_masks, layout, set_bit, set_counts, set_plane
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import add_meld
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, U8

NUM_CLAIMS = DECISIONS[1].num_choices
PASS_CHOICE, PUNG_CHOICE, KONG_CHOICE, FIRST_CHOW, DECLARE_CHOICE = 0, 1, 2, 3, 6
"""Choices of a claim; a turn's are 34 columns each of discards, of ting and of kongs, in the order of moves."""
WALL_BORDERS = (4, 8, 12, 16, 24, 32, 40, 48)
UKEIRE_BORDERS = (1, 3, 5, 8, 12, 16, 20, 28)
MAX_SHANTEN = 6

LAYOUT = layout(
    "dazhong",
    2,
    (
        ("hand", 4, "own concealed tiles, the drawn one included: count planes"),
        ("drawn", 1, "the kind just drawn"),
        ("claimed", 1, "the kind that can be claimed"),
        ("turn", NUM_SEATS - 1, "full: whose tile can be claimed, from the next seat on"),
        ("took", 1, "the kind that was claimed for this turn"),
        ("melds", (NUM_SEATS, 4), "4 seats, the observer first, x count planes of the tiles of its melds"),
        ("rivers", (NUM_SEATS, 4), "4 seats x count planes of the discards that nobody claimed"),
        ("unseen", 4, "tiles that the observer does not see: count planes"),
        ("ready", NUM_SEATS, "full: whose hand is ready and frozen"),
        ("wall", len(WALL_BORDERS), "full: at least so many tiles can be drawn: " + ", ".join(map(str, WALL_BORDERS))),
        ("shanten", MAX_SHANTEN + 1, "full: shanten after the best discard, 0 to 6; seven pairs count"),
        ("pairs", 3, "full: no meld and at least 4, 5, 6 pairs"),
        ("keeps", 1, "kinds whose discard leaves that shanten"),
        (
            "ukeire",
            len(UKEIRE_BORDERS),
            "those of them after which so many unseen tiles lower it: " + ", ".join(map(str, UKEIRE_BORDERS)),
        ),
        ("best", 1, "those of them after which the most do"),
        ("gains", NUM_CLAIMS - 2, "full: the shanten is lower after pung, kong, and the three chows"),
    ),
)
_AT = LAYOUT.first_planes()


@jit
def forced_move(t: Table) -> int:
    """Return the move that needs no net, or -1: a win, or the only legal one."""
    if t.legal[code.WIN]:
        return code.WIN
    found = -1
    for move in range(NUM_ACTIONS):
        if t.legal[move]:
            if found >= 0:
                return -1
            found = move
    return found


@jit
def choice_of_move(t: Table, move: int) -> int:
    """Return the choice that a legal move is; -1 for a win."""
    if t.phase == OWN_TURN:
        return -1 if move == code.WIN else move // NUM_KINDS * NUM_COLUMNS + move % NUM_KINDS
    if code.CHOW <= move < code.PUNG:
        return FIRST_CHOW + 2 - (t.claimed - (move - code.CHOW))
    if code.KONG <= move < code.CHOW:
        return KONG_CHOICE
    if move == code.PUNG:
        return PUNG_CHOICE
    if move == code.DECLARE:
        return DECLARE_CHOICE
    return PASS_CHOICE if move == code.PASS else -1


@jit
def move_of_choice(t: Table, choice: int) -> int:
    """Return the move of a legal choice."""
    if t.phase == OWN_TURN:
        return choice // NUM_COLUMNS * NUM_KINDS + choice % NUM_COLUMNS
    if choice == PASS_CHOICE:
        return code.PASS
    if choice == PUNG_CHOICE:
        return code.PUNG
    if choice == KONG_CHOICE:
        return code.KONG + t.claimed
    return code.DECLARE if choice == DECLARE_CHOICE else code.CHOW + t.claimed - 2 + choice - FIRST_CHOW


@jit
def fill_mask(t: Table, mask: U8) -> None:
    """Mark the legal choices in zeros, uint8 [choices of the kind]."""
    for move in range(NUM_ACTIONS):
        if t.legal[move] and move != code.WIN:
            mask[choice_of_move(t, move)] = 1


@jit
def encode(t: Table, suits: Suits, row: U8) -> None:
    """Fill the zeros of ``row``, uint8 [LAYOUT.observation_bytes], with what ``t.actor`` sees."""
    seat = t.actor
    hand, num_melds = t.hand[seat], t.num_melds[seat]
    counts = hand.copy()
    set_counts(row, _AT.hand, count_masks(hand))
    if t.phase == OWN_TURN:
        if t.drawn != NO_KIND:
            set_bit(row, _AT.drawn, t.drawn)
        if t.took != NO_KIND:
            set_bit(row, _AT.took, t.took)
    elif t.phase != START:
        set_bit(row, _AT.claimed, t.claimed)
        set_plane(row, _AT.turn + (t.turn - seat) % NUM_SEATS - 1)
    for distance in range(NUM_SEATS):
        other = (seat + distance) % NUM_SEATS
        counts[:] = 0
        for i in range(t.num_melds[other]):
            add_meld(counts, t.meld_type[other, i], t.meld_kind[other, i], 1)
        set_counts(row, _AT.melds + 4 * distance, count_masks(counts))
        counts[:] = 0
        for i in range(t.num_discards[other]):
            counts[t.river[other, i]] += 1
        set_counts(row, _AT.rivers + 4 * distance, count_masks(counts))
        if t.ready[other]:
            set_plane(row, _AT.ready + distance)
    for kind in range(NUM_COLUMNS):
        counts[kind] = 4 - hand[kind] - t.shown[kind] if kind < NUM_KINDS else 0
    set_counts(row, _AT.unseen, count_masks(counts))
    for i in range(len(WALL_BORDERS)):
        if t.wall_left >= WALL_BORDERS[i]:
            set_plane(row, _AT.wall + i)
    for i in range(3):
        if num_melds == 0 and count_all_pairs(hand) >= 4 + i:
            set_plane(row, _AT.pairs + i)
    if t.phase == OWN_TURN:
        now = _fill_discards(suits, hand, num_melds, counts, row)
    else:
        now = hand_shanten(suits, hand, num_melds)
        if t.phase != START:
            _fill_gains(t, suits, now, row)
    set_plane(row, _AT.shanten + min(now, MAX_SHANTEN))


@jit
def _fill_discards(suits: Suits, hand: I8, num_melds: int, unseen: I8, row: U8) -> int:
    """Fill ``keeps`` and ``ukeire``; return the shanten after the best discard."""
    ukeire = np.empty(NUM_KINDS, np.int64)
    best = weigh_discards(suits, hand, num_melds, unseen, ukeire)
    most = ukeire.max()
    for kind in range(NUM_KINDS):
        if ukeire[kind] >= 0:
            set_bit(row, _AT.keeps, kind)
        if ukeire[kind] == most:
            set_bit(row, _AT.best, kind)
        for i in range(len(UKEIRE_BORDERS)):
            if ukeire[kind] >= UKEIRE_BORDERS[i]:
                set_bit(row, _AT.ukeire + i, kind)
    return best


@jit
def _fill_gains(t: Table, suits: Suits, now: int, row: U8) -> None:
    """Fill ``gains``: the claims after which the shanten can be lower than ``now``."""
    hand, num_melds = t.hand[t.actor], t.num_melds[t.actor]
    for move in range(code.KONG, code.WIN):
        if t.legal[move] and claim_shanten(suits, hand, num_melds, t.claimed, move) < now:
            set_plane(row, _AT.gains + choice_of_move(t, move) - PUNG_CHOICE)
