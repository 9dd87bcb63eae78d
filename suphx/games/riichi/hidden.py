"""``determinise``: deal everything that one seat cannot see again at random, so that the position can be played on.

What the seat knows stays as it is: its hand, all melds and rivers, the turned indicators, scores and counters. The
other hands, the live wall, the rest of the dead wall and later deals are drawn at random. Run-time adaptation (paper,
section 3.4) and search start from such positions.

- Hidden tiles are shuffled; every split among hands and wall is equally likely, but for hands after riichi.
- A hand after riichi is tenpai: every tenpai hand that the hidden tiles allow is equally likely (ready_hands.py), seven
  pairs (about a fifth of all) and thirteen orphans included. With several such hands every way to deal them is equally
  likely, too, or nearly so (ready_hands.py). How players come to their hands is not considered.
- A hand after riichi does not wait for a tile that its seat let pass since: all agents here win when they can. Only
  where hardly any other hand is possible it does, because a player may have passed a win.
- What other seats let pass is known, so their furiten follows from their new waits. That they did not claim earlier
  tiles is not used otherwise. In a claim window the other seats' hidden answers are forgotten: who was asked before
  has passed.
- The part of the wall that is already drawn keeps no history: visible tiles and other hands lie there in any order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from suphx.games.mahjong.ready_hands import TenpaiTable, load_tenpai_table
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.mahjong.tile import CHI_MELD, meld_size
from suphx.games.riichi import table as codes
from suphx.games.riichi.legal import fill_own_turn
from suphx.games.riichi.ready_hands import TENPAI_DEAL, TenpaiDeal, deal_tenpai
from suphx.games.riichi.shanten import waiting_kinds
from suphx.games.riichi.simulator import MAX_SEED
from suphx.games.riichi.table import TABLE, Table, add_to_hand, dora_indicator
from suphx.games.riichi.tile import NUM_TILES, face_of_id, is_five, kind_of_face, num_red, red_face
from suphx.kernel.jit import jit
from suphx.kernel.random_number import seed_counter, shuffle
from suphx.kernel.record import I64, Records

_HIDDEN, _VISIBLE = 0, 1


def determinise(tables: Records, seats: ArrayLike, seeds: ArrayLike) -> Records:
    """Return copies of TABLE records (n,) with all that ``seats`` cannot see dealt again at random; a pure function.

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
    is_ready = (copies["num_legal"] > 0) & ((copies["actor"] == all_seats) | (copies["phase"] == codes.OWN_TURN))
    for i in np.flatnonzero(~is_ready)[:1]:
        raise ValueError(
            f"table {i} is in phase {copies['phase'][i]} and waits for seat {copies['actor'][i]}: deal again for seat "
            f"{all_seats[i]} when it decides itself, or at another seat's own turn"
        )
    deal, ids = np.zeros(1, TENPAI_DEAL)[0], np.zeros(NUM_TILES, np.int64)
    failed = _determinise(
        copies, load_suits(), load_tenpai_table(), deal, np.ascontiguousarray(all_seats), all_seeds.copy(), ids
    )
    if failed >= 0:
        raise ValueError(f"table {failed}: the hidden tiles gave no tenpai hand to a seat in riichi: is it damaged?")
    return copies


@jit
def _determinise(
    tables: Records, suits: Suits, tenpai: TenpaiTable, deal: TenpaiDeal, seats: I64, seeds: I64, ids: I64
) -> int:
    """Deal each table again; return the first one for which there is no deal, or -1."""
    state = np.zeros(1, np.int64)
    for i in range(len(tables)):
        t = tables[i]
        t.wall_seed = seeds[i]
        num_hidden = _collect_hidden(t, seats[i], ids)
        seed_counter(state, seeds[i])
        shuffle(ids[:num_hidden], state)
        if not _deal_tenpai_hands(t, suits, tenpai, deal, seats[i], ids[:num_hidden], state):
            return i
        _deal_hands(t, deal, seats[i], ids, num_hidden, state)
        _know_again(t, suits, seats[i])
    return -1


@jit
def _collect_hidden(t: Table, seat: int, ids: I64) -> int:
    """Put the ids of hidden tiles first in ``ids`` (136,) and return how many they are; the visible ones follow."""
    ids[:] = _HIDDEN  # marks by id at first
    for i in range(t.num_dora):
        ids[dora_indicator(t.wall, i)] = _VISIBLE
    for other in range(4):
        for i in range(t.river_length[other]):
            if not t.river_flags[other, i] & codes.CALLED_FLAG:
                _show(ids, t.river[other, i], t.red_fives)
        for i in range(t.num_melds[other]):
            kind, red = t.meld_kind[other, i], t.meld_red[other, i]
            if t.meld_type[other, i] == CHI_MELD:
                for step in range(3):
                    is_red_one = red != 0 and is_five(kind + step)
                    _show(ids, red_face(kind) if is_red_one else kind + step, t.red_fives)
            else:
                for n in range(meld_size(t.meld_type[other, i])):
                    _show(ids, red_face(kind) if n < red else kind, t.red_fives)
    for kind in range(34):
        red = num_red(t.red[seat], kind)
        for _ in range(t.hand[seat, kind] - red):
            _show(ids, kind, t.red_fives)
        if red:
            _show(ids, red_face(kind), t.red_fives)
    hidden, visible = np.flatnonzero(ids == _HIDDEN), np.flatnonzero(ids == _VISIBLE)
    ids[: len(hidden)] = hidden
    ids[len(hidden) :] = visible
    return len(hidden)


