"""One deal: ``start_kyoku`` deals a wall, ``step`` applies the actor's action and goes on to the next decision.

Claims are decided seat by seat from the discarder's right; they stay hidden until the window closes
(``claim_actions``), so that every decision is one seat's. ending.py has the end of a deal.

Functions that change the table set its ``phase`` and fill no mask. ``step`` then asks the seats that may claim, closes
the window if none may, and fills the mask of the seat whose turn it is. This is flat on purpose: a kernel is compiled
with all that it calls, so in a long chain of kernels the last ones would be compiled many times.

Draw lanes: every seat draws from its own positions of the wall, so that a call does not move what the others draw. In
an ordinary game a call shifts all later draws: from then on each seat draws what another one would have drawn. With
draw lanes the seat r seats after the dealer takes as its draw d (from 0 on) the tile at position r + 4 d of the live
wall. If that tile is gone or belongs to the dead wall, it takes the next tile that is not; after the last position
comes the first one. Each kan moves the last undrawn tile into the dead wall, so the number of draws does not change.
Who draws where follows from what all seats have seen, and undrawn tiles are exchangeable: the law of the game is the
same as without lanes (docs/evaluation.md). ``wall`` stays in drawing order, as if nobody called from now on. So a log
of the game is replayed like any other log, and planes that show the next draws (features/oracle.py) are right.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi import rules as rule
from suphx.games.riichi import table as codes
from suphx.games.riichi.ending import end_by_draw, end_by_wins, end_exhaustive
from suphx.games.riichi.legal import (
    chi_forbidden,
    dealer_of,
    fill_claim,
    fill_own_turn,
    has_four_kans_draw,
    is_closed_kan_robbed,
    may_rob,
    pon_forbidden,
    tiles_left,
)
from suphx.games.riichi.shanten import tenpai_discards, waiting_kinds
from suphx.games.riichi.table import Table, add_to_hand, chi_position, remove_from_hand
from suphx.games.riichi.tile import face_of_id, is_red, kind_of_face, num_red, red_bit, red_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I16

_DRAWN = -1


@jit
def reorder_draws(t: Table) -> None:
    """Bring the undrawn tiles into drawing order after a call or a kan of ``t.turn``; the next seat draws next."""
    first = t.next_draw - codes.DEALT
    tiles = np.full(codes.NUM_DRAWS, _DRAWN, np.int16)  # by position
    for i in range(first, codes.NUM_DRAWS):
        tiles[t.draw_places[i]] = t.wall[codes.DEALT + i]
    end, num_dead = codes.NUM_DRAWS, t.num_kans  # the last undrawn tiles belong to the dead wall, one for each kan
    while num_dead > 0:
        end -= 1
        num_dead -= tiles[end] != _DRAWN
    # A turn begins with a draw from the live wall or with a meld of another seat's tile, and all turns but the running
    # one have ended with a discard.
    draws = np.zeros(4, np.int64)
    for seat in range(4):
        draws[seat] = t.river_length[seat] + (seat == t.turn)
        for i in range(t.num_melds[seat]):
            draws[seat] -= t.meld_type[seat, i] != ANKAN_MELD
    seat = t.turn
    for i in range(first, first + tiles_left(t)):
        seat = (seat + 1) % 4
        position = (seat - dealer_of(t)) % 4 + 4 * draws[seat]
        while position >= end or tiles[position] == _DRAWN:
            position = position + 1 if position < end else 0
        _put(t, i, tiles, position)
        draws[seat] += 1
    position = end
    for i in range(first + tiles_left(t), codes.NUM_DRAWS):
        while tiles[position] == _DRAWN:
            position += 1
        _put(t, i, tiles, position)


@jit
def _put(t: Table, i: int, tiles: I16, position: int) -> None:
    t.wall[codes.DEALT + i] = tiles[position]
    t.draw_places[i] = position
    tiles[position] = _DRAWN


_ALL_KINDS = (1 << 34) - 1


@jit
def start_kyoku(t: Table, suits: Suits) -> None:
    """Deal ``t.wall`` and let the dealer draw; scores, kyoku, honba and kyotaku stay as they are."""
    _clear(t)
    dealer = dealer_of(t)
    for i in range(52):
        # Three rounds of four tiles for each seat, then one tile each.
        place = i // 4 % 4 if i < 48 else i % 4
        add_to_hand(t, (dealer + place) % 4, face_of_id(t.wall[i], t.red_fives))
    t.next_draw = 52
    for i in range(codes.NUM_DRAWS):
        t.draw_places[i] = i
    t.num_dora = 1
    for seat in range(4):
        t.waits[seat] = waiting_kinds(suits, t.hand[seat], 0)
    _draw(t, dealer)
    fill_own_turn(t, suits)


@jit
def _clear(t: Table) -> None:
    t.num_kans = t.num_dora = t.pending_dora = t.num_calls = 0
    t.hand[:] = 0
    t.red[:] = 0
    t.drawn = -1
    t.is_rinshan = 0
    t.num_melds[:] = 0
    t.meld_type[:] = 0
    t.meld_kind[:] = 0
    t.meld_tile[:] = 0
    t.meld_from[:] = 0
    t.meld_red[:] = 0
    t.river_length[:] = 0
    t.river[:] = 0
    t.river_flags[:] = 0
    t.river_kinds[:] = 0
    t.riichi[:] = 0
    t.is_stick_due = 0
    t.ippatsu[:] = 0
    t.passed_kinds[:] = 0
    t.missed_win[:] = 0
    t.pao_dragons[:] = -1
    t.pao_winds[:] = -1
    t.claimed_face = -1
    t.claim_actions[:] = -1
    t.forbidden = 0
    t.is_first_turn[:] = 1
    t.result = t.num_wins = 0
    t.win_seat[:] = 0
    t.win_loser[:] = 0
    t.win_liable[:] = -1
    t.win_face[:] = 0
    t.win_han[:] = 0
    t.win_fu[:] = 0
    t.win_yakuman[:] = 0
    t.win_dora[:] = 0
    t.win_red[:] = 0
    t.win_ura[:] = 0
    t.win_yaku[:] = 0
    t.win_points[:] = 0
    t.win_deltas[:] = 0
    t.tenpai[:] = 0
    t.deltas[:] = 0


@jit
def _draw(t: Table, seat: int) -> None:
    """Draw from the live wall: it is the seat's turn."""
    face = face_of_id(t.wall[t.next_draw], t.red_fives)
    t.next_draw += 1
    t.is_rinshan = 0
    _begin_turn(t, seat, face)


