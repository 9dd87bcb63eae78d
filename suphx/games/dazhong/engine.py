"""The rules of Dazhong, move by move: a hand goes on with ``step`` until the next seat has a choice, or until it ends.

Source: the championship's rules and the paper's simulator, as table.py names them. What they leave open is decided so:

- A kong needs a tile in the wall to replace it. The last discard can be claimed; a draw from an empty wall ends the
  hand, which nobody wins.
- After a chow or a pung nobody wins or declares a kong in the same turn, except the kong of the fourth tile of that
  pung, which is paid as the kong of a discard and cannot be robbed.
- An added kong that is robbed is not paid.
"""

from __future__ import annotations

from suphx.games.dazhong.hands import count_all_pairs, hand_shanten, is_complete, is_ready, wait_kinds
from suphx.games.dazhong.table import (
    CHOW,
    CLAIM,
    DECLARE,
    DISCARD,
    ENDED,
    HAND_TILES,
    KONG,
    NO_KIND,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    NUM_TILES,
    OWN_TURN,
    PASS,
    PUNG,
    ROB,
    START,
    TING,
    WIN,
    Table,
)
from suphx.games.mahjong.claims import add_to_pung, best_claimer, lay_claimed_meld, lay_meld, list_chows
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, MINKAN_MELD, PON_MELD, shuffle_tiles
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I8

# payments in fan: of one seat, of one or of all others, of all three others
CHOW_FAN, PUNG_FAN, OPEN_KONG_FAN = 1, 2, 4
BASIC_FAN, ALL_PUNGS_FAN, FLUSH_FAN, SEVEN_PAIRS_FAN = 6, 8, 12, 12
ADDED_KONG_FAN, CONCEALED_KONG_FAN, TING_FAN = 1, 3, 1

_DEALER_NUMBER = 1 << 20  # of the random number; those of decisions are smaller


@jit
def deal(t: Table, suits: Suits, seed: int) -> None:
    """Deal the hand ``seed`` (0 <= seed < 2**62); any seat may be the dealer."""
    t.seed = seed
    t.dealer = int(uniform_of(seed, _DEALER_NUMBER, 0) * NUM_SEATS)
    shuffle_tiles(seed, 0, t.wall)
    start(t, suits)


