"""The slow twin of the look-ahead: every winning hand near a hand by trying all sets, scored by the rules themselves.

Of the package it uses the names, levels and borders of the planes and which tiles a claim takes (``claimed_kind``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, TERMINALS_AND_HONOURS
from suphx.games.riichi import table as codes
from suphx.games.riichi.features.paper_layout import (
    CHANCE_BORDERS,
    CLAIM_HIGH_CHANCE_BORDERS,
    FEW_CHANCE_BORDERS,
    HIGH_LEVEL,
    LEVELS,
)
from suphx.games.riichi.rules import OPEN_TANYAO, Rules, rule_flags
from suphx.games.riichi.table import claimed_kind
from suphx.games.riichi.tile import dora_of_indicator
from suphx.games.riichi.yaku import IS_RIICHI, IS_TSUMO, base_points, pay_win, score_hand
from suphx.kernel.record import U8

MAX_NEW = 3
RUNS = [(k, k + 1, k + 2) for k in range(27) if k % 9 < 7]
SETS = [*RUNS, *((k, k, k) for k in range(34))]

Tiles = Counter[int]


@dataclass(frozen=True)
class Meld:
    type: int
    kind: int


@dataclass
class Hand:
    """What a seat holds and knows; a claim is already made."""

    tiles: Tiles
    reds: set[int]
    """The fives of which the red one is concealed."""
    melds: list[Meld]
    red_melded: int
    dora: Tiles
    unseen: Tiles
    seat_wind: int
    round_wind: int
    open_tanyao: int

    @property
    def is_closed(self) -> bool:
        return all(meld.type == ANKAN_MELD for meld in self.melds)

    @property
    def has_discard(self) -> bool:
        return self.tiles.total() % 3 == 2


@dataclass(frozen=True)
class Way:
    """One winning hand: what is given up, what comes, the levels of points drawn and called (0 = not at all)."""

    given: frozenset[int]
    new: tuple[int, ...]
    drawn: int
    called: int


def hand_at(table: np.void, seat: int, action: int = -1) -> Hand:
    """Return the hand of ``seat``, after the claim or kan ``action`` when there is one."""
    tiles = Counter({k: int(n) for k, n in enumerate(table["hand"][seat]) if n})
    reds = {9 * suit + 4 for suit in range(3) if table["red"][seat] >> suit & 1}
    melds = [
        Meld(int(table["meld_type"][seat, i]), int(table["meld_kind"][seat, i]))
        for i in range(table["num_melds"][seat])
    ]
    dealer = int(table["kyoku"]) % 4
    hand = Hand(
        tiles, reds, melds, int(table["meld_red"][seat][: len(melds)].sum()),
        Counter(dora_of_indicator(int(kind)) for kind in indicators(table)), unseen_by(table, seat),
        27 + (seat - dealer) % 4, 27 + int(table["kyoku"]) // 4, int(int(table["rule_flags"]) & OPEN_TANYAO != 0),
    )  # fmt: skip
    if action >= 0:
        claim(hand, table, action)
    return hand


def indicators(table: np.void) -> list[int]:
    return [int(table["wall"][codes.DORA_POSITIONS[i]]) // 4 for i in range(table["num_dora"])]


def unseen_by(table: np.void, seat: int) -> Tiles:
    seen = Counter({k: int(n) for k, n in enumerate(table["hand"][seat])})
    seen.update(indicators(table))
    for other in range(4):
        faces = table["river"][other, : table["river_length"][other]]
        seen.update(4 + 9 * (int(face) - 34) if face >= 34 else int(face) for face in faces)
        for i in range(table["num_melds"][other]):
            lowest, meld_type = int(table["meld_kind"][other, i]), table["meld_type"][other, i]
            if meld_type == CHI_MELD:
                seen.update(range(lowest, lowest + 3))
            else:
                seen[lowest] += 3 if meld_type == PON_MELD else 4
            if meld_type != ANKAN_MELD:  # it lies in a river, too
                face = int(table["meld_tile"][other, i])
                seen[4 + 9 * (face - 34) if face >= 34 else face] -= 1
    return Counter({kind: max(0, 4 - seen[kind]) for kind in range(34)})


def claim(hand: Hand, table: np.void, action: int) -> None:
    """Make a claim or kan with the hand."""
    kind = int(claimed_kind(table.view(np.recarray), action))  # type: ignore[arg-type]
    red_claimed = int(action >= codes.PON and table["claimed_face"] >= 34)
    if action >= codes.CHI:
        lowest = kind - (action - codes.CHI) % 3
        taken = [k for k in range(lowest, lowest + 3) if k != kind]
        meld = Meld(CHI_MELD, lowest)
        reds = {k for k in taken if k in hand.reds} if action >= codes.CHI_RED else set()
    else:
        count, meld_type = (
            (2, PON_MELD) if action in (codes.PON, codes.PON_RED)
            else (3, MINKAN_MELD) if action == codes.MINKAN
            else (1, KAKAN_MELD) if codes.KAKAN <= action < codes.TSUMO
            else (4, ANKAN_MELD)
        )  # fmt: skip
        assert action >= codes.ANKAN
        taken, meld = [kind] * count, Meld(meld_type, kind)
        reds = hand.reds & {kind} if action != codes.PON else set()
    hand.tiles.subtract(taken)
    hand.tiles = +hand.tiles
    hand.reds -= reds
    hand.red_melded += len(reds) + red_claimed
    if meld.type == KAKAN_MELD:
        hand.melds[hand.melds.index(Meld(PON_MELD, kind))] = meld
    else:
        hand.melds.append(meld)


def winning_hands(hand: Hand) -> set[tuple[int, ...]]:
    """Return the counts of all complete hands that lack one to three unseen tiles."""
    search = Search(hand)
    num_sets = 4 - len(hand.melds)
    for pair in range(34):
        search.extend((pair, pair), num_sets, 0)
    if num_sets == 4:
        held = sorted(hand.tiles)
        for old in (old for n in range(4, 8) for old in combinations(held, n)):
            if sum(hand.tiles[k] == 1 for k in old) + 2 * (7 - len(old)) <= MAX_NEW:
                for new in combinations(sorted(set(range(34)) - set(held)), 7 - len(old)):
                    search.extend((*old, *old, *new, *new), 0, 0)
        for kind in TERMINALS_AND_HONOURS:
            search.extend((*TERMINALS_AND_HONOURS, kind), 0, 0)
    return search.found


class Search:
    """Adds sets to sets while at most three tiles are missing."""

    def __init__(self, hand: Hand) -> None:
        self.held = [hand.tiles[k] for k in range(34)]
        self.unseen = [hand.unseen[k] for k in range(34)]
        self.counts = [0] * 34
        self.num_missing = 0
        self.found: set[tuple[int, ...]] = set()

    def extend(self, tiles: Sequence[int], num_sets: int, first: int) -> None:
        """Add ``tiles``, then ``num_sets`` sets of SETS[first:], in all ways; take the tiles away again."""
        is_possible = True
        for kind in tiles:
            self.counts[kind] += 1
            self.num_missing += self.counts[kind] > self.held[kind]
            is_possible &= self.counts[kind] <= self.held[kind] + self.unseen[kind]
        if is_possible and self.num_missing <= MAX_NEW:
            if num_sets == 0 and self.num_missing > 0:
                self.found.add(tuple(self.counts))
            for i in range(first, len(SETS) if num_sets > 0 else 0):
                self.extend(SETS[i], num_sets - 1, i)
        for kind in tiles:
            self.num_missing -= self.counts[kind] > self.held[kind]
            self.counts[kind] -= 1


def ways_to_win(hand: Hand) -> Iterator[Way]:
    """Score every winning hand; those without a yaku are no ways."""
    for counts in winning_hands(hand):
        complete = Counter({k: n for k, n in enumerate(counts) if n})
        new = tuple(sorted((complete - hand.tiles).elements()))
        given = frozenset(hand.tiles - complete) if hand.has_discard else frozenset(range(34))
        riichi = IS_TSUMO | IS_RIICHI if hand.is_closed else IS_TSUMO
        drawn = max(level(hand, complete, [], kind, riichi) for kind in set(new))
        called = max(called_levels(hand, complete, new), default=0)
        if drawn or called:
            yield Way(given, new, drawn, called)


def called_levels(hand: Hand, complete: Tiles, new: tuple[int, ...]) -> Iterator[int]:
    """Return the levels by ron for every last tile and every called set that holds another new tile."""
    for last in set(new):
        if len(new) == 1 or not hand.is_closed:
            yield level(hand, complete, [], last, 0)
            continue
        others = Counter(new) - Counter([last])
        for called in (tiles for tiles in SETS if not others.keys().isdisjoint(tiles)):
            rest = complete - Counter(called)
            if rest.total() + 3 == complete.total() and rest[last] > 0:
                meld = Meld(PON_MELD if called[0] == called[1] else CHI_MELD, called[0])
                yield level(hand, rest, [meld], last, 0)


def level(hand: Hand, concealed: Tiles, called: list[Meld], last: int, circumstances: int) -> int:
    """Return how many of LEVELS the points of a win reach, by the project's rules of scoring."""
    melds = [*hand.melds, *called]
    types, kinds = np.zeros(4, np.int8), np.zeros(4, np.int8)
    types[: len(melds)] = [meld.type for meld in melds]
    kinds[: len(melds)] = [meld.kind for meld in melds]
    counts = np.array([concealed[k] for k in range(34)], np.int8)
    tiles = concealed + Counter(k for meld in melds for k in tiles_of(meld))
    dora = sum(n * hand.dora[k] for k, n in tiles.items()) + hand.red_melded
    kept = concealed + Counter(k for meld in called for k in tiles_of(meld))
    dora += sum(1 for five in hand.reds if kept[five] > 0)
    rules = rule_flags(Rules(open_tanyao=bool(hand.open_tanyao)))
    yaku, han, fu, yakuman = score_hand(
        counts, len(melds), types, kinds, last, circumstances, hand.seat_wind, hand.round_wind, rules, dora
    )
    if yaku == 0:
        return 0
    is_dealer, is_tsumo = hand.seat_wind == 27, circumstances & IS_TSUMO
    base = base_points(han, fu, yakuman, rules)
    points = pay_win(0, 0 if is_tsumo else 1, 0 if is_dealer else 2, base, np.zeros(4, np.int32))
    return sum(points >= least for least in LEVELS)


