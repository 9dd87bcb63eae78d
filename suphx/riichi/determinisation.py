"""``determinise``: deal anew everything that one seat cannot see, so that the position can be played on.

What the seat knows stays as it is: its hand, all melds and rivers, the turned indicators, scores and counters. The
other hands, the live wall, the rest of the dead wall and later deals are drawn at random. Run-time adaptation (paper,
section 3.4) and search start from such positions.

- Hidden tiles are shuffled; every split among hands and wall is equally likely, but for hands after riichi.
- A hand after riichi must be ready: it is built from hidden tiles as sets and a pair (now and then seven pairs), each
  chosen in proportion to the ways to draw it, less one tile: close to, but not exactly, uniform over ready hands.
- What other seats let pass is known, so their furiten follows from their new waits. That they did not claim earlier
  tiles is not used. In a claim window the other seats' hidden answers are forgotten: who was asked before has passed.
- The part of the wall that is already drawn keeps no history: visible tiles and other hands lie there in any order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from suphx.riichi.jit import jit
from suphx.riichi.legal import fill_own_turn
from suphx.riichi.record import I64, Records
from suphx.riichi.shanten import waiting_kinds
from suphx.riichi.simulator import MAX_SEED
from suphx.riichi.suit_table import Suits, load_suits
from suphx.riichi.table import CALLED_FLAG, CHI_MELD, OWN_TURN, PON_MELD, TABLE, Table
from suphx.riichi.tile import NUM_TILES, face_of_id, kind_of_face
from suphx.riichi.wall import DORA, RINSHAN, mix

_TRIES = 64
_SEVEN_PAIRS_SHARE = 16  # one ready hand in so many is seven pairs, where the hidden tiles allow it
_MASK32 = 0xFFFFFFFF
_HIDDEN, _VISIBLE = 0, 1


def determinise(tables: Records, seats: ArrayLike, seeds: ArrayLike) -> Records:
    """Return copies of TABLE records (n,) in which all that ``seats`` cannot see is dealt anew; a pure function.

    ``seats``: int (n,) or one for all; ``seeds``: int (n,), 0 <= seed < 2**62: the same seed gives the same deal, and
    it also decides the later deals of the game. A table must wait for the seat's own decision, or for another seat's
    own turn. ValueError for other positions, shapes and numbers.
    """
    copies = np.array(tables, TABLE, ndmin=1)
    all_seats = np.broadcast_to(np.asarray(seats, np.int64), copies.shape)
    all_seeds = np.broadcast_to(np.asarray(seeds, np.int64), copies.shape)
    if np.any(all_seats < 0) or np.any(all_seats > 3):
        raise ValueError(f"seats must be 0-3, not {all_seats.min()} … {all_seats.max()}")
    if np.any(all_seeds < 0) or np.any(all_seeds >= MAX_SEED):
        raise ValueError(f"seeds must lie in 0 … 2**62 - 1, not {all_seeds.min()} … {all_seeds.max()}")
    is_ready = (copies["num_legal"] > 0) & ((copies["actor"] == all_seats) | (copies["phase"] == OWN_TURN))
    for i in np.flatnonzero(~is_ready)[:1]:
        raise ValueError(
            f"table {i} is in phase {copies['phase'][i]} and waits for seat {copies['actor'][i]}: deal anew for seat "
            f"{all_seats[i]} when it decides itself, or at another seat's own turn"
        )
    ids, counts = np.zeros(NUM_TILES, np.int64), np.zeros((2, 34), np.int64)
    failed = _determinise(copies, load_suits(), np.ascontiguousarray(all_seats), all_seeds.copy(), ids, counts)
    if failed >= 0:
        raise ValueError(f"table {failed}: the hidden tiles gave no ready hand to a seat in riichi: is it damaged?")
    return copies


@jit
def _determinise(tables: Records, suits: Suits, seats: I64, seeds: I64, ids: I64, counts: I64) -> int:
    for i in range(len(tables)):
        t = tables[i]
        t.wall_seed = seeds[i]
        num_hidden = _collect_hidden(t, seats[i], ids)
        state = np.zeros(1, np.int64)
        state[0] = mix((seeds[i] & _MASK32) ^ mix(seeds[i] >> 32 & _MASK32))
        is_dealt = False
        for _ in range(_TRIES):
            _shuffle(ids, num_hidden, state)
            if _deal_hands(t, suits, seats[i], ids, num_hidden, counts, state):
                is_dealt = True
                break
        if not is_dealt:
            return i
        _know_again(t, suits, seats[i])
    return -1


@jit
def _draw_number(state: I64, bound: int) -> int:
    """Return a number in 0 … bound - 1 and move the counter ``state`` (1,) on."""
    state[0] = state[0] + 0x9E3779B9 & _MASK32
    return mix(mix(state[0]) ^ 0x5851F42D) * bound >> 32


@jit
def _shuffle(ids: I64, count: int, state: I64) -> None:
    for i in range(count - 1, 0, -1):
        j = _draw_number(state, i + 1)
        ids[i], ids[j] = ids[j], ids[i]


@jit
def _collect_hidden(t: Table, seat: int, ids: I64) -> int:
    """Put the ids of hidden tiles first in ``ids`` (136,) and return how many they are; the visible ones follow."""
    ids[:] = _HIDDEN
    for i in range(t.num_dora):
        ids[t.wall[DORA - 2 * i]] = _VISIBLE
    for other in range(4):
        for i in range(t.river_length[other]):
            if not t.river_flags[other, i] & CALLED_FLAG:
                _show(ids, t.river[other, i], t.red_fives)
        for i in range(t.num_melds[other]):
            _show_meld(t, other, i, ids)
    for kind in range(34):
        red = t.red[seat] >> (kind // 9) & 1 if kind < 27 and kind % 9 == 4 else 0
        for _ in range(t.hand[seat, kind] - red):
            _show(ids, kind, t.red_fives)
        if red:
            _show(ids, 34 + kind // 9, t.red_fives)
    return _sort_by_mark(ids)


@jit
def _show(ids: I64, face: int, red_fives: int) -> None:
    """Mark one tile of a face as visible: tiles of the same face are all alike."""
    kind = kind_of_face(face)
    for tile in range(4 * kind, 4 * kind + 4):
        if ids[tile] == _HIDDEN and face_of_id(tile, red_fives) == face:
            ids[tile] = _VISIBLE
            return


@jit
def _show_meld(t: Table, seat: int, i: int, ids: I64) -> None:
    kind = t.meld_kind[seat, i]
    red = t.meld_red[seat, i]
    if t.meld_type[seat, i] == CHI_MELD:
        for step in range(3):
            is_red = red != 0 and (kind + step) % 9 == 4
            _show(ids, 34 + kind // 9 if is_red else kind + step, t.red_fives)
    else:
        for n in range(3 if t.meld_type[seat, i] == PON_MELD else 4):
            _show(ids, 34 + kind // 9 if n < red else kind, t.red_fives)


@jit
def _sort_by_mark(ids: I64) -> int:
    """Turn marks by id into ids, the hidden ones first; return how many are hidden."""
    num_hidden = 0
    marks = ids.copy()
    for tile in range(NUM_TILES):
        num_hidden += marks[tile] == _HIDDEN
    hidden, visible = 0, num_hidden
    for tile in range(NUM_TILES):
        if marks[tile] == _HIDDEN:
            ids[hidden] = tile
            hidden += 1
        else:
            ids[visible] = tile
            visible += 1
    return num_hidden


@jit
def _deal_hands(t: Table, suits: Suits, seat: int, ids: I64, num_hidden: int, counts: I64, state: I64) -> bool:
    """Give the other seats their tiles, ready hands first, and lay the walls; False when a ready hand was not found."""
    used = 0
    for wants_riichi in (True, False):
        for other in range(4):
            if other == seat or (t.riichi[other] != 0) != wants_riichi:
                continue
            size = 13 - 3 * t.num_melds[other]
            if wants_riichi:
                if not _choose_ready(t, suits, other, ids, used, num_hidden, counts, state):
                    return False
                _bring_forward(ids, used, num_hidden, counts[1])
            holds_draw = t.phase == OWN_TURN and t.actor == other
            _fill_hand(t, other, ids, used, size + holds_draw, holds_draw)
            used += size + holds_draw
    _lay_wall(t, ids, used, num_hidden)
    return True


@jit
def _fill_hand(t: Table, seat: int, ids: I64, first: int, size: int, holds_draw: bool) -> None:
    """Give ``size`` tiles to a seat; the last one is what it has just drawn, if it has."""
    t.hand[seat, :] = 0
    t.red[seat] = 0
    face = -1
    for n in range(first, first + size):
        face = face_of_id(ids[n], t.red_fives)
        t.hand[seat, kind_of_face(face)] += 1
        if face >= 34:
            t.red[seat] |= 1 << (face - 34)
    if holds_draw:
        t.drawn = face


@jit
def _lay_wall(t: Table, ids: I64, used: int, num_hidden: int) -> None:
    """Lay the rest of the hidden tiles where nobody has drawn, and all other tiles where it was drawn."""
    next_id = used
    for place in range(t.next_draw, DORA + 2):
        if not _is_shown(t, place):
            t.wall[place] = ids[next_id]
            next_id += 1
    for i in range(t.num_kans, 4):
        t.wall[RINSHAN[i]] = ids[next_id]
        next_id += 1
    # Of the visible tiles the turned indicators lie in the wall already; the others fill the places drawn from.
    place = 0
    for n in range(NUM_TILES):
        is_over = n < used or n >= num_hidden
        for i in range(t.num_dora):
            is_over &= t.wall[DORA - 2 * i] != ids[n]
        if is_over:
            t.wall[place if place < t.next_draw else RINSHAN[place - t.next_draw]] = ids[n]
            place += 1


@jit
def _is_shown(t: Table, place: int) -> bool:
    """Tell whether a place of the wall is a turned indicator."""
    return place <= DORA and (DORA - place) % 2 == 0 and (DORA - place) // 2 < t.num_dora


@jit
def _choose_ready(
    t: Table, suits: Suits, seat: int, ids: I64, used: int, num_hidden: int, counts: I64, state: I64
) -> bool:
    """Choose the kinds of a ready hand, ``counts[1]`` (34,), from the hidden tiles from ``used`` on."""
    for _ in range(_TRIES):
        counts[:] = 0
        for n in range(used, num_hidden):
            counts[0, ids[n] >> 2] += 1
        num_sets = 4 - t.num_melds[seat]
        if num_sets == 4 and _draw_number(state, _SEVEN_PAIRS_SHARE) == 0:
            is_built = _add_pairs(counts, 7, state)
        else:
            is_built = _add_pairs(counts, 1, state)
            for _ in range(num_sets):
                is_built = is_built and _add_set(counts, state)
        if is_built:
            _drop_one(counts[1], 3 * num_sets + 2, state)
            hand = t.hand[seat]
            for kind in range(34):
                hand[kind] = counts[1, kind]
            if waiting_kinds(suits, hand, t.num_melds[seat]) != 0:
                return True
    return False


@jit
def _add_pairs(counts: I64, num_pairs: int, state: I64) -> bool:
    """Move pairs of different kinds from what is left, ``counts[0]``, to the hand, ``counts[1]``; by their ways."""
    for _ in range(num_pairs):
        total = 0
        for kind in range(34):
            total += _pair_ways(counts, kind)
        if total == 0:
            return False
        place = _draw_number(state, total)
        for kind in range(34):
            place -= _pair_ways(counts, kind)
            if place < 0:
                _move(counts, kind, 2)
                break
    return True


@jit
def _pair_ways(counts: I64, kind: int) -> int:
    return counts[0, kind] * (counts[0, kind] - 1) // 2 if counts[1, kind] == 0 else 0


@jit
def _add_set(counts: I64, state: I64) -> bool:
    """Move three alike or three in a row, in proportion to the ways to draw them."""
    total = 0
    for code in range(68):
        total += _set_ways(counts[0], code)
    if total == 0:
        return False
    place = _draw_number(state, total)
    for code in range(68):
        place -= _set_ways(counts[0], code)
        if place < 0:
            if code < 34:
                _move(counts, code, 3)
            else:
                for step in range(3):
                    _move(counts, code - 34 + step, 1)
            return True
    return False


@jit
def _set_ways(left: I64, code: int) -> int:
    """Return the ways to draw a set: code 0-33 three alike, 34-67 the run that begins with kind ``code - 34``."""
    if code < 34:
        return left[code] * (left[code] - 1) * (left[code] - 2) // 6
    kind = code - 34
    return left[kind] * left[kind + 1] * left[kind + 2] if kind < 27 and kind % 9 < 7 else 0


@jit
def _move(counts: I64, kind: int, number: int) -> None:
    counts[0, kind] -= number
    counts[1, kind] += number


@jit
def _drop_one(hand: I64, size: int, state: I64) -> None:
    """Take one tile out of a complete hand."""
    place = _draw_number(state, size)
    for kind in range(34):
        place -= hand[kind]
        if place < 0:
            hand[kind] -= 1
            return


@jit
def _bring_forward(ids: I64, used: int, num_hidden: int, wanted: I64) -> None:
    """Reorder the hidden ids from ``used`` on so that those of the ``wanted`` kinds (34,) come first."""
    front = used
    for n in range(used, num_hidden):
        kind = ids[n] >> 2
        if wanted[kind] > 0:
            wanted[kind] -= 1
            ids[front], ids[n] = ids[n], ids[front]
            front += 1


@jit
def _know_again(t: Table, suits: Suits, seat: int) -> None:
    """Recompute what follows from the new hands: waits, furiten, and the mask if another seat is to act."""
    for other in range(4):
        if other == seat:
            continue
        hand = t.hand[other]
        drawn = kind_of_face(t.drawn) if t.phase == OWN_TURN and t.actor == other else -1
        if drawn >= 0:
            hand[drawn] -= 1
        t.waits[other] = waiting_kinds(suits, hand, t.num_melds[other])
        if drawn >= 0:
            hand[drawn] += 1
        is_furiten = t.waits[other] & t.passed_kinds[other] != 0
        t.missed_win[other] = (2 if t.riichi[other] else 1) if is_furiten else 0
        t.answers[other] = -1
    if t.phase == OWN_TURN and t.actor != seat:
        fill_own_turn(t, suits)
