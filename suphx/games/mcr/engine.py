"""The rules of MCR, move by move: a game goes on with ``step`` until the next seat has a choice, or until it ends.

Source: Botzone's published referee. Everybody draws from an own wall, and *next* is the seat after the one that
draws or discards:

- A kong in one's own turn needs a tile in the own wall and one in the next. A discard is claimed for a meld only if the
  next wall has a tile. Who claims a kong with an empty own wall cannot replace it, so the game ends.
- A tile is the last one, for the fans of that name, if the next wall is empty.
- After a chow or a pung a tile must be discarded, any one; no win, no kong.
- Only an added kong is robbed. The first seat in turn order that wants to win wins alone.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.claims import add_to_pung, best_claimer, lay_claimed_meld, lay_meld, list_chows
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import ANKAN_MELD, EAST, MINKAN_MELD, PON_MELD, shuffle_tiles
from suphx.games.mcr.fans import KONG as KONG_TILE
from suphx.games.mcr.fans import LAST_OF_KIND, LAST_TILE, NUM_FANS, SELF_DRAWN, count_fans, is_complete
from suphx.games.mcr.table import (
    CHOW,
    CLAIM,
    DISCARD,
    ENDED,
    HAND_TILES,
    KONG,
    NO_KIND,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    PASS,
    PUNG,
    ROB,
    WALL_TILES,
    WIN,
    Table,
)
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I8

BASIC_SCORE = 8  # what each loser pays besides the fan
ERROR_SCORE, ERROR_SHARE = -30, 10

_WIND_NUMBER = 1 << 20  # of the random number; those of decisions are smaller


@jit
def deal(t: Table, suits: Suits, seed: int) -> None:
    """Deal the game ``seed`` (0 <= seed < 2**62); any wind may be the round wind."""
    t.seed = seed
    t.round_wind = int(uniform_of(seed, _WIND_NUMBER, 0) * NUM_SEATS)
    shuffle_tiles(seed, 0, t.wall)
    start(t, suits)


@jit
def start(t: Table, suits: Suits) -> None:
    """Deal 13 tiles of its own wall to each seat; the first seat begins with a draw."""
    t.num_decisions = 0
    t.hand[:] = 0
    for seat in range(NUM_SEATS):
        t.wall_left[seat] = WALL_TILES
        for _ in range(HAND_TILES):
            t.hand[seat, _next_tile(t, seat)] += 1
    t.drawn = t.claimed = t.win_kind = NO_KIND
    t.loser = t.winner = t.offender = NO_SEAT
    t.answers[:] = PASS
    t.num_melds[:] = t.num_discards[:] = 0
    t.meld_type[:] = t.meld_kind[:] = 0
    t.river[:] = NO_KIND
    t.is_taken[:] = t.shown[:] = 0
    t.score[:] = t.win_fan = t.win_circumstances = 0
    draw(t, suits, 0, False)


@jit
def step(t: Table, suits: Suits, move: int) -> None:
    """Play a legal ``move`` of ``t.actor``."""
    t.moves[t.num_decisions] = move
    t.num_decisions += 1
    if t.phase == OWN_TURN:
        _play_turn(t, suits, move)
    else:
        t.answers[t.actor] = move
        _ask_claims(t, suits, (t.actor - t.turn) % NUM_SEATS + 1)


@jit
def punish(t: Table, seat: int) -> None:
    """End the game because of an illegal reply of ``seat``."""
    t.score[:] = ERROR_SHARE
    t.score[seat] = ERROR_SCORE
    t.winner = t.loser = NO_SEAT
    t.win_kind = NO_KIND
    t.win_fan = 0
    t.offender = seat
    wait_for(t, ENDED, seat)


@jit
def fan_of(t: Table, suits: Suits, seat: int, kind: int, circumstances: int, found: I8) -> int:
    """Return the fan of ``seat`` with a winning tile that is not in its hand; 0 if it is not complete.

    ``circumstances``: bits of fans.py. Fills ``found``, int8 (83,), as ``count_fans``.
    """
    hand, melds = t.hand[seat], t.num_melds[seat]
    hand[kind] += 1
    fan = count_fans(
        suits,
        hand,
        t.meld_type[seat],
        t.meld_kind[seat],
        melds,
        kind,
        circumstances,
        t.round_wind,
        seat,
        t.options,
        found,
    )
    hand[kind] -= 1
    return fan


@jit
def win_circumstances(t: Table, kind: int) -> int:
    """Return the bits of fans.py for a win with ``kind``, the tile that ``turn`` has drawn, discarded or added."""
    bits = 0
    if t.phase == OWN_TURN:
        bits |= SELF_DRAWN | (KONG_TILE if t.after_kong else 0)
    elif t.drawn != NO_KIND:
        bits |= KONG_TILE
    if t.wall_left[(t.turn + 1) % NUM_SEATS] == 0:
        bits |= LAST_TILE
    if t.shown[kind] == 3:
        bits |= LAST_OF_KIND
    return bits


@jit
def count_unseen(t: Table, seat: int, unseen: I8) -> None:
    """Fill ``unseen``, int8 (34,), with how many tiles of each kind ``seat`` does not see."""
    for kind in range(NUM_KINDS):
        unseen[kind] = 4 - t.hand[seat, kind] - t.shown[kind]
    for i in range(t.num_melds[seat]):
        if t.meld_type[seat, i] == ANKAN_MELD:
            unseen[t.meld_kind[seat, i]] -= 4


@jit
def _can_win(t: Table, suits: Suits, seat: int, kind: int) -> bool:
    """Tell whether ``seat`` has a complete hand of enough fan with a tile that is not in its hand."""
    t.hand[seat, kind] += 1
    is_whole = is_complete(suits, t.hand[seat], t.num_melds[seat])
    t.hand[seat, kind] -= 1
    if not is_whole:
        return False
    found = np.zeros(NUM_FANS + 1, np.int8)
    return fan_of(t, suits, seat, kind, win_circumstances(t, kind), found) >= t.minimum_fan


@jit
def wait_for(t: Table, phase: int, seat: int) -> None:
    """Let the table wait for ``seat``; which moves are legal is set afterwards."""
    t.phase = phase
    t.actor = seat
    t.kong_declined = 0
    t.legal[:] = 0


@jit
def _next_tile(t: Table, seat: int) -> int:
    """Take a tile from a seat's wall, which is not empty, and return its kind."""
    t.wall_left[seat] -= 1
    return t.wall[WALL_TILES * seat + t.wall_left[seat]] >> 2


