"""The scripted agents: random, tsumogiri, and shanten-and-ukeire with simple defence; all as kernels.

Each kernel chooses one legal action for the actor of a waiting table and reads nothing that is hidden from it.
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.bots.danger import fill_dangers, fill_unseen
from suphx.games.riichi.bots.win_rule import should_win
from suphx.games.riichi.engine.legal import chi_forbidden, dealer_of, pon_forbidden
from suphx.games.riichi.features.samples import list_own_kans
from suphx.games.riichi.hand.shanten import count_kinds, improving_kinds, shanten
from suphx.games.riichi.hand.suit_table import Suits
from suphx.games.riichi.table.action import (
    ANKAN,
    CHI,
    CHI_RED,
    KAKAN,
    NINE_TERMINALS,
    NUM_ACTIONS,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from suphx.games.riichi.table.red_five import is_red
from suphx.games.riichi.table.rule_flag import OPEN_TANYAO
from suphx.games.riichi.table.table import CHI_MELD, CLAIM, ROB_KAN, Table
from suphx.games.riichi.table.tile import is_simple, kind_of_face
from suphx.games.riichi.table.wall import dora_kind
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

_BLOCK = 24  # actions that choose_random counts at once; divides NUM_ACTIONS


@jit
def choose_random(t: Table, number: int) -> int:
    """Return the legal action that ``number`` (any non-negative integer) falls on."""
    rest = number % t.num_legal
    first = 0
    for _ in range(NUM_ACTIONS // _BLOCK):
        count = 0
        for action in range(first, first + _BLOCK):
            count += t.legal[action]
        if rest < count:
            break
        rest -= count
        first += _BLOCK
    # Without a branch: an action that is chosen at random cannot be predicted.
    chosen = first
    for action in range(first, first + _BLOCK):
        rest -= t.legal[action]
        chosen += rest >= 0
    return chosen


@jit
def choose_scripted(t: Table, suits: Suits, script: int) -> int:
    """Return what a scripted agent does: 0 random, 1 tsumogiri, 2 ukeire.

    ``random`` depends on the game's own seed and counters only: the same game whatever else is in the batch.
    """
    if script == 0:
        mixed = (t.wall_seed * 0x5851F42D + t.num_kyoku * 0x9E3779B1 + t.num_decisions * 0x85EBCA6B) & 0xFFFFFFFF
        mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
        return choose_random(t, mixed ^ mixed >> 13)
    return choose_tsumogiri(t) if script == 1 else choose_ukeire(t, suits)


@jit
def choose_tsumogiri(t: Table) -> int:
    """Discard what was drawn, claim nothing, win whenever possible.

    After a claim, which another agent has made for this seat, nothing was drawn: the first legal discard.
    """
    if t.legal[TSUMO]:
        return TSUMO
    if t.legal[RON]:
        return RON
    if t.legal[TSUMOGIRI]:
        return TSUMOGIRI
    return PASS if t.legal[PASS] else choose_random(t, 0)


@jit
def choose_ukeire(t: Table, suits: Suits) -> int:
    """Go for the least shanten and then for the most tiles that help; fold far hands when somebody is in riichi."""
    if t.legal[TSUMO] or t.legal[RON]:
        if should_win(t):
            return TSUMO if t.legal[TSUMO] else RON
        if t.legal[PASS]:
            return PASS
    if t.phase == CLAIM or t.phase == ROB_KAN:
        return _choose_claim(t, suits)
    if t.legal[NINE_TERMINALS]:
        return NINE_TERMINALS
    seat = t.actor
    now = shanten(suits, t.hand[seat], t.num_melds[seat])
    dangers = np.zeros(34, np.int64)
    is_threatened = fill_dangers(t, seat, dangers)
    if t.legal[RIICHI]:
        return RIICHI
    if not (is_threatened and now > 0):
        kan = _choose_kan(t, suits, now)
        if kan >= 0:
            return kan
    return _choose_discard(t, suits, dangers, is_threatened and now >= 2)


@jit
def _choose_kan(t: Table, suits: Suits, now: int) -> int:
    """Return a closed or added kan that does not take the hand back, or -1."""
    candidates = np.zeros(40, np.int64)
    hand = t.hand[t.actor]
    for i in range(list_own_kans(t, candidates)):
        kind = (candidates[i] - ANKAN) % 34
        count = hand[kind]
        hand[kind] = 0 if candidates[i] < KAKAN else count - 1
        melds = t.num_melds[t.actor] + (candidates[i] < KAKAN)
        after = shanten(suits, hand, melds)
        hand[kind] = count
        # Before the kan the hand has one tile more to discard: equal shanten loses nothing.
        if after <= max(now, 0):
            return candidates[i]
    return -1


@jit
def _choose_discard(t: Table, suits: Suits, dangers: I64, folds: bool) -> int:
    """Return the discard with the least shanten and the most ukeire; the least dangerous one when it folds."""
    seat = t.actor
    hand = t.hand[seat]
    unseen = np.zeros(34, np.int8)
    fill_unseen(t, seat, unseen)
    best = TSUMOGIRI
    best_value = -(1 << 60)
    for action in range(TSUMOGIRI + 1):
        if t.legal[action]:
            kind = kind_of_face(t.drawn if action == TSUMOGIRI else action)
            has_red = is_red(action) if action < TSUMOGIRI else is_red(t.drawn)
            value = -_keep_value(t, seat, kind) - (50 if has_red else 0)
            if folds:
                value -= 1000 * dangers[kind]
            else:
                value += _progress(suits, hand, t.num_melds[seat], kind, unseen) - 20 * dangers[kind]
            if value > best_value:
                best = action
                best_value = value
    return best


@jit
def _progress(suits: Suits, hand: I8, num_melds: int, kind: int, unseen: I8) -> int:
    """Return how good the hand is after discarding ``kind``: first by shanten, then by unseen helping tiles."""
    hand[kind] -= 1
    after = shanten(suits, hand, num_melds)
    ukeire = count_kinds(improving_kinds(suits, hand, num_melds, after), unseen)
    hand[kind] += 1
    return -1_000_000 * after + 100 * ukeire


@jit
def _keep_value(t: Table, seat: int, kind: int) -> int:
    """Return a small number: how much rather one keeps a kind when progress is equal (dora, yakuhai, middle tiles)."""
    value = 0
    for i in range(t.num_dora):
        if dora_kind(t.wall, i) == kind:
            value += 40
    if is_yakuhai(t, seat, kind):
        value += 8
    elif kind < 27:
        value += 4 + min(kind % 9, 8 - kind % 9)
    return value


@jit
def is_yakuhai(t: Table, seat: int, kind: int) -> bool:
    """Tell whether three of ``kind`` are a yaku for ``seat``: dragons, its wind, the round's wind."""
    return kind >= 31 or kind == 27 + (seat - dealer_of(t)) % 4 or kind == 27 + t.kyoku // 4


