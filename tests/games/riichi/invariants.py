"""``check_invariants``: what must hold between any two decisions, recomputed from scratch without the engine's tables.

The checks are kernels, so that every state of many thousand games can be looked at; the edge turns what they find into
words. A violation is a number: ``4 * rule + seat``, 0 where everything holds.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, add_meld, is_simple
from suphx.games.riichi import table as codes
from suphx.games.riichi.table import Table, lowest_of_chi
from suphx.games.riichi.tile import NUM_FACES, NUM_TILES, face_of_id, is_red, kind_of_face, num_red, red_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, Records

_RULES = (
    "all is well",
    "tiles are not conserved: hands, melds, rivers and the rest of the wall are not the 136 tiles",
    "points and sticks do not add up to those of the start",
    "seat {seat} holds a wrong number of tiles",
    "seat {seat} has a red five without a five",
    "seat {seat} declared riichi with an open hand",
    "seat {seat} has no riichi tile",
    "waits of seat {seat} are stale",
    "river kinds of seat {seat} are stale",
    "seat {seat} is furiten for good without riichi",
    "the legal mask is empty",
    "num_legal is not the number of legal actions",
    "seat {seat} may take an action of another phase",
    "seat {seat} may discard or claim with tiles that it does not hold, or may not discard what it holds",
    "seat {seat} may win with a hand that is not complete, or is furiten",
)
(_OK, _TILES, _POINTS, _SIZE, _RED, _OPEN_RIICHI, _RIICHI_TILE, _WAITS, _RIVER, _FURITEN, _EMPTY, _COUNT, _PHASE, _HELD,
 _WIN) = range(len(_RULES))  # fmt: skip


def check_invariants(table: np.void, start_points: int = 25_000) -> None:
    """Raise AssertionError when ``table`` (a TABLE record) contradicts the rules; every seat gets every check."""
    tables = np.array([table])
    first_violation(tables, np.zeros(1, np.int64), 4 * start_points)


def first_violation(tables: Records, indices: I64, total_points: int) -> None:
    """Raise AssertionError for the first of the tables ``indices`` that contradicts the rules.

    ``total_points``: what the four seats and the sticks on the table add up to. Costs about 5 microseconds a table.
    """
    scratch = np.zeros(NUM_FACES, np.int64)
    found = np.zeros(len(indices), np.int64)
    _find_violations(tables, indices, total_points, scratch, found)
    for i in np.flatnonzero(found)[:1]:
        rule, seat = divmod(int(found[i]), 4)
        table = tables[indices[i]]
        where = f"phase {table['phase']}, kyoku {table['kyoku']}, decision {table['num_decisions']}"
        raise AssertionError(f"table {indices[i]} ({where}): {_RULES[rule].format(seat=seat)}")


@jit
def _find_violations(tables: Records, indices: I64, total_points: int, scratch: I64, found: I64) -> None:
    for i in range(len(indices)):
        found[i] = _violation(tables[indices[i]], total_points, scratch)


@jit
def _violation(t: Table, total_points: int, scratch: I64) -> int:
    if not _are_tiles_conserved(t, scratch):
        return 4 * _TILES
    total = 1000 * t.kyotaku
    for seat in range(4):
        total += t.scores[seat]
    if total != total_points:
        return 4 * _POINTS
    for seat in range(4):
        rule = _hand_violation(t, seat)
        if rule == _OK and t.phase != codes.KYOKU_END:
            rule = _memory_violation(t, seat)
        if rule != _OK:
            return 4 * rule + seat
    rule = _OK if t.phase == codes.KYOKU_END else _mask_violation(t)
    return 0 if rule == _OK else 4 * rule + t.actor


@jit
def _are_tiles_conserved(t: Table, counts: I64) -> bool:
    """Count all faces: hands, melds, uncalled river tiles and the rest of the wall must be the whole set."""
    counts[:] = 0
    for tile in range(NUM_TILES):
        counts[face_of_id(tile, t.red_fives)] -= 1
    for seat in range(4):
        for kind in range(34):
            counts[kind] += t.hand[seat, kind]
        for suit in range(3):
            if t.red[seat] >> suit & 1:
                _recolour(counts, suit, 1)
        for i in range(t.num_melds[seat]):
            _count_meld(t, seat, i, counts)
        for i in range(t.river_length[seat]):
            if not t.river_flags[seat, i] & codes.CALLED_FLAG:
                counts[t.river[seat, i]] += 1
    for place in range(t.next_draw, codes.URA_POSITIONS[0] + 1):  # the live wall and the indicators
        counts[face_of_id(t.wall[place], t.red_fives)] += 1
    for i in range(t.num_kans, 4):
        counts[face_of_id(t.wall[codes.RINSHAN[i]], t.red_fives)] += 1
    is_whole = True
    for face in range(NUM_FACES):
        is_whole &= counts[face] == 0
    return is_whole


@jit
def _recolour(counts: I64, suit: int, num_red: int) -> None:
    """Fives of a suit that were counted as plain are red."""
    counts[9 * suit + 4] -= num_red
    counts[red_face(9 * suit)] += num_red


@jit
def _count_meld(t: Table, seat: int, i: int, counts: I64) -> None:
    add_meld(counts, t.meld_type[seat, i], t.meld_kind[seat, i], 1)
    if t.meld_red[seat, i]:
        _recolour(counts, t.meld_kind[seat, i] // 9, t.meld_red[seat, i])


@jit
def _hand_violation(t: Table, seat: int) -> int:
    size = 3 * t.num_melds[seat]
    for kind in range(34):
        size += t.hand[seat, kind]
    holds_turn = seat == t.turn and t.phase != codes.CLAIM and t.phase != codes.ROB_KAN
    if t.phase != codes.KYOKU_END and size != 13 + holds_turn:
        return _SIZE
    for suit in range(3):
        if t.red[seat] >> suit & 1 and t.hand[seat, 9 * suit + 4] == 0:
            return _RED
    if t.riichi[seat]:
        for i in range(t.num_melds[seat]):
            if t.meld_type[seat, i] != ANKAN_MELD:
                return _OPEN_RIICHI
        has_tile = t.is_stick_due != 0 and t.turn == seat
        for i in range(t.river_length[seat]):
            has_tile |= t.river_flags[seat, i] & codes.RIICHI_FLAG != 0
        if not has_tile:
            return _RIICHI_TILE
    return _OK


@jit
def _memory_violation(t: Table, seat: int) -> int:
    """What is kept from step to step: waits, the kinds of the river, furiten."""
    if not _are_waits_fresh(t, seat):
        return _WAITS
    river = 0
    for i in range(t.river_length[seat]):
        river |= 1 << kind_of_face(t.river[seat, i])
    if river != t.river_kinds[seat]:
        return _RIVER
    return _FURITEN if t.missed_win[seat] == 2 and not t.riichi[seat] else _OK


@jit
def _are_waits_fresh(t: Table, seat: int) -> bool:
    """Compare the waits with a search for sets, tile by tile; during an own turn they are those before the draw."""
    hand = t.hand[seat]
    if seat == t.turn and (t.phase == codes.RIICHI_DISCARD or t.phase == codes.CALL_DISCARD):
        return True  # the waits will be known after the discard
    drawn = kind_of_face(t.drawn) if seat == t.turn and t.phase == codes.OWN_TURN else -1
    if drawn >= 0:
        hand[drawn] -= 1
    waits = 0
    for kind in range(34):
        # A tile far from all tiles of the hand completes nothing but thirteen orphans.
        if hand[kind] < 4 and (_has_neighbour(hand, kind) or not is_simple(kind)):
            hand[kind] += 1
            if is_complete(hand, 4 - t.num_melds[seat]):
                waits |= 1 << kind
            hand[kind] -= 1
    if drawn >= 0:
        hand[drawn] += 1
    return bool(waits == t.waits[seat])


@jit
def _has_neighbour(hand: I8, kind: int) -> bool:
    suit = kind // 9
    is_near = False
    for other in range(max(0, kind - 2), min(33, kind + 2) + 1):
        is_near |= hand[other] > 0 and other // 9 == suit
    return is_near


@jit
def is_complete(hand: I8, num_sets: int) -> bool:
    """Tell by search whether 3 * num_sets + 2 tiles win: sets and a pair, seven pairs or thirteen orphans."""
    pairs = 0
    ends = 0
    kinds = 0
    for kind in range(34):
        pairs += hand[kind] == 2
        if hand[kind] > 0:
            kinds += 1
            ends += not is_simple(kind)
    if num_sets == 4 and (pairs == 7 or (kinds == 13 and ends == 13)):
        return True
    for pair in range(34):
        if hand[pair] >= 2:
            hand[pair] -= 2
            is_done = _is_all_sets(hand)
            hand[pair] += 2
            if is_done:
                return True
    return False


@jit
def _is_all_sets(hand: I8) -> bool:
    """Tell whether the tiles are triplets and runs: from the left, what three alike do not take must begin runs."""
    one = two = 0  # runs that still need this kind and the next; this kind
    for kind in range(34):
        if kind % 9 == 0 and one + two > 0:
            return False
        left = (hand[kind] - one - two) % 3 if hand[kind] >= one + two else -1
        if left < 0 or (left > 0 and (kind >= 27 or kind % 9 > 6)):
            return False
        two = one
        one = left
    return one + two == 0


@jit
def _mask_violation(t: Table) -> int:
    """What the actor may do: actions of the phase, with tiles that it holds, and wins with complete hands."""
    count = 0
    for action in range(codes.PASS + 1):
        count += t.legal[action]
    if t.num_legal == 0:
        return _EMPTY
    if count != t.num_legal:
        return _COUNT
    is_claim = t.phase == codes.CLAIM or t.phase == codes.ROB_KAN
    for action in range(codes.PASS + 1):
        if t.legal[action] and is_claim != (action == codes.RON or action >= codes.PON):
            return _PHASE
    return _claim_violation(t) if is_claim else _turn_violation(t)


@jit
def _turn_violation(t: Table) -> int:
    seat = t.actor
    for face in range(codes.TSUMOGIRI):
        kind = kind_of_face(face)
        red = num_red(t.red[seat], kind)
        held = red if is_red(face) else t.hand[seat, kind] - red
        # The drawn tile's own face stands for another copy of it: the drawn one is TSUMOGIRI.
        held -= t.drawn == face
        is_barred = t.forbidden >> kind & 1 or (t.phase == codes.OWN_TURN and t.riichi[seat])
        if (t.legal[face] != 0) != (held > 0 and not is_barred):
            return _HELD
    for kind in range(34):
        if t.legal[codes.ANKAN + kind] and t.hand[seat, kind] != 4:
            return _HELD
        if t.legal[codes.KAKAN + kind] and t.hand[seat, kind] != 1:
            return _HELD
    if t.legal[codes.TSUMO] and not is_complete(t.hand[seat], 4 - t.num_melds[seat]):
        return _WIN
    return _OK


@jit
def _claim_violation(t: Table) -> int:
    seat = t.actor
    kind = kind_of_face(t.claimed_face)
    hand = t.hand[seat]
    if t.legal[codes.MINKAN] and hand[kind] != 3:
        return _HELD
    for action in range(codes.PON, codes.MINKAN):
        if t.legal[action] and hand[kind] < 2:
            return _HELD
    for action in range(codes.CHI, codes.PASS):
        lowest = lowest_of_chi(kind, action)
        for other in range(lowest, lowest + 3):
            if t.legal[action] and other != kind and (other // 9 != kind // 9 or hand[other] == 0):
                return _HELD
    if not t.legal[codes.RON]:
        return _OK
    hand[kind] += 1
    can_win = is_complete(hand, 4 - t.num_melds[seat])
    hand[kind] -= 1
    is_furiten = t.missed_win[seat] != 0 or t.waits[seat] & t.river_kinds[seat] != 0
    return _WIN if is_furiten or not can_win else _OK