@jit
def draw(t: Table, suits: Suits, seat: int, after_kong: bool) -> None:
    """Begin the turn of ``seat`` with a draw, or go on with the tile that replaces a kong."""
    t.claimed = NO_KIND
    t.turn = seat
    if t.wall_left[seat] == 0:
        t.drawn = NO_KIND
        wait_for(t, ENDED, seat)
        return
    t.drawn = _next_tile(t, seat)
    t.after_kong = after_kong
    wait_for(t, OWN_TURN, seat)
    hand = t.hand[seat]
    t.legal[WIN] = _can_win(t, suits, seat, t.drawn)
    hand[t.drawn] += 1
    _list_discards(t, hand)
    if t.wall_left[seat] > 0 and t.wall_left[(seat + 1) % NUM_SEATS] > 0:
        for kind in range(NUM_KINDS):
            t.legal[KONG + kind] = hand[kind] == 4
        for i in range(t.num_melds[seat]):
            if t.meld_type[seat, i] == PON_MELD:
                t.legal[KONG + t.meld_kind[seat, i]] = hand[t.meld_kind[seat, i]] > 0


@jit
def _list_discards(t: Table, hand: I8) -> None:
    for kind in range(NUM_KINDS):
        t.legal[DISCARD + kind] = hand[kind] > 0


@jit
def _play_turn(t: Table, suits: Suits, move: int) -> None:
    if move == WIN:
        t.hand[t.turn, t.drawn] -= 1
        _win(t, suits, t.turn, t.drawn)
        t.hand[t.turn, t.drawn] += 1
    elif move >= KONG:
        _own_kong(t, suits, move - KONG)
    else:
        _discard(t, suits, move - DISCARD)


@jit
def _own_kong(t: Table, suits: Suits, kind: int) -> None:
    """Declare a concealed kong, or add a tile to a pung, which can be robbed."""
    seat = t.turn
    if t.hand[seat, kind] == 4:
        t.hand[seat, kind] = 0
        lay_meld(t, seat, ANKAN_MELD, kind)
        draw(t, suits, seat, True)
        return
    add_to_pung(t, seat, kind)
    t.claimed = kind
    _ask_claims(t, suits, 1)