@jit
def _draw_rinshan(t: Table, seat: int) -> None:
    """Draw the tile of the kan just made."""
    face = face_of_id(t.wall[codes.RINSHAN[t.num_kans - 1]], t.red_fives)
    t.is_rinshan = 1
    _begin_turn(t, seat, face)
    if t.has_draw_lanes:
        reorder_draws(t)


@jit
def _begin_turn(t: Table, seat: int, face: int) -> None:
    add_to_hand(t, seat, face)
    t.drawn = face
    t.turn = t.actor = seat
    t.phase = codes.OWN_TURN
    t.forbidden = 0


@jit
def step(t: Table, suits: Suits, action: int) -> None:
    """Apply a legal ``action`` of ``t.actor``; afterwards the table waits again, or ``phase`` is KYOKU_END."""
    t.num_decisions += 1
    if t.phase == codes.CLAIM or t.phase == codes.ROB_KAN:
        t.claim_actions[t.actor] = action
    elif action <= codes.TSUMOGIRI:
        _discard(t, suits, action)
    elif action == codes.RIICHI:
        seat = t.actor
        t.riichi[seat] = 2 if t.is_first_turn[seat] else 1
        t.is_stick_due = 1
        t.phase = codes.RIICHI_DISCARD
        t.forbidden = _ALL_KINDS & ~tenpai_discards(suits, t.hand[seat], t.num_melds[seat])
    elif action == codes.TSUMO:
        end_by_wins(t, 1 << t.actor)
    elif action == codes.NINE_TERMINALS:
        end_by_draw(t, codes.NINE_TERMINALS_DRAW)
    else:
        _declare_kan(t, suits, action)
    if (t.phase == codes.CLAIM or t.phase == codes.ROB_KAN) and not _next_claimer_decides(t):
        _close_window(t, suits)
    if t.phase == codes.OWN_TURN or t.phase == codes.RIICHI_DISCARD or t.phase == codes.CALL_DISCARD:
        fill_own_turn(t, suits)


