"""The agent ``fan_plan``: it plays for hands of at least 8 fan, weighted by how likely it completes them.

A *target* is a complete hand with the melds as they are. Its chance is a product over the tiles that it lacks: how
likely an unseen copy is drawn, or claimed, before the game ends. Targets come from *plans*: three sets with a fan, such
as a mixed straight, one more set and a pair; four sets of a class, such as the tiles of a half flush; knitted tiles;
seven pairs; any sets if the hand is nearly complete. The rules say what a target counts. One of less than 8 fan is left
out, so a plan that can no longer be reached has no targets.

A hand is worth the sum of chance times payment over its targets. The agent discards the tile that the least worth
needs, claims a discard if the hand is worth more with the meld, and declares a kong that costs little. Nets can see
what the moves are worth (features.py).
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.games.mahjong.claims import claimed_meld
from suphx.games.mahjong.shanten import Suits, standard_shanten
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, EAST, HONOUR_BITS, TERMINAL_AND_HONOUR_BITS, add_meld
from suphx.games.mcr import fan_table as fan
from suphx.games.mcr.fan_table import large_fan, lowest_bit, settle, small_fan
from suphx.games.mcr.fans import fans_of_kinds
from suphx.games.mcr.set_fans import fans_of_sets
from suphx.games.mcr.table import CHOW, CLAIM, DISCARD, KONG, NUM_ACTIONS, NUM_KINDS, OWN_TURN, PASS, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, Records, field, record_dtype

# Sets by number: chows as in set_fans.py, 7 * suit + lowest rank, then pungs and kongs, 21 + kind.
_PUNG = 21
_NUM_SETS = _PUNG + NUM_KINDS
_LOWEST = np.array([*(number // 7 * 9 + number % 7 for number in range(_PUNG)), *range(NUM_KINDS)])
_KINDS_OF = np.array([(7 if number < _PUNG else 1) << int(_LOWEST[number]) for number in range(_NUM_SETS)])
_ALL_KINDS = (1 << NUM_KINDS) - 1


def _triples() -> list[tuple[int, int, int, int]]:
    """Return plans of three chows: their numbers and that of the fan."""
    found = []
    for a, b, c in permutations((0, 7, 14)):
        found += [(a + r, b + r + 1, c + r + 2, fan.MIXED_SHIFTED_CHOWS) for r in range(5)]
        found += [(a, b + 3, c + 6, fan.MIXED_STRAIGHT)]
    found += [(r, 7 + r, 14 + r, fan.MIXED_TRIPLE_CHOW) for r in range(7)]
    for a in (0, 7, 14):
        found += [(a, a + 3, a + 6, fan.PURE_STRAIGHT)]
        found += [(a + r, a + r, a + r, fan.PURE_TRIPLE_CHOW) for r in range(7)]
        for by in (1, 2):
            found += [(a + r, a + r + by, a + r + 2 * by, fan.PURE_SHIFTED_CHOWS) for r in range(7 - 2 * by)]
    return found


def _sets_of(kinds: int, first: int = 0) -> int:
    """Return the sets, from the number ``first`` on, that have no kinds but these."""
    return sum(1 << number for number in range(first, _NUM_SETS) if not int(_KINDS_OF[number]) & ~kinds)


def _classes() -> list[tuple[int, int, int]]:
    """Return plans of four sets and a pair: bit sets of the sets, of the kinds of the pair, and of all kinds."""
    flushes = [0x1FF << 9 * suit | HONOUR_BITS for suit in range(3)]
    whole = [(_sets_of(kinds), kinds, kinds) for kinds in (*flushes, fan.UPPER_FOUR_KINDS, fan.LOWER_FOUR_KINDS)]
    pungs = (_sets_of(_ALL_KINDS, _PUNG), _ALL_KINDS, _ALL_KINDS)
    ends = TERMINAL_AND_HONOUR_BITS
    end_chows = [number for number in range(_PUNG) if int(_KINDS_OF[number]) & ends]
    outside = _sets_of(ends) | sum(1 << number for number in end_chows)
    return [*whole, pungs, (outside, ends, ends | sum(int(_KINDS_OF[number]) for number in end_chows))]


_TRIPLES = np.array(_triples())
_CLASSES = np.array(_classes())
# All Types: three suits, winds and dragons have a set or the pair each.
_PART_KINDS = np.array([0x1FF, 0x1FF << 9, 0x1FF << 18, fan.WIND_KINDS, fan.DRAGON_KINDS])
_PART_SETS = np.array([_sets_of(int(kinds)) for kinds in _PART_KINDS])
_PART_OF = np.array([next(part for part in range(5) if int(_PART_SETS[part]) >> i & 1) for i in range(_NUM_SETS)])
_KNITTED = np.array(
    [
        [*(9 * suit + order[suit] + 3 * i for suit in range(3) for i in range(3)), *range(EAST, NUM_KINDS)]
        for order in fan.KNITTED_ORDERS
    ]
)
"""The nine knitted tiles of the six orders, and the honours."""
_OF_CLASSES = (
    fan.HALF_FLUSH, fan.FULL_FLUSH, fan.UPPER_FOUR, fan.LOWER_FOUR, fan.ALL_PUNGS, fan.OUTSIDE_HAND, fan.ALL_TYPES,
)  # fmt: skip
_PLANNED = sum(1 << number - 1 for number in {*_OF_CLASSES, *(row[3] for row in _triples())})

# Rows of ``reach``: a tile is drawn, or claimed for a chow, a pung, or the win; how many times as many tiles come
# within reach so. The last three are divided by the first.
_DRAW, _CHOW_CLAIM, _PUNG_CLAIM, _WIN_CLAIM = range(4)
_TIMES = (1.0, 1.8, 2.8, 3.2)
_DRAWS_USED = 0.15  # the share of the draws left that is drawn before a game ends
_CUT = 0.05  # targets with a chance below this share of the best one's are left out
_PAYMENT = 30.0  # of a win, besides its fan
_SELF_DRAWN = 0.5  # the share that is left of a chance if only a self-drawn tile wins
_KONG_KEEPS = 0.9  # the share of the worth that has to be left after a kong, which draws once more
_FAR = 7
_MAX_LACKING = 4  # tiles of a target of a class
_OPEN = 9  # in ``lacks``: an open meld
_MELDED_HAND, _CONCEALED, _FULLY_CONCEALED = fan.VALUES[[fan.MELDED_HAND, fan.CONCEALED_HAND, fan.FULLY_CONCEALED_HAND]]


class Search:
    """What one decision knows and finds; integers are wide, as plain Python does not widen them."""

    hand: NDArray[Any] = field("i8", 34)  # the concealed tiles
    rest: I64 = field("i8", 34)  # those that the target does not use so far; below 0: it lacks so many
    unseen: I64 = field("i8", 34)
    reach: NDArray[np.float64] = field("f8", 4, 5)  # by way and unseen copies
    num_melds: int = field("i8")
    melds: I64 = field("i8", 4)  # sets
    meld_lacks: I64 = field("i8", 4)  # 0: a concealed kong, or _OPEN
    is_open: int = field("i8")  # there is an open meld
    round_wind: int = field("i8")
    seat: int = field("i8")
    minimum_fan: int = field("i8")
    useful: int = field("i8")  # the sets of which the hand has a tile
    sets: I64 = field("i8", 4)  # of the target
    lacks: I64 = field("i8", 4)  # how many tiles each of them lacks, or as ``meld_lacks``
    known_fan: int = field("i8")  # what all targets of the plan count; 0: the rules are asked
    left_out: int = field("i8")  # targets with one of these large fans do not count
    best: float = field("f8")  # the chance of the likeliest target
    fewest: int = field("i8")  # tiles that a target lacks
    worth: float = field("f8")
    worths: NDArray[np.float64] = field("f8", NUM_ACTIONS)  # of the hand after each legal move; a claim discards
    needed: NDArray[np.float64] = field("f8", 34)  # worth that is lost without a tile of the kind
    triples: NDArray[np.float64] = field("f8", len(_TRIPLES))  # their chances
    weights: NDArray[np.float64] = field("f8", 16)
    sums: NDArray[np.float64] = field("f8", 16)


SEARCH = np.dtype((np.record, record_dtype(Search)))


@jit
def choose_plan(t: Table, suits: Suits, unseen: I8) -> int:
    """Return the move of the seat that decides, which cannot win.

    ``unseen``, int8 (34,): how many tiles of each kind it does not see.
    """
    return weigh_moves(t, suits, unseen, np.zeros(1, SEARCH))


@jit
def weigh_moves(t: Table, suits: Suits, unseen: I8, searches: Records) -> int:
    """Return what ``choose_plan`` does, and fill ``worths`` of a search of zeros, (1,), which outlives its record."""
    s = searches[0]
    seat = t.actor
    s.hand[:] = t.hand[seat]
    s.unseen[:] = unseen
    if t.phase == CLAIM:
        s.unseen[t.claimed] -= 1
    s.round_wind, s.seat, s.minimum_fan = t.round_wind, seat, t.minimum_fan
    for i in range(t.num_melds[seat]):
        _add_to_melds(s, t.meld_type[seat, i], t.meld_kind[seat, i])
    each = (_DRAWS_USED * t.wall_left[seat] + 0.5) / max(unseen.sum(), 1)
    s.reach[:] = 1.0
    s.reach[_DRAW, 0] = 0.0
    for copies in range(1, 5):
        for way in range(4):
            reached = 1.0 - (1.0 - min(_TIMES[way] * each, 0.9)) ** copies
            s.reach[way, copies] = reached if way == _DRAW else reached / s.reach[_DRAW, copies]
    return _choose_turn(s, t, suits) if t.phase == OWN_TURN else _choose_claim(s, t, suits)


@jit
def _add_to_melds(s: Search, meld_type: int, lowest: int) -> None:
    s.melds[s.num_melds] = lowest // 9 * 7 + lowest % 9 if meld_type == CHI_MELD else _PUNG + lowest
    s.meld_lacks[s.num_melds] = 0 if meld_type == ANKAN_MELD else _OPEN
    s.num_melds += 1
    if meld_type != ANKAN_MELD:
        s.is_open = 1


@jit
def _choose_turn(s: Search, t: Table, suits: Suits) -> int:
    _weigh(s, suits)
    discard = _best_discard(s)
    kept, choice = s.worth - s.needed[discard], DISCARD + discard
    for kind in range(NUM_KINDS):
        if s.hand[kind] > 0:
            s.worths[DISCARD + kind] = s.worth - s.needed[kind]
    num_melds, is_open = s.num_melds, s.is_open
    for kind in range(NUM_KINDS - 1, -1, -1):
        if t.legal[KONG + kind]:
            number = s.hand[kind]
            s.hand[kind] = 0
            if number == 4:
                _add_to_melds(s, ANKAN_MELD, kind)
            _weigh(s, suits)
            s.worths[KONG + kind] = s.worth
            if s.worth >= _KONG_KEEPS * kept and not t.kong_declined:
                choice = KONG + kind
            s.hand[kind], s.num_melds, s.is_open = number, num_melds, is_open
    return choice


@jit
def _best_discard(s: Search) -> int:
    """Return the kind that the least worth needs; of several, the one with the fewest unseen tiles near it."""
    choice, least = -1, 0.0
    for kind in range(NUM_KINDS):
        if s.hand[kind] > 0:
            near = 2 * s.unseen[kind]
            if kind < EAST:
                rank = kind % 9
                for other in range(max(rank - 2, 0), min(rank + 2, 8) + 1):
                    near += s.unseen[kind - rank + other]
            loss = s.needed[kind] + 1e-9 * near
            if choice < 0 or loss < least:
                choice, least = kind, loss
    return choice


@jit
def _choose_claim(s: Search, t: Table, suits: Suits) -> int:
    claimed, num_melds, is_open = t.claimed, s.num_melds, s.is_open
    choice, most = PASS, -1.0
    for move in range(KONG, PASS):
        if t.legal[move]:
            if most < 0.0:
                _weigh(s, suits)
                most = s.worths[PASS] = s.worth
            meld_type, lowest = claimed_meld(claimed, move, CHOW)
            s.hand[claimed] += 1
            add_meld(s.hand, meld_type, lowest, -1)
            _add_to_melds(s, meld_type, lowest)
            _weigh(s, suits)
            worth = s.worth
            if move != KONG + claimed:
                worth -= s.needed[_best_discard(s)]
            s.worths[move] = worth
            if worth > most:
                choice, most = move, worth
            add_meld(s.hand, meld_type, lowest, 1)
            s.hand[claimed] -= 1
            s.num_melds, s.is_open = num_melds, is_open
    return choice


@jit
def _weigh(s: Search, suits: Suits) -> None:
    """Find the targets of a hand, and fill ``worth`` and ``needed``."""
    s.rest[:] = s.hand
    s.needed[:] = 0.0
    s.worth = s.best = 0.0
    s.fewest = _FAR
    kinds = s.useful = 0
    for kind in range(NUM_KINDS):
        kinds |= int(s.hand[kind] > 0) << kind
    for number in range(_NUM_SETS):
        s.useful |= int(_KINDS_OF[number] & kinds != 0) << number
    if s.num_melds == 0:
        _weigh_pairs(s)
    if s.num_melds <= 1:
        _weigh_knitted(s)
    _weigh_triples(s)
    _weigh_classes(s)
    distance = standard_shanten(suits, s.hand, s.num_melds) + 1
    if distance <= 2:
        s.left_out = _PLANNED
        _start_with_melds(s)
        _add_sets(s, s.useful, _ALL_KINDS, s.num_melds, 1.0, 1.0, 0, min(s.fewest, distance) + 1, False)
        s.left_out = 0


@jit
def _add_target(s: Search, chance: float, lacking: int, value: float) -> None:
    s.best = max(s.best, chance)
    s.fewest = min(s.fewest, lacking)
    s.worth += value


@jit
def _choose_some(s: Search, size: int, number: int, without: int) -> float:
    """Return the sum, over all choices of ``number`` of the first ``size`` weights but one, of their product."""
    s.sums[:] = 0.0
    s.sums[0] = 1.0
    for i in range(size):
        if i != without:
            for j in range(number, 0, -1):
                s.sums[j] += s.sums[j - 1] * s.weights[i]
    return s.sums[number]


@jit
def _weigh_pairs(s: Search) -> None:
    """Seven pairs: those that are there, and some of the single tiles."""
    total = fan.VALUES[fan.SEVEN_PAIRS]
    pairs = singles = 0
    for kind in range(NUM_KINDS):
        pairs += s.hand[kind] >> 1
        if s.hand[kind] & 1:
            s.weights[singles] = s.reach[_DRAW, s.unseen[kind]]
            singles += 1
    if pairs < 4 or pairs == 7 or total < s.minimum_fan:
        return
    chance = _choose_some(s, singles, 7 - pairs, -1)
    payment = s.reach[_WIN_CLAIM, 2] * (_PAYMENT + total)
    _add_target(s, chance, 7 - pairs, chance * payment)
    single = 0
    for kind in range(NUM_KINDS):
        if s.hand[kind] >= 2:
            s.needed[kind] += chance * payment
        elif s.hand[kind] == 1:
            s.needed[kind] += (chance - _choose_some(s, singles, 7 - pairs, single)) * payment
        single += s.hand[kind] & 1


@jit
def _weigh_knitted(s: Search) -> None:
    """In each order of knitted tiles: all nine with a set and a pair, and fourteen of them and the honours."""
    straight, honours = fan.VALUES[fan.KNITTED_STRAIGHT], fan.VALUES[fan.LESSER_HONOURS_AND_KNITTED_TILES]
    for order in range(len(_KNITTED)):
        chance, held = 1.0, 0
        for i in range(9):
            chance *= _take(s, _KNITTED[order, i])
            held += s.rest[_KNITTED[order, i]] >= 0
        if held >= 5 and chance > _CUT * s.best:
            s.known_fan = straight
            _add_sets(s, s.useful, _ALL_KINDS, 3 + s.num_melds, chance, chance, 9 - held, 12 - held, False)
            s.known_fan = 0
        s.rest[:] = s.hand
        for i in range(16):
            kind = _KNITTED[order, i]
            s.weights[i] = 1.0 if s.hand[kind] > 0 else s.reach[_DRAW, s.unseen[kind]]
            held += i >= 9 and s.hand[kind] > 0
        if s.num_melds == 0 and 9 <= held < 14 and honours >= s.minimum_fan:
            chance = _choose_some(s, 16, 14, -1)
            payment = s.reach[_WIN_CLAIM, 2] * (_PAYMENT + honours)
            _add_target(s, chance, 14 - held, chance * payment)
            for i in range(16):
                if s.hand[_KNITTED[order, i]] == 1:
                    s.needed[_KNITTED[order, i]] += (chance - _choose_some(s, 16, 14, i)) * payment


@jit
def _weigh_triples(s: Search) -> None:
    """Three chows that make a fan, one more set and a pair; the likeliest chows first."""
    for number in range(len(_TRIPLES)):
        s.triples[number] = _take_triple(s, number)[1]
        s.rest[:] = s.hand
    while True:
        number = int(s.triples.argmax())
        if s.triples[number] <= _CUT * s.best:
            return
        s.triples[number] = 0.0
        drawn, chance, lacking, place = _take_triple(s, number)
        total = fan.VALUES[_TRIPLES[number, 3]]
        s.known_fan = total if total >= s.minimum_fan else 0
        _add_sets(s, s.useful, _ALL_KINDS, place, drawn, chance, lacking, min(lacking + 3, s.fewest + 1), False)
        s.known_fan = 0
        s.rest[:] = s.hand


@jit
def _take_triple(s: Search, number: int) -> tuple[float, float, int, int]:
    """Begin a target with three chows, of which some may be melds.

    Return its chances as in ``_add_sets``, 0 if two melds are none of the three, how many tiles it lacks, and how many
    sets it has.
    """
    melded = foreign = 0
    for i in range(s.num_melds):
        place = 3
        for j in range(2, -1, -1):
            if not melded >> j & 1 and _TRIPLES[number, j] == s.melds[i]:
                place = j
        melded |= 1 << place
        foreign += place == 3
        s.sets[place], s.lacks[place] = s.melds[i], s.meld_lacks[i]
    drawn = chance = 1.0 if foreign <= 1 else 0.0
    lacking = 0
    for j in range(3):
        if not melded >> j & 1:
            own_drawn, own_chance, lacks = _take_set(s, _TRIPLES[number, j])
            drawn, chance, lacking = drawn * own_drawn, chance * own_chance, lacking + lacks
            s.sets[j], s.lacks[j] = _TRIPLES[number, j], lacks
    return drawn, chance, lacking, 3 + foreign


@jit
def _start_with_melds(s: Search) -> None:
    s.sets[:] = s.melds
    s.lacks[:] = s.meld_lacks


@jit
def _weigh_classes(s: Search) -> None:
    """Four sets of a class and a pair, and All Types."""
    _start_with_melds(s)
    melds = 0
    for i in range(s.num_melds):
        melds |= 1 << s.melds[i]
    for number in range(len(_CLASSES)):
        sets, pairs, kinds = _CLASSES[number, 0], _CLASSES[number, 1], _CLASSES[number, 2]
        limit = min(s.fewest + 1, _MAX_LACKING)
        outside = 0
        for kind in range(NUM_KINDS):
            if not kinds >> kind & 1:
                outside += s.hand[kind]
        size = 14 - 3 * s.num_melds
        if melds & ~sets == 0 and size - (s.hand.sum() - outside) <= limit:
            _add_sets(s, sets & s.useful, pairs, s.num_melds, 1.0, 1.0, 0, limit, False)
    sets, pairs = s.useful, _ALL_KINDS
    fits = True
    for i in range(s.num_melds):
        part = _PART_OF[s.melds[i]]
        fits &= pairs & _PART_KINDS[part] != 0
        sets, pairs = sets & ~_PART_SETS[part], pairs & ~_PART_KINDS[part]
    if fits:
        _add_sets(s, sets, pairs, s.num_melds, 1.0, 1.0, 0, min(s.fewest + 1, _MAX_LACKING), True)


@jit
def _take(s: Search, kind: int) -> float:
    """Use a tile of a kind for the target; return the chance to draw it if it is not there, else 1."""
    s.rest[kind] -= 1
    left = s.rest[kind]
    return 1.0 if left >= 0 else s.reach[_DRAW, max(s.unseen[kind] + left + 1, 0)]


@jit
def _take_set(s: Search, number: int) -> tuple[float, float, int]:
    """Use the tiles of a set; return its chances as in ``_add_sets``, and how many tiles it lacks."""
    kind, by, way = _LOWEST[number], int(number < _PUNG), _CHOW_CLAIM if number < _PUNG else _PUNG_CLAIM
    drawn, gain, lacking = 1.0, 1.0, 0
    for _ in range(3):
        drawn *= _take(s, kind)
        if s.rest[kind] < 0:
            gain = max(gain, s.reach[way, max(s.unseen[kind] + s.rest[kind] + 1, 0)])
            lacking += 1
        kind += by
    return drawn, drawn * gain, lacking


@jit
def _put_set_back(s: Search, number: int) -> None:
    kind, by = _LOWEST[number], int(number < _PUNG)
    for _ in range(3):
        s.rest[kind] += 1
        kind += by


@jit
def _add_sets(
    s: Search, sets: int, pairs: int, place: int, drawn: float, chance: float, lacking: int, limit: int, by_part: bool
) -> None:
    """Complete a target with sets of ``sets``, from the ``place`` of four on, and a pair of ``pairs`` in all ways.

    ``drawn`` and ``chance`` are the chances of what it has: all is drawn, or one tile of each set is claimed.
    ``limit``: how many tiles it may lack. ``by_part``: sets and pair are of different parts, as for All Types.
    """
    if place == 4:
        _add_pairs(s, pairs, drawn, chance, lacking, limit)
        return
    while sets:
        number = lowest_bit(sets)
        own_drawn, own_chance, lacks = _take_set(s, number)
        if lacking + lacks <= limit and chance * own_chance > _CUT * s.best:
            s.sets[place], s.lacks[place] = number, lacks
            later, kinds = sets, pairs
            if by_part:
                part = _PART_OF[number]
                later, kinds = sets & ~_PART_SETS[part], pairs & ~_PART_KINDS[part]
            now_drawn, now_chance, now_lacking = drawn * own_drawn, chance * own_chance, lacking + lacks
            _add_sets(s, later, kinds, place + 1, now_drawn, now_chance, now_lacking, limit, by_part)
        _put_set_back(s, number)
        sets &= sets - 1


@jit
def _add_pairs(s: Search, pairs: int, drawn: float, chance: float, lacking: int, limit: int) -> None:
    for kind in range(NUM_KINDS):
        if pairs >> kind & 1 and s.rest[kind] > 0:
            lacks = int(s.rest[kind] == 1)
            own = _take(s, kind) * _take(s, kind)
            if lacking + lacks <= limit and chance * own > _CUT * s.best:
                _count_target(s, kind, drawn * own, chance * own, lacking + lacks)
            s.rest[kind] += 2


@jit
def _count_target(s: Search, pair: int, drawn: float, chance: float, lacking: int) -> None:
    """Add what a target is worth by the ways in which it has enough fan."""
    total, can_be_melded = s.known_fan, False
    if total == 0:
        total, can_be_melded = _fan_of_target(s, pair)
    gain = s.reach[_WIN_CLAIM, 2]
    if lacking == 1:
        chance = drawn
        for kind in range(NUM_KINDS):
            if s.rest[kind] < 0:
                gain = s.reach[_WIN_CLAIM, s.unseen[kind]]
    else:
        chance /= s.reach[_CHOW_CLAIM, 2]  # of the sets, one is completed by the win
    if can_be_melded and total < s.minimum_fan:
        total += _MELDED_HAND
    if total < s.minimum_fan:
        chance = drawn
        if not s.is_open and total + _CONCEALED >= s.minimum_fan:
            total += _CONCEALED
        else:
            total += 1 if s.is_open else _FULLY_CONCEALED
            gain = _SELF_DRAWN
    if total < s.minimum_fan:
        return
    value = chance * gain * (_PAYMENT + total)
    _add_target(s, chance, lacking, value)
    for kind in range(NUM_KINDS):
        if s.hand[kind] > 0 and s.rest[kind] <= 0:
            s.needed[kind] += value * (1.0 - s.reach[_DRAW, max(s.unseen[kind] + s.rest[kind], 0)])


@jit
def _fan_of_target(s: Search, pair: int) -> tuple[int, bool]:
    """Return what a target counts with a discard and open melds, or 0 for one that is left out, and whether it can
    become a Melded Hand."""
    chows = pungs = concealed = unfinished = 0
    kinds = 1 << pair
    for i in range(4):
        number, lacks = s.sets[i], s.lacks[i]
        kinds |= _KINDS_OF[number]
        unfinished += lacks > 0
        if number < _PUNG:
            chows += 1 << 3 * number
        else:
            pungs |= 1 << number - _PUNG
            concealed += lacks == 0
    large, small = fans_of_sets(chows, pungs, pair, s.round_wind, s.seat)
    more_large, more_small = fans_of_kinds(kinds)
    large |= more_large
    small += more_small
    if large & s.left_out:
        return 0, False
    if concealed == 2:
        small += small_fan(fan.TWO_CONCEALED_PUNGS)
    elif concealed == 3:
        large |= large_fan(fan.THREE_CONCEALED_PUNGS)
    elif concealed == 4:
        large |= large_fan(fan.FOUR_CONCEALED_PUNGS)
    return settle(large, small)[0], unfinished == 4 and s.rest[pair] < 0