@jit
def _discard(t: Table, suits: Suits, kind: int) -> None:
    seat = t.turn
    t.hand[seat, kind] -= 1
    t.river[seat, t.num_discards[seat]] = kind
    t.num_discards[seat] += 1
    t.claimed = kind
    t.drawn = NO_KIND
    _ask_claims(t, suits, 1)


@jit
def _ask_claims(t: Table, suits: Suits, first: int) -> None:
    """Ask the next seat that can claim the tile, from the ``first`` one after the turn's on, or settle the claims.

    A tile that was added to a pung (``drawn`` is still there) can only be robbed.
    """
    is_added = t.drawn != NO_KIND
    if first == 1:
        t.answers[:] = PASS
    for offset in range(first, NUM_SEATS):
        seat = (t.turn + offset) % NUM_SEATS
        wait_for(t, ROB if is_added else CLAIM, seat)
        if list_claims(t, suits, seat, offset == 1, is_added):
            t.legal[PASS] = 1
            return
    _settle(t, suits, is_added)


@jit
def list_claims(t: Table, suits: Suits, seat: int, is_next: bool, is_added: bool) -> bool:
    """Mark what ``seat`` can do with the claimed tile; return whether it can do anything."""
    hand, kind = t.hand[seat], t.claimed
    can_claim = _can_win(t, suits, seat, kind)
    t.legal[WIN] = can_claim
    if is_added or t.wall_left[(t.turn + 1) % NUM_SEATS] == 0:
        return can_claim
    t.legal[PUNG] = hand[kind] >= 2
    t.legal[KONG + kind] = hand[kind] == 3
    has_chow = is_next and kind < EAST and list_chows(t.legal, CHOW, hand, kind)
    return can_claim or hand[kind] >= 2 or has_chow


@jit
def _settle(t: Table, suits: Suits, is_added: bool) -> None:
    """Do what the answers ask for: win before kong and pung before chow; else the next seat's turn begins."""
    for offset in range(1, NUM_SEATS):
        seat = (t.turn + offset) % NUM_SEATS
        if t.answers[seat] == WIN:
            _win(t, suits, seat, t.claimed)
            return
    claimer = best_claimer(t.answers, t.turn, CHOW)
    if claimer != NO_SEAT:
        claim(t, suits, claimer, t.answers[claimer])
    elif is_added:
        draw(t, suits, t.turn, True)
    else:
        t.shown[t.claimed] += 1
        draw(t, suits, (t.turn + 1) % NUM_SEATS, False)


@jit
def claim(t: Table, suits: Suits, seat: int, answer: int) -> None:
    """Lay down a meld with the last discard; the turn of ``seat`` begins."""
    if lay_claimed(t, seat, answer) == MINKAN_MELD:
        draw(t, suits, seat, True)
        return
    t.turn, t.claimed = seat, NO_KIND
    wait_for(t, OWN_TURN, seat)
    _list_discards(t, t.hand[seat])


@jit
def lay_claimed(t: Table, seat: int, answer: int) -> int:
    """Lay down the meld that the claim of the last discard, a move, makes; return its type."""
    t.is_taken[t.turn, t.num_discards[t.turn] - 1] = 1
    return lay_claimed_meld(t, seat, t.claimed, answer, CHOW)


@jit
def _win(t: Table, suits: Suits, seat: int, kind: int) -> None:
    """End the game with a win of ``seat`` by a tile that is not in its hand."""
    is_drawn = t.phase == OWN_TURN
    found = np.zeros(NUM_FANS + 1, np.int8)
    t.win_circumstances = win_circumstances(t, kind)
    t.win_fan = fan_of(t, suits, seat, kind, t.win_circumstances, found)
    t.winner, t.win_kind = seat, kind
    t.loser = NO_SEAT if is_drawn else t.turn
    for other in range(NUM_SEATS):
        if other != seat:
            payment = BASIC_SCORE + (t.win_fan if is_drawn or other == t.turn else 0)
            t.score[other] -= payment
            t.score[seat] += payment
    wait_for(t, ENDED, seat)