@jit
def _discard(t: Table, suits: Suits, action: int) -> None:
    seat = t.actor
    is_tsumogiri = action == codes.TSUMOGIRI
    face = t.drawn if is_tsumogiri else action
    remove_from_hand(t, seat, face)
    t.num_dora += t.pending_dora
    t.pending_dora = 0
    place = t.river_length[seat]
    t.river[seat, place] = face
    t.river_flags[seat, place] = (codes.TSUMOGIRI_FLAG if is_tsumogiri else 0) | (
        codes.RIICHI_FLAG if t.is_stick_due else 0
    )
    t.river_length[seat] = place + 1
    t.river_kinds[seat] |= 1 << kind_of_face(face)
    t.is_first_turn[seat] = 0
    t.ippatsu[seat] = 1 if t.is_stick_due and t.rule_flags & rule.IPPATSU else 0
    if t.missed_win[seat] == 1:
        t.missed_win[seat] = 0
    t.drawn = -1
    t.is_rinshan = 0
    t.forbidden = 0
    if t.riichi[seat] == 0 or t.is_stick_due:
        t.passed_kinds[seat] = 0
        t.waits[seat] = waiting_kinds(suits, t.hand[seat], t.num_melds[seat])
    _open_window(t, codes.CLAIM, face)


@jit
def _open_window(t: Table, phase: int, face: int) -> None:
    t.phase = phase
    t.claimed_face = face
    t.claim_actions[:] = -1


@jit
def _next_claimer_decides(t: Table) -> bool:
    """Let the next seat after the actor that may claim become the actor; return whether there is one."""
    for distance in range((t.actor - t.turn) % 4 + 1, 4):
        seat = (t.turn + distance) % 4
        if fill_claim(t, seat):
            t.actor = seat
            return True
    return False


@jit
def _close_window(t: Table, suits: Suits) -> None:
    """Resolve all claims: ron before pon and kan, these before chi (rule)."""
    kind = kind_of_face(t.claimed_face)
    is_closed_kan = is_closed_kan_robbed(t)
    rons = 0
    num_rons = 0
    for seat in range(4):
        if t.claim_actions[seat] == codes.RON:
            rons |= 1 << seat
            num_rons += 1
        elif seat != t.turn:
            if not is_closed_kan:
                t.passed_kinds[seat] |= 1 << kind
            if t.waits[seat] >> kind & 1 and may_rob(t, seat):
                t.missed_win[seat] = 2 if t.riichi[seat] else max(1, t.missed_win[seat])
    if num_rons == 3 and t.max_rons == 2:
        end_by_draw(t, codes.TRIPLE_RON_DRAW)
    elif num_rons > 0:
        end_by_wins(t, rons)
    elif t.phase == codes.ROB_KAN:
        _complete_kan(t, is_closed_kan)
    else:
        _after_discard(t, suits)


@jit
def _after_discard(t: Table, suits: Suits) -> None:
    """Go on after a discard without a ron: riichi stick, then abortive draws, then claims, then the next draw."""
    if t.is_stick_due:
        t.is_stick_due = 0
        t.scores[t.turn] -= 1000
        t.kyotaku += 1
    draw = _abortive_draw(t)
    if draw != 0:
        end_by_draw(t, draw)
        return
    claimer = -1
    for seat in range(4):
        action = t.claim_actions[seat]
        if codes.PON <= action <= codes.MINKAN or (codes.CHI <= action < codes.CHI_RED + 3 and claimer < 0):
            claimer = seat
    if claimer >= 0:
        _claim(t, suits, claimer, t.claim_actions[claimer])
    elif tiles_left(t) == 0:
        end_exhaustive(t)
    else:
        _draw(t, (t.turn + 1) % 4)


@jit
def _abortive_draw(t: Table) -> int:
    """Return the abortive draw that the last discard brings about, or 0."""
    num_riichi = 0
    has_four_winds = t.num_calls == 0
    first = t.river[t.turn, 0]
    for seat in range(4):
        num_riichi += t.riichi[seat] != 0
        has_four_winds &= t.river_length[seat] == 1 and t.river[seat, 0] == first
    rules = t.rule_flags
    if num_riichi == 4 and rules & rule.DRAW_BY_FOUR_RIICHI:
        return codes.FOUR_RIICHI_DRAW
    if has_four_winds and 27 <= first < 31 and rules & rule.DRAW_BY_FOUR_WINDS:
        return codes.FOUR_WINDS_DRAW
    if has_four_kans_draw(t):
        return codes.FOUR_KANS_DRAW
    return 0