@jit
def _show(ids: I64, face: int, red_fives: int) -> None:
    """Mark one tile of a face as visible: tiles of the same face are all alike."""
    kind = kind_of_face(face)
    for tile in range(4 * kind, 4 * kind + 4):
        if ids[tile] == _HIDDEN and face_of_id(tile, red_fives) == face:
            ids[tile] = _VISIBLE
            return


@jit
def _deal_tenpai_hands(
    t: Table, suits: Suits, tenpai: TenpaiTable, deal: TenpaiDeal, seat: int, hidden: I64, state: I64
) -> bool:
    """Fill ``deal.hand`` with the kinds of tenpai hands for the other seats in riichi; False when there are none."""
    deal.left[:] = 0
    for tile in hidden:
        deal.left[tile >> 2] += 1
    for other in range(4):
        deal.num_melds[other] = t.num_melds[other] if _needs_tenpai(t, seat, other) else -1
        deal.let_pass[other] = _let_pass_since_riichi(t, other)
    return deal_tenpai(tenpai, suits, deal, state)


@jit
def _needs_tenpai(t: Table, seat: int, other: int) -> bool:
    return other != seat and t.riichi[other] != 0


@jit
def _let_pass_since_riichi(t: Table, seat: int) -> int:
    """Return the bit set of kinds that a seat in riichi did not win on, its own discards from riichi on included."""
    kinds = t.passed_kinds[seat]
    if t.phase == codes.CLAIM and (seat - t.turn) % 4 < (t.actor - t.turn) % 4 and seat != t.turn:
        kinds |= 1 << kind_of_face(t.claimed_face)  # it was asked before the actor, and has passed
    is_in_riichi = False
    for i in range(t.river_length[seat]):
        is_in_riichi |= t.river_flags[seat, i] & codes.RIICHI_FLAG != 0
        if is_in_riichi:
            kinds |= 1 << kind_of_face(t.river[seat, i])
    return kinds


@jit
def _deal_hands(t: Table, deal: TenpaiDeal, seat: int, ids: I64, num_hidden: int, state: I64) -> None:
    """Give the other seats their tiles, those of tenpai hands first, and lay the walls."""
    used = 0
    for other in range(4):
        if _needs_tenpai(t, seat, other):
            front = used  # the ids of the hand come first
            for n in range(used, num_hidden):
                kind = ids[n] >> 2
                if deal.hand[other, kind] > 0:
                    deal.hand[other, kind] -= 1
                    ids[front], ids[n] = ids[n], ids[front]
                    front += 1
            used += _fill_hand(t, other, ids[used:])
    if used > 0:
        # Of a kind that a tenpai hand has, those left over were the last ones in order.
        shuffle(ids[used:num_hidden], state)
    for other in range(4):
        if other != seat and not _needs_tenpai(t, seat, other):
            used += _fill_hand(t, other, ids[used:])
    if t.phase == codes.OWN_TURN and t.actor != seat:
        t.drawn = face_of_id(ids[used], t.red_fives)
        add_to_hand(t, t.actor, t.drawn)
        used += 1
    _lay_wall(t, ids, used, num_hidden)


@jit
def _fill_hand(t: Table, seat: int, ids: I64) -> int:
    """Give the first of ``ids`` to a seat, as many as it holds without a drawn tile, and return how many these are."""
    t.hand[seat, :] = 0
    t.red[seat] = 0
    size = 13 - 3 * t.num_melds[seat]
    for n in range(size):
        add_to_hand(t, seat, face_of_id(ids[n], t.red_fives))
    return size


@jit
def _lay_wall(t: Table, ids: I64, used: int, num_hidden: int) -> None:
    """Lay the rest of the hidden tiles where nobody has drawn, and all other tiles where it was drawn."""
    next_id = used
    for position in range(t.next_draw, codes.URA_POSITIONS[0] + 1):
        is_indicator = False
        for i in range(t.num_dora):
            is_indicator |= position == codes.DORA_POSITIONS[i]
        if not is_indicator:
            t.wall[position] = ids[next_id]
            next_id += 1
    for i in range(t.num_kans, 4):
        t.wall[codes.RINSHAN[i]] = ids[next_id]
        next_id += 1
    # Of the visible tiles the turned indicators lie in the wall already; the others fill the positions drawn from.
    position = 0
    for n in range(NUM_TILES):
        is_over = n < used or n >= num_hidden
        for i in range(t.num_dora):
            is_over &= dora_indicator(t.wall, i) != ids[n]
        if is_over:
            t.wall[position if position < t.next_draw else codes.RINSHAN[position - t.next_draw]] = ids[n]
            position += 1


@jit
def _know_again(t: Table, suits: Suits, seat: int) -> None:
    """Recompute what follows from the new hands: waits, furiten, and the mask if another seat is to act."""
    for other in range(4):
        if other == seat:
            continue
        hand = t.hand[other]
        drawn = kind_of_face(t.drawn) if t.phase == codes.OWN_TURN and t.actor == other else -1
        if drawn >= 0:
            hand[drawn] -= 1
        t.waits[other] = waiting_kinds(suits, hand, t.num_melds[other])
        if drawn >= 0:
            hand[drawn] += 1
        is_furiten = t.waits[other] & t.passed_kinds[other] != 0
        t.missed_win[other] = (2 if t.riichi[other] else 1) if is_furiten else 0
        t.claim_actions[other] = -1
    if t.phase == codes.OWN_TURN and t.actor != seat:
        fill_own_turn(t, suits)