@jit
def _choose_claim(t: Table, suits: Suits) -> int:
    """Claim what lowers the shanten of a hand that then has a yaku: a yakuhai set, or all simples."""
    if t.phase == ROB_KAN or not t.legal[PASS]:
        return PASS
    seat = t.actor
    dangers = np.zeros(34, np.int64)
    is_threatened = fill_dangers(t, seat, dangers)
    kind = kind_of_face(t.claimed_face)
    hand = t.hand[seat]
    now = shanten(suits, hand, t.num_melds[seat])
    if is_threatened and now >= 2:
        return PASS
    best = PASS
    best_after = now
    if (t.legal[PON] or t.legal[PON_RED]) and (
        is_yakuhai(t, seat, kind) or _has_yaku(t, seat) or _is_all_simple(t, seat, kind, kind)
    ):
        after = _after_claim(suits, hand, t.num_melds[seat], kind, kind, pon_forbidden(kind, t.rule_flags))
        if after < best_after:
            best_after = after
            best = PON_RED if t.legal[PON_RED] else PON
    for position in range(3):
        if not (t.legal[CHI + position] or t.legal[CHI_RED + position]):
            continue
        lowest = kind - position
        if not (_has_yaku(t, seat) or _is_all_simple(t, seat, lowest, lowest + 2)):
            continue
        first = lowest + (position == 0)
        second = lowest + 2 - (position == 2)
        forbidden = chi_forbidden(kind, position, t.rule_flags)
        after = _after_claim(suits, hand, t.num_melds[seat], first, second, forbidden)
        if after < best_after:
            best_after = after
            best = CHI_RED + position if t.legal[CHI_RED + position] else CHI + position
    return best


@jit
def _after_claim(suits: Suits, hand: I8, num_melds: int, first: int, second: int, forbidden: int) -> int:
    """Return the least shanten after a claim with two tiles of the hand and its discard."""
    hand[first] -= 1
    hand[second] -= 1
    best = 99
    for kind in range(34):
        if hand[kind] > 0 and not forbidden >> kind & 1:
            hand[kind] -= 1
            best = min(best, shanten(suits, hand, num_melds + 1))
            hand[kind] += 1
    hand[first] += 1
    hand[second] += 1
    return best


@jit
def _has_yaku(t: Table, seat: int) -> bool:
    """Tell whether a meld or a concealed triplet already is a yakuhai."""
    for i in range(t.num_melds[seat]):
        if t.meld_type[seat, i] != CHI_MELD and is_yakuhai(t, seat, t.meld_kind[seat, i]):
            return True
    has_triplet = False
    for kind in range(27, 34):
        has_triplet |= t.hand[seat, kind] >= 3 and is_yakuhai(t, seat, kind)
    return has_triplet


@jit
def _is_all_simple(t: Table, seat: int, low: int, high: int) -> bool:
    """Tell whether the hand is on the way to all simples: melds and the new one are, at most two tiles are not."""
    if not is_simple(low) or not is_simple(high) or not t.rule_flags & OPEN_TANYAO:
        return False
    for i in range(t.num_melds[seat]):
        kind = t.meld_kind[seat, i]
        if not is_simple(kind) or (t.meld_type[seat, i] == CHI_MELD and not is_simple(kind + 2)):
            return False
    others = 0
    for kind in range(34):
        if not is_simple(kind):
            others += t.hand[seat, kind]
    return others <= 2