@jit
def _claim(t: Table, suits: Suits, seat: int, action: int) -> None:
    """Give the discard to ``seat``: pon, open kan or chi."""
    face = t.claimed_face
    kind = kind_of_face(face)
    t.river_flags[t.turn, t.river_length[t.turn] - 1] |= codes.CALLED_FLAG
    t.forbidden = pon_forbidden(kind, t.rule_flags)
    lowest = kind
    if action == codes.MINKAN:
        meld_type = MINKAN_MELD
        has_red = _use(t, seat, kind, 3, True)
    elif codes.PON <= action <= codes.PON_RED:
        meld_type = PON_MELD
        has_red = _use(t, seat, kind, 2, action == codes.PON_RED)
    else:
        meld_type = CHI_MELD
        position = chi_position(action)
        lowest = kind - position
        t.forbidden = chi_forbidden(kind, position, t.rule_flags)
        has_red = 0
        for other in range(lowest, lowest + 3):
            if other != kind:
                has_red += _use(t, seat, other, 1, action >= codes.CHI_RED)
    _add_meld(t, seat, meld_type, lowest, face, t.turn, has_red + is_red(face))
    t.num_calls += 1
    t.is_first_turn[:] = 0
    t.ippatsu[:] = 0
    if action == codes.MINKAN:
        _add_kan(t, False)
        t.waits[seat] = waiting_kinds(suits, t.hand[seat], t.num_melds[seat])
        _draw_rinshan(t, seat)
        return
    t.turn = t.actor = seat
    t.phase = codes.CALL_DISCARD
    if t.has_draw_lanes:
        reorder_draws(t)


@jit
def _use(t: Table, seat: int, kind: int, count: int, takes_red: bool) -> int:
    """Move ``count`` tiles of a kind out of a hand, the red one too if wanted; return the red ones among them."""
    t.hand[seat, kind] -= count
    if takes_red and num_red(t.red[seat], kind):
        t.red[seat] &= ~red_bit(red_face(kind))
        return 1
    return 0


@jit
def _add_meld(t: Table, seat: int, meld_type: int, kind: int, face: int, source: int, num_red: int) -> None:
    i = t.num_melds[seat]
    t.meld_type[seat, i] = meld_type
    t.meld_kind[seat, i] = kind
    t.meld_tile[seat, i] = face
    t.meld_from[seat, i] = source
    t.meld_red[seat, i] = num_red
    t.num_melds[seat] = i + 1
    if source != seat:
        _note_liability(t, seat, kind, source)


@jit
def _note_liability(t: Table, seat: int, kind: int, source: int) -> None:
    """Remember who fed the last set of big three dragons or big four winds (pao)."""
    dragons = winds = 0
    for i in range(t.num_melds[seat]):
        if t.meld_type[seat, i] != CHI_MELD:
            dragons += t.meld_kind[seat, i] >= 31
            winds += 27 <= t.meld_kind[seat, i] < 31
    if kind >= 31 and dragons == 3:
        t.pao_dragons[seat] = source
    if 27 <= kind < 31 and winds == 4:
        t.pao_winds[seat] = source


@jit
def _add_kan(t: Table, is_closed: bool) -> None:
    """Count a kan; turn over the dora of the one before and, at once or with the next discard, its own."""
    t.num_dora += t.pending_dora
    t.pending_dora = 0
    t.num_kans += 1
    if t.rule_flags & rule.KAN_DORA:
        if is_closed or t.rule_flags & rule.KAN_DORA_AT_ONCE:
            t.num_dora += 1
        else:
            t.pending_dora = 1


@jit
def _declare_kan(t: Table, suits: Suits, action: int) -> None:
    """Declare an own kan: others may rob an added one, and by some rules a closed one, before it is completed."""
    seat = t.actor
    is_closed = action < codes.KAKAN
    if is_closed:
        face = action - codes.ANKAN
        _add_meld(t, seat, ANKAN_MELD, face, -1, seat, _use(t, seat, face, 4, True))
    else:
        kind = action - codes.KAKAN
        face = red_face(kind) if num_red(t.red[seat], kind) else kind
        remove_from_hand(t, seat, face)
        for i in range(t.num_melds[seat]):
            if t.meld_type[seat, i] == PON_MELD and t.meld_kind[seat, i] == kind:
                t.meld_type[seat, i] = KAKAN_MELD
                t.meld_red[seat, i] += is_red(face)
    t.drawn = -1
    t.waits[seat] = waiting_kinds(suits, t.hand[seat], t.num_melds[seat])
    if is_closed and not t.rule_flags & rule.KOKUSHI_ROBS_CLOSED_KAN:
        _complete_kan(t, True)
    else:
        _open_window(t, codes.ROB_KAN, face)


@jit
def _complete_kan(t: Table, is_closed: bool) -> None:
    """Complete a kan that no seat robs, and draw its rinshan tile."""
    t.num_calls += is_closed
    t.is_first_turn[:] = 0
    t.ippatsu[:] = 0
    _add_kan(t, is_closed)
    _draw_rinshan(t, t.turn)
