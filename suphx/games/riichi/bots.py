"""The scripted agents random, tsumogiri and ukeire, and the rule by which all agents win; all as kernels.

Each kernel chooses one legal action for the actor of a waiting table and reads nothing that is hidden from it.
``ukeire`` goes for shanten and ukeire with a simple defence against riichi. ``should_win`` is the rule-based winning
model (paper, Figure 1): win, unless the win ends the game and leaves us last. ``play_random`` plays whole games between
random agents inside one kernel:

>>> play = play_random(1000, tenhou(), seed=7)
>>> play.decisions.sum() / 1000  # decisions a hanchan

At the end are tables from the view of one seat: scripted players answer for the others, and the seat's planes go into
its row. These kernels do the work of all environments (suphx/environments). Each writes into the rows of its caller's
arrays, so that hundreds of tables cost no copy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suphx.games.mahjong.planes import PlaneLayout
from suphx.games.mahjong.shanten import Suits, count_kinds, load_suits
from suphx.games.mahjong.tile import CHI_MELD, is_simple
from suphx.games.riichi import table as codes
from suphx.games.riichi.ending import count_dora, count_red, is_game_over, start_game
from suphx.games.riichi.features.encoder import Encoder, encode_decision, encode_observation, unpack_rows
from suphx.games.riichi.features.samples import list_own_kans
from suphx.games.riichi.features.suit_targets import Lookup, load_lookup
from suphx.games.riichi.kyoku import step
from suphx.games.riichi.legal import chi_forbidden, dealer_of, pon_forbidden, score_win
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import OPEN_TANYAO, Rules, apply_rules
from suphx.games.riichi.shanten import improving_kinds, shanten
from suphx.games.riichi.simulator import MAX_SEED, deal_next, finish_kyoku
from suphx.games.riichi.table import TABLE, Table, dora_kind, fill_unseen, place_of
from suphx.games.riichi.tile import is_red, kind_of_face
from suphx.games.riichi.yaku import STICK, base_points, pay_honba, pay_win
from suphx.kernel.jit import jit, map_on_threads
from suphx.kernel.random_number import mix
from suphx.kernel.record import I8, I32, I64, U8, Records


@jit
def fill_dangers(t: Table, seat: int, dangers: I64) -> bool:
    """Add to int64 (34,) how dangerous each kind is against every other seat in riichi; return whether there is one."""
    is_threatened = False
    for distance in range(1, 4):
        other = (seat + distance) % 4
        if t.riichi[other]:
            is_threatened = True
            safe = safe_kinds(t, other)
            for kind in range(34):
                if not safe >> kind & 1:
                    dangers[kind] += _danger(kind, t.river_kinds[other])
    return is_threatened


@jit
def safe_kinds(t: Table, other: int) -> int:
    """Return the bit set of kinds that ``other`` cannot win on: its river, and what it has let pass since its riichi.

    Without riichi: what it has let pass since its last discard (rule: furiten until the next one).
    """
    return t.river_kinds[other] | t.passed_kinds[other]


@jit
def _danger(kind: int, river: int) -> int:
    """Return 1 (suji terminals) to 10 (middle tiles without suji) for a kind that is not proven safe."""
    if kind >= 27:
        return 3
    number = kind % 9
    has_low = number >= 3 and river >> (kind - 3) & 1
    has_high = number <= 5 and river >> (kind + 3) & 1
    if number < 3:
        return (1 + number) if has_high else (5 + number)
    if number > 5:
        return (1 + 8 - number) if has_low else (5 + 8 - number)
    if has_low and has_high:
        return 3
    return 7 if has_low or has_high else 10


@jit
def should_win(t: Table) -> bool:
    """Tell whether the actor, who may win now, shall. Only the last planned deals can make it refuse.

    Ura dora are unknown and do not count; nor do other winners of the same tile.
    """
    if t.kyoku < 4 * t.num_winds - 1:
        return True
    seat = t.actor
    is_tsumo = t.phase == codes.OWN_TURN
    face = t.drawn if is_tsumo else t.claimed_face
    loser = seat if is_tsumo else t.turn
    dora = count_dora(t, seat, kind_of_face(face)) + count_red(t, seat, face)
    _, han, fu, yakuman = score_win(t, seat, kind_of_face(face), dora)
    scores = np.zeros(4, np.int32)  # after the win
    pay_win(seat, loser, dealer_of(t), base_points(han, fu, yakuman, t.rule_flags), scores)
    pay_honba(seat, loser, -1, t.honba, scores)
    for other in range(4):
        scores[other] += t.scores[other]
    scores[seat] += STICK * t.kyotaku
    return place_of(scores, seat) < 4 or seat == dealer_of(t) or not is_game_over(t, scores, False)


_BLOCK = 24  # actions that choose_random counts at once; divides NUM_ACTIONS


@jit
def choose_random(t: Table, number: int) -> int:
    """Return the legal action that ``number`` (any non-negative integer) falls on."""
    rest = number % t.num_legal
    first = 0
    for _ in range(codes.NUM_ACTIONS // _BLOCK):
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
    if t.legal[codes.TSUMO]:
        return codes.TSUMO
    if t.legal[codes.RON]:
        return codes.RON
    if t.legal[codes.TSUMOGIRI]:
        return codes.TSUMOGIRI
    return codes.PASS if t.legal[codes.PASS] else choose_random(t, 0)


@jit
def choose_ukeire(t: Table, suits: Suits) -> int:
    """Go for the least shanten and then for the most tiles that help; fold far hands when somebody is in riichi."""
    if t.legal[codes.TSUMO] or t.legal[codes.RON]:
        if should_win(t):
            return codes.TSUMO if t.legal[codes.TSUMO] else codes.RON
        if t.legal[codes.PASS]:
            return codes.PASS
    if t.phase == codes.CLAIM or t.phase == codes.ROB_KAN:
        return _choose_claim(t, suits)
    if t.legal[codes.NINE_TERMINALS]:
        return codes.NINE_TERMINALS
    seat = t.actor
    now = shanten(suits, t.hand[seat], t.num_melds[seat])
    dangers = np.zeros(34, np.int64)
    is_threatened = fill_dangers(t, seat, dangers)
    if t.legal[codes.RIICHI]:
        return codes.RIICHI
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
        kind = (candidates[i] - codes.ANKAN) % 34
        count = hand[kind]
        hand[kind] = 0 if candidates[i] < codes.KAKAN else count - 1
        melds = t.num_melds[t.actor] + (candidates[i] < codes.KAKAN)
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
    best = codes.TSUMOGIRI
    best_value = -(1 << 60)
    for action in range(codes.TSUMOGIRI + 1):
        if t.legal[action]:
            kind = kind_of_face(t.drawn if action == codes.TSUMOGIRI else action)
            has_red = is_red(action) if action < codes.TSUMOGIRI else is_red(t.drawn)
            value = -_keep_value(t, seat, kind) - (50 if has_red else 0)
            if folds:
                value -= 1000 * dangers[kind]
            else:
                hand[kind] -= 1
                after = shanten(suits, hand, t.num_melds[seat])
                ukeire = count_kinds(improving_kinds(suits, hand, t.num_melds[seat], after), unseen)
                hand[kind] += 1
                value += -1_000_000 * after + 100 * ukeire - 20 * dangers[kind]
            if value > best_value:
                best = action
                best_value = value
    return best


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
    if t.phase == codes.ROB_KAN or not t.legal[codes.PASS]:
        return codes.PASS
    seat = t.actor
    dangers = np.zeros(34, np.int64)
    is_threatened = fill_dangers(t, seat, dangers)
    kind = kind_of_face(t.claimed_face)
    hand = t.hand[seat]
    now = shanten(suits, hand, t.num_melds[seat])
    if is_threatened and now >= 2:
        return codes.PASS
    best = codes.PASS
    best_after = now
    if (t.legal[codes.PON] or t.legal[codes.PON_RED]) and (
        is_yakuhai(t, seat, kind) or _has_yaku(t, seat) or _is_all_simple(t, seat, kind, kind)
    ):
        after = _after_claim(suits, hand, t.num_melds[seat], kind, kind, pon_forbidden(kind, t.rule_flags))
        if after < best_after:
            best_after = after
            best = codes.PON_RED if t.legal[codes.PON_RED] else codes.PON
    for position in range(3):
        if not (t.legal[codes.CHI + position] or t.legal[codes.CHI_RED + position]):
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
            best = codes.CHI_RED + position if t.legal[codes.CHI_RED + position] else codes.CHI + position
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


GAMES_A_CALL = 8  # games that a thread takes at a time (3 ms): threads end at nearly the same moment

_MASK32 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """What ``play_random`` counted, game by game."""

    decisions: I32
    """int32 (n,): calls of ``step``, every answer to a possible claim included."""
    kyokus: I32
    """int32 (n,): deals."""


def play_random(num_hanchans: int, rules: Rules, *, seed: int = 0, num_threads: int = 1) -> RandomPlay:
    """Play games in which every seat chooses among its legal actions at random; game i has the wall seed seed + i.

    The result does not depend on ``num_threads``. ValueError for counts below 1 and for seeds outside 0 … 2**62 - 1.
    """
    if num_hanchans < 1 or num_threads < 1:
        raise ValueError(f"{num_hanchans} hanchans on {num_threads} threads: use at least one of each")
    if not 0 <= seed <= MAX_SEED - num_hanchans:
        raise ValueError(f"seed is {seed}: {num_hanchans} games need seeds in 0 … 2**62 - 1")
    suits = load_suits()
    play = RandomPlay(np.zeros(num_hanchans, np.int32), np.zeros(num_hanchans, np.int32))

    def play_part(first: int) -> None:
        table = np.zeros(1, TABLE)
        apply_rules(table, rules)
        part = slice(first, first + GAMES_A_CALL)
        _play(table, suits, rules.start_points, seed + first, play.decisions[part], play.kyokus[part])

    map_on_threads(play_part, range(0, num_hanchans, GAMES_A_CALL), num_threads)
    return play


@jit
def _play(tables: Records, suits: Suits, start_points: int, first_seed: int, decisions: I32, kyokus: I32) -> None:
    """Play one game for each element of ``decisions``; ``tables`` (1,) is scratch and must outlive its record."""
    t = tables[0]
    for i in range(len(decisions)):
        t.wall_seed = first_seed + i
        start_game(t, start_points)
        deal_next(t, suits)
        while t.phase != codes.GAME_END:
            # The same game in whatever batch.
            number = mix((int(t.wall_seed) * 0x9E3779B1 + int(t.num_decisions) * 0x85EBCA6B) & _MASK32)
            step(t, suits, choose_random(t, number))
            if t.phase == codes.KYOKU_END:
                finish_kyoku(t, suits)
        decisions[i] = t.num_decisions
        kyokus[i] = t.num_kyoku


EVERY_SEAT = -1
"""The player's seat at a table where it answers for all four seats."""
NO_SCRIPT = -1
"""The script of an opponent that is not a scripted agent: ``play_to_seats`` stops at its decisions."""