@jit
def start(t: Table, suits: Suits) -> None:
    """Deal 13 tiles of the wall to each seat; the dealer begins with a draw."""
    t.num_decisions = 0
    t.wall_left = NUM_TILES - NUM_SEATS * HAND_TILES
    t.hand[:] = 0
    for i in range(NUM_SEATS * HAND_TILES):
        t.hand[i // HAND_TILES, t.wall[i] >> 2] += 1
    t.drawn = t.claimed = t.took = t.win_kind = NO_KIND
    t.took_from = t.loser = NO_SEAT
    t.num_melds[:] = t.num_discards[:] = 0
    t.meld_type[:] = t.meld_kind[:] = 0
    t.river[:] = NO_KIND
    t.shown[:] = t.ready[:] = 0
    t.fan[:] = t.win_fan[:] = 0
    t.turn = t.dealer
    _ask_start(t, suits, 1)


@jit
def step(t: Table, suits: Suits, move: int) -> None:
    """Play a legal ``move`` of ``t.actor``."""
    t.moves[t.num_decisions] = move
    t.num_decisions += 1
    if t.phase == OWN_TURN:
        _play_turn(t, suits, move)
    elif t.phase == START:
        if move == DECLARE:
            _declare(t, t.actor)
        _ask_start(t, suits, (t.actor - t.dealer) % NUM_SEATS + 1)
    else:
        t.answers[t.actor] = move
        _ask_claims(t, suits, (t.actor - t.turn) % NUM_SEATS + 1)


@jit
def _ask_start(t: Table, suits: Suits, first: int) -> None:
    """Ask the next seat that is ready after the deal, from the ``first`` one after the dealer on, or begin."""
    if t.declares:
        for offset in range(first, NUM_SEATS):
            seat = (t.dealer + offset) % NUM_SEATS
            if is_ready(suits, t.hand[seat], 0):
                _wait_for(t, START, seat)
                t.legal[DECLARE] = t.legal[PASS] = 1
                return
    _draw(t, suits, t.dealer)


@jit
def _wait_for(t: Table, phase: int, seat: int) -> None:
    """Let the table wait for ``seat``; which moves are legal is set afterwards."""
    t.phase = phase
    t.actor = seat
    t.legal[:] = 0


@jit
def _draw(t: Table, suits: Suits, seat: int) -> None:
    """Begin the turn of ``seat`` with a draw, or go on with the tile that replaces a kong."""
    if not t.declares:
        for other in range(NUM_SEATS):
            t.ready[other] = is_ready(suits, t.hand[other], t.num_melds[other])
    t.claimed = t.took = NO_KIND
    t.took_from = NO_SEAT
    if t.wall_left == 0:
        _wait_for(t, ENDED, seat)
        return
    t.drawn = t.wall[NUM_TILES - t.wall_left] >> 2
    t.wall_left -= 1
    t.hand[seat, t.drawn] += 1
    t.turn = seat
    _ask_turn(t, suits)


@jit
def _ask_turn(t: Table, suits: Suits) -> None:
    """Wait for the seat whose turn it is."""
    _wait_for(t, OWN_TURN, t.turn)
    hand, num_melds = t.hand[t.turn], t.num_melds[t.turn]
    if t.drawn == NO_KIND:
        last = num_melds - 1
        is_pung = t.meld_type[t.turn, last] == PON_MELD and hand[t.took] == 1
        t.legal[KONG + t.took] = is_pung and t.wall_left > 0
    else:
        t.legal[WIN] = is_complete(suits, hand, num_melds)
        if t.wall_left > 0:
            _list_kongs(t, suits, hand)
    if t.ready[t.turn]:
        t.legal[DISCARD + t.drawn] = 1
        return
    for kind in range(NUM_KINDS):
        t.legal[DISCARD + kind] = hand[kind] > 0
    if t.declares and hand_shanten(suits, hand, num_melds) <= 0:
        for kind in range(NUM_KINDS):
            if hand[kind] > 0:
                hand[kind] -= 1
                t.legal[TING + kind] = is_ready(suits, hand, num_melds)
                hand[kind] += 1


@jit
def _list_kongs(t: Table, suits: Suits, hand: I8) -> None:
    """Mark the concealed and added kongs after a draw; who has declared must wait for the same kinds as before."""
    seat = t.turn
    for kind in range(NUM_KINDS):
        t.legal[KONG + kind] = hand[kind] == 4 and _keeps_waits(t, suits, seat, kind, 4)
    for i in range(t.num_melds[seat]):
        kind = t.meld_kind[seat, i]
        if t.meld_type[seat, i] == PON_MELD and hand[kind] > 0:
            t.legal[KONG + kind] = _keeps_waits(t, suits, seat, kind, 1)


@jit
def _keeps_waits(t: Table, suits: Suits, seat: int, kind: int, number: int) -> bool:
    """Tell whether a kong with ``number`` own tiles is allowed: a declared hand must keep its waits."""
    if not (t.declares and t.ready[seat]):
        return True
    hand, num_melds = t.hand[seat], t.num_melds[seat]
    if t.drawn != NO_KIND:
        hand[t.drawn] -= 1
    waits = wait_kinds(suits, hand, num_melds)
    if t.drawn != NO_KIND:
        hand[t.drawn] += 1
    hand[kind] -= number
    is_same = wait_kinds(suits, hand, num_melds + (number > 1)) == waits
    hand[kind] += number
    return is_same


@jit
def _play_turn(t: Table, suits: Suits, move: int) -> None:
    seat = t.turn
    if move == WIN:
        t.win_kind = t.drawn
        _win(t, seat, NO_SEAT)
        _wait_for(t, ENDED, seat)
    elif move >= KONG:
        _own_kong(t, suits, move - KONG)
    else:
        if move >= TING:
            _declare(t, seat)
        _discard(t, suits, move % NUM_KINDS)


@jit
def _declare(t: Table, seat: int) -> None:
    t.ready[seat] = 1
    _collect(t, seat, TING_FAN)


@jit
def _own_kong(t: Table, suits: Suits, kind: int) -> None:
    """Declare a concealed kong, or add a tile to a pung."""
    seat = t.turn
    if t.hand[seat, kind] == 4:
        t.hand[seat, kind] = 0
        t.shown[kind] += 4
        lay_meld(t, seat, ANKAN_MELD, kind)
        _collect(t, seat, CONCEALED_KONG_FAN)
        _draw(t, suits, seat)
        return
    add_to_pung(t, seat, kind)
    if t.took == kind:
        _pay(t, t.took_from, seat, OPEN_KONG_FAN - PUNG_FAN)
        _draw(t, suits, seat)
    else:
        t.claimed = kind
        _ask_claims(t, suits, 1)


@jit
def _discard(t: Table, suits: Suits, kind: int) -> None:
    seat = t.turn
    t.hand[seat, kind] -= 1
    t.shown[kind] += 1
    t.river[seat, t.num_discards[seat]] = kind
    t.num_discards[seat] += 1
    if kind == t.took and t.meld_type[seat, t.num_melds[seat] - 1] == CHI_MELD:
        _pay(t, seat, t.took_from, CHOW_FAN)
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
        _wait_for(t, ROB if is_added else CLAIM, seat)
        if _list_claims(t, suits, seat, offset == 1, is_added):
            t.legal[PASS] = 1
            return
    _settle(t, suits, is_added)


@jit
def _list_claims(t: Table, suits: Suits, seat: int, is_next: bool, is_added: bool) -> bool:
    """Mark what ``seat`` can do with the claimed tile; return whether it can do anything."""
    hand, kind = t.hand[seat], t.claimed
    hand[kind] += 1
    can_win = is_complete(suits, hand, t.num_melds[seat])
    hand[kind] -= 1
    t.legal[WIN] = can_win
    if is_added:
        return can_win
    can_kong = hand[kind] == 3 and t.wall_left > 0 and _keeps_waits(t, suits, seat, kind, 3)
    t.legal[KONG + kind] = can_kong
    if t.ready[seat]:
        return can_win or can_kong
    t.legal[PUNG] = hand[kind] >= 2
    has_chow = is_next and list_chows(t.legal, CHOW, hand, kind)
    return can_win or can_kong or hand[kind] >= 2 or has_chow


@jit
def _settle(t: Table, suits: Suits, is_added: bool) -> None:
    """Do what the answers ask for: win before kong and pung before chow; else the next seat's turn begins."""
    for offset in range(1, NUM_SEATS):
        seat = (t.turn + offset) % NUM_SEATS
        if t.answers[seat] == WIN and (t.win_kind == NO_KIND or t.several_winners):
            t.win_kind = t.claimed
            _win(t, seat, t.turn)
    claimer = best_claimer(t.answers, t.turn, CHOW)
    if t.win_kind != NO_KIND:
        _wait_for(t, ENDED, t.turn)
    elif is_added:
        _collect(t, t.turn, ADDED_KONG_FAN)
        _draw(t, suits, t.turn)
    elif claimer == NO_SEAT:
        _draw(t, suits, (t.turn + 1) % NUM_SEATS)
    else:
        _claim(t, suits, claimer, t.answers[claimer])


@jit
def _claim(t: Table, suits: Suits, seat: int, answer: int) -> None:
    """Lay down a meld with the last discard; the turn of ``seat`` begins."""
    loser, kind = t.turn, t.claimed
    t.num_discards[loser] -= 1
    t.river[loser, t.num_discards[loser]] = NO_KIND
    t.shown[kind] -= 1
    meld_type = lay_claimed_meld(t, seat, kind, answer, CHOW)
    t.turn = seat
    if meld_type == MINKAN_MELD:
        _pay(t, loser, seat, OPEN_KONG_FAN)
        _draw(t, suits, seat)
    else:
        _pay(t, loser, seat, PUNG_FAN if answer == PUNG else CHOW_FAN)
        t.took, t.took_from, t.claimed = kind, loser, NO_KIND
        _ask_turn(t, suits)


@jit
def _win(t: Table, seat: int, loser: int) -> None:
    """Pay for a win with the tile ``win_kind``; ``loser``: whose tile it is, NO_SEAT for a self-drawn one."""
    hand, is_claimed = t.hand[seat], loser != NO_SEAT
    hand[t.win_kind] += is_claimed
    fan = hand_fan(hand, t.num_melds[seat], t.meld_type[seat], t.meld_kind[seat])
    hand[t.win_kind] -= is_claimed
    t.win_fan[seat] = fan
    t.loser = loser
    if loser == NO_SEAT:
        _collect(t, seat, fan)
    else:
        _pay(t, loser, seat, fan)


@jit
def hand_fan(hand: I8, num_melds: int, meld_type: I8, meld_kind: I8) -> int:
    """Return what a complete hand is worth, the concealed tiles with the winning one: only the highest value counts."""
    suits = 0
    for kind in range(NUM_KINDS):
        if hand[kind] > 0:
            suits |= 1 << kind // 9
    has_chow = False
    for i in range(num_melds):
        suits |= 1 << meld_kind[i] // 9
        has_chow |= meld_type[i] == CHI_MELD
    if suits in (1, 2, 4):
        return FLUSH_FAN
    if num_melds == 0 and count_all_pairs(hand) == 7:
        return SEVEN_PAIRS_FAN
    triplets, pairs = 0, 0
    for kind in range(NUM_KINDS):
        triplets += hand[kind] == 3
        pairs += hand[kind] == 2
    return ALL_PUNGS_FAN if not has_chow and triplets == 4 - num_melds and pairs == 1 else BASIC_FAN


@jit
def _pay(t: Table, payer: int, seat: int, fan: int) -> None:
    t.fan[payer] -= fan
    t.fan[seat] += fan


@jit
def _collect(t: Table, seat: int, fan: int) -> None:
    """Let the three others pay."""
    for other in range(NUM_SEATS):
        if other != seat:
            _pay(t, other, seat, fan)