def tiles_of(meld: Meld) -> list[int]:
    if meld.type == CHI_MELD:
        return [meld.kind, meld.kind + 1, meld.kind + 2]
    return [meld.kind] * (3 if meld.type == PON_MELD else 4)


def lookahead_planes(hand: Hand) -> dict[str, U8]:
    """Return all look-ahead planes by name, as many as a hand has whether or not a claim was made."""
    ways = list(ways_to_win(hand))
    high = [way for way in ways if way.drawn >= HIGH_LEVEL]
    called = [way for way in ways if way.called > 0]
    return {
        "lookahead_drawn": reach([(way, way.drawn) for way in ways]),
        "lookahead_called": reach([(way, way.called) for way in ways]),
        "lookahead_chance": chance(hand, ways, CHANCE_BORDERS),
        "lookahead_high_chance": chance(hand, high, FEW_CHANCE_BORDERS),
        "lookahead_called_chance": chance(hand, called, FEW_CHANCE_BORDERS),
        "claim_lookahead_drawn": reach([(way, way.drawn) for way in ways]),
        "claim_lookahead_chance": chance(hand, ways, CHANCE_BORDERS),
        "claim_lookahead_high_chance": chance(hand, high, CLAIM_HIGH_CHANCE_BORDERS),
    }


def reach(ways: list[tuple[Way, int]]) -> U8:
    planes = np.zeros((MAX_NEW, len(LEVELS), 34), np.uint8)
    for way, reached in ways:
        planes[len(way.new) - 1 :, :reached, list(way.given)] = 1
    return planes.reshape(-1, 34)


def chance(hand: Hand, ways: list[Way], borders: tuple[tuple[int, ...], ...]) -> U8:
    """Fill a plane for each number of new tiles and border: the share of draws that win after giving up a kind."""
    planes = np.zeros((MAX_NEW, len(borders[0]), 34), np.uint8)
    draws = defaultdict(set)
    for way in ways:
        for kind in way.given:
            draws[len(way.new), kind].add(way.new)
    for (num_new, kind), winning in draws.items():
        total = comb(hand.unseen.total(), num_new)
        count = sum(int(np.prod([comb(hand.unseen[k], n) for k, n in Counter(new).items()])) for new in winning)
        for i, border in enumerate(borders[num_new - 1]):
            planes[num_new - 1, i, kind] = count * 10_000 >= border * total
    return planes.reshape(-1, 34)