@jit
def advance_tables(tables: Records, suits: Suits, indices: I64, actions: I64, settled: I32) -> None:
    """Apply one legal action at each of the tables ``indices``; a kyoku that ends is followed by the next one.

    ``settled``, int32 [n, 4], gets the scores of a table when a kyoku ends: those between kyokus, without the sticks of
    the present one.
    """
    for i in range(len(indices)):
        _advance(tables[indices[i]], suits, actions[i], settled[indices[i]])


@jit
def play_to_seats(
    tables: Records, suits: Suits, indices: I64, seats: I64, scripts: I64, settled: I32
) -> None:  # fmt: skip
    """Play the scripted opponents of the tables ``indices`` until the player decides or the game is over.

    ``seats``, int64 (n,): the player's seat of each table, or EVERY_SEAT. ``scripts``, int64 (4,): the scripted agent
    of each seat (``choose_scripted``), counted from the player's, or NO_SCRIPT. ``settled`` as in ``advance_tables``.
    """
    for i in range(len(indices)):
        index = indices[i]
        t = tables[index]
        seat = seats[index]
        while seat != EVERY_SEAT and t.phase != codes.GAME_END and t.actor != seat:
            script = scripts[(t.actor - seat) % 4]
            if script == NO_SCRIPT:
                break
            _advance(t, suits, choose_scripted(t, suits, script), settled[index])


@jit
def _advance(t: Table, suits: Suits, action: int, settled: I32) -> None:
    step(t, suits, action)
    if t.phase == codes.KYOKU_END:
        finish_kyoku(t, suits)
        settled[:] = t.scores


@jit
def see_tables(
    encoder_id: int, num_planes: int, lookup: Lookup, tables: Records, indices: I64, seats: I64, rows: U8, masks: I8
) -> None:  # fmt: skip
    """Fill the rows ``indices`` of ``rows``, uint8 [n, observation_bytes], and ``masks``, int8 [n, 120], for a seat.

    A row has the ``num_planes`` public planes of the encoder, and behind them those of the decision
    (``decision_layout``). ``seats``, int64 (n,): the observing seat of each table, or EVERY_SEAT for the one that
    decides. The mask has the legal actions of a seat that decides and is empty for the others, and for all at the end
    of a game.
    """
    for i in range(len(indices)):
        index = indices[i]
        t = tables[index]
        masks[index, :] = 0
        seat = t.actor if seats[index] == EVERY_SEAT else seats[index]
        encode_observation(encoder_id, lookup, t, seat, DISCARD_HEAD, -1, rows[index])
        encode_decision(t, seat, num_planes, rows[index])
        if seat == t.actor and t.phase != codes.GAME_END:
            masks[index, :] = t.legal


def observe_seats(
    encoder: Encoder, layout: PlaneLayout, tables: Records, seats: I64, *, packed: bool
) -> tuple[U8, I8]:  # fmt: skip
    """Return what ``seats``, int64 (n,), see at ``tables``, TABLE (n,), and their legal actions, int8 [n, 120].

    ``layout``: ``decision_layout`` of the encoder. Observations are uint8 [n, planes, 34] of 0 and 1; ``packed``: uint8
    [n, observation_bytes]. ``seats`` and masks as in ``see_tables``.
    """
    rows, masks = np.empty((len(tables), layout.observation_bytes), np.uint8), np.empty(tables["legal"].shape, np.int8)
    see_tables(encoder.id, encoder.public.num_planes, load_lookup(), tables, np.arange(len(tables)), seats, rows, masks)
    return rows if packed else unpack_rows(rows, layout.num_planes), masks
