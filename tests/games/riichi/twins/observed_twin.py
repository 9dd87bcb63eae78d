"""The observed half of the slow twin of the full encoding: hand, melds, rivers, dora, situation, out of a ``View``.

Every plane is made from what its line in docs/features.md says, with lists of tiles and sets of kinds. Of the package
the package only the borders of buckets are used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD
from suphx.games.riichi.features.paper_layout import DIFFERENCE_BORDERS, SCORE_BORDERS
from suphx.kernel.record import U8
from tests.games.riichi.features.builders.public_history import RED_TILES, Seat, View

Kinds = Iterable[int]
FULL = range(34)
DRAGONS = {31, 32, 33}


def plane(kinds: Kinds) -> U8:
    columns = np.zeros((1, 34), np.uint8)
    columns[0, list(kinds)] = 1
    return columns


def planes(columns: Iterable[Kinds]) -> U8:
    return np.concatenate([plane(kinds) for kinds in columns])


def full(*conditions: bool) -> U8:
    return np.repeat(np.array(conditions, np.uint8)[:, None], 34, axis=1)


def one_hot(value: int, size: int) -> U8:
    return full(*(i == value for i in range(size)))


def counted(tiles: Iterable[int]) -> U8:
    """Return the count planes of tile ids."""
    counts = Counter(tile // 4 for tile in tiles)
    return planes([kind for kind in counts if counts[kind] > n] for n in range(4))


def red_kinds(tiles: Iterable[int]) -> set[int]:
    return {tile // 4 for tile in tiles if tile in RED_TILES}


def dora_of(indicator: int) -> int:
    """Return the kind after that of the indicator, in a ring of numbers, winds or dragons."""
    kind = indicator // 4
    return {8: 0, 17: 9, 26: 18, 30: 27, 33: 31}.get(kind, kind + 1)


class ObservedTwin:
    """The planes of what a seat observes; a method for each range of planes, called as the range is."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.own = view.seats[0]
        self.others = view.seats[1:]
        self.dealer_place = (view.kyoku - view.seat) % 4
        self.reds = red_kinds if view.rules.red_fives else lambda tiles: set()

    # ---- own hand

    def hand(self) -> U8:
        return counted(self.own.hand)

    def hand_red(self) -> U8:
        return plane(self.reds(self.own.hand))

    def drawn(self) -> U8:
        return plane([] if self.view.drawn is None else [self.view.drawn // 4])

    def phase(self) -> U8:
        return one_hot(["draw", "riichi", "call", "wait"].index(self.view.stage), 4)

    @cached_property
    def allowed(self) -> set[int]:
        held = {tile // 4 for tile in self.own.hand}
        if self.view.stage == "wait":
            return set()
        if self.view.stage == "riichi":
            return {kind for kind in held if self._keeps_tenpai(kind)}
        if self.own.riichi:
            assert self.view.drawn is not None
            return {self.view.drawn // 4}
        return held - self.view.forbidden

    def _keeps_tenpai(self, kind: int) -> bool:
        tiles = list(self.own.hand)
        tiles.remove(next(tile for tile in tiles if tile // 4 == kind))
        return bool(Seat(0, tiles, self.own.melds).waits())

    def discardable(self) -> U8:
        return plane(self.allowed)

    # ---- melds and rivers

    def melds(self) -> U8:
        empty = np.zeros((4, 34), np.uint8)
        parts = []
        for seat in self.view.seats:
            made = [counted(meld.tiles) for meld in seat.melds]
            parts += made + [empty] * (4 - len(made))
        return np.concatenate(parts)

    def meld_sources(self) -> U8:
        found = np.zeros((4, 4, 3, 34), np.uint8)
        for i, seat in enumerate(self.view.seats):
            for j, meld in enumerate(seat.melds):
                if meld.source:
                    found[i, j, meld.source - 1, meld.called // 4] = 1
        return found.reshape(48, 34)

    def meld_red(self) -> U8:
        return planes(self.reds(tile for meld in seat.melds for tile in meld.tiles) for seat in self.view.seats)

    def kans(self) -> U8:
        return planes(
            [meld.tiles[0] // 4 for meld in seat.melds if meld.type == meld_type]
            for seat in self.view.seats
            for meld_type in range(ANKAN_MELD, ANKAN_MELD + 3)
        )

    def closed(self) -> U8:
        return full(*(all(meld.type == ANKAN_MELD for meld in seat.melds) for seat in self.view.seats))

    def rivers(self) -> U8:
        return self._river_places(lambda discard: True)

    def tsumogiri(self) -> U8:
        return self._river_places(lambda discard: discard.is_tsumogiri)

    def _river_places(self, is_shown: Callable[..., bool]) -> U8:
        found = np.zeros((4, 24, 34), np.uint8)
        for i, seat in enumerate(self.view.seats):
            for place, discard in enumerate(seat.river[:24]):
                found[i, place, discard.tile // 4] = is_shown(discard)
        return found.reshape(96, 34)

    def river_counts(self) -> U8:
        return np.concatenate([counted(discard.tile for discard in seat.river) for seat in self.view.seats])

    def river_red(self) -> U8:
        return planes(self.reds(discard.tile for discard in seat.river) for seat in self.view.seats)

    def called(self) -> U8:
        return planes([d.tile // 4 for d in seat.river if d.is_called] for seat in self.view.seats)

    def riichi_tile(self) -> U8:
        return planes([d.tile // 4 for d in seat.river if d.is_riichi] for seat in self.view.seats)

    def riichi_turn(self) -> U8:
        places = [[i for i, d in enumerate(seat.river) if d.is_riichi] for seat in self.view.seats]
        return full(*(any(a <= i < b for i in found) for found in places for a, b in ((0, 6), (6, 12), (12, 99))))

    def last_discard(self) -> U8:
        return planes([d.tile // 4 for d in seat.river[-1:]] for seat in self.view.seats)

    def last_tedashi(self) -> U8:
        return planes([d.tile // 4 for d in seat.river if not d.is_tsumogiri][-1:] for seat in self.view.seats)

    # ---- dora and unseen tiles

    @cached_property
    def dora_kinds(self) -> Counter[int]:
        return Counter(dora_of(indicator) for indicator in self.view.indicators)

    def dora_indicators(self) -> U8:
        kinds = [[indicator // 4] for indicator in self.view.indicators]
        return planes(kinds + [[] for _ in range(5 - len(kinds))])

    def dora(self) -> U8:
        return planes([kind for kind, times in self.dora_kinds.items() if times > n] for n in range(4))

    def count_dora(self, tiles: Iterable[int]) -> int:
        listed = list(tiles)
        return sum(self.dora_kinds[tile // 4] for tile in listed) + len(self.reds(listed))

    def dora_held(self) -> U8:
        held = [self.count_dora(seat.hand + [t for meld in seat.melds for t in meld.tiles]) for seat in self.view.seats]
        return full(*(count >= n for count in held for n in range(1, 5)))

    @cached_property
    def seen_tiles(self) -> set[int]:
        seen = set(self.own.hand) | set(self.view.indicators)
        for seat in self.view.seats:
            seen |= {discard.tile for discard in seat.river}
            seen |= {tile for meld in seat.melds for tile in meld.tiles}
        return seen

    @cached_property
    def unseen_tiles(self) -> list[int]:
        return [tile for tile in range(136) if tile not in self.seen_tiles]

    @cached_property
    def unseen_counts(self) -> Counter[int]:
        return Counter(tile // 4 for tile in self.unseen_tiles)

    def unseen(self) -> U8:
        return counted(self.unseen_tiles)

    def unseen_red(self) -> U8:
        return plane(self.reds(self.unseen_tiles))

    # ---- situation

    def winds(self) -> list[int]:
        return [27 + (i - self.dealer_place) % 4 for i in range(4)]

    def seat_winds(self) -> U8:
        return planes([wind] for wind in self.winds())

    def round_wind(self) -> U8:
        return plane([27 + self.view.kyoku // 4])

    def yakuhai(self) -> U8:
        return planes(DRAGONS | {wind, 27 + self.view.kyoku // 4} for wind in self.winds())

    def seat(self) -> U8:
        return one_hot(self.view.seat, 4)

    def kyoku(self) -> U8:
        return one_hot(self.view.kyoku, 12)

    def kyoku_left(self) -> U8:
        return one_hot(min(max(4 * self.view.rules.num_winds - 1 - self.view.kyoku, 0), 7), 8)

    def honba(self) -> U8:
        return one_hot(min(self.view.honba, 7), 8)

    def sticks(self) -> U8:
        return one_hot(min(self.view.kyotaku, 5), 6)

    def dealer(self) -> U8:
        return one_hot(self.dealer_place, 4)

    def rules(self) -> U8:
        return full(self.view.rules.open_tanyao, bool(self.view.rules.red_fives))

    def scores(self) -> U8:
        return np.concatenate([one_hot(int(np.digitize(seat.score, SCORE_BORDERS)), 16) for seat in self.view.seats])

    def score_differences(self) -> U8:
        differences = [self.own.score - other.score for other in self.others]
        return np.concatenate([one_hot(int(np.digitize(d, DIFFERENCE_BORDERS)), 18) for d in differences])

    def placement(self) -> U8:
        fixed = [(self.view.seat + i) % 4 for i in range(4)]
        order = sorted(range(4), key=lambda i: (-self.view.seats[i].score, fixed[i]))
        return np.concatenate([one_hot(order.index(i), 4) for i in range(4)])

    def tiles_left(self) -> U8:
        left = self.view.tiles_left
        return one_hot(int(np.digitize(left, [1, 2, 3, *range(4, 70, 4)])), 21)

    def riichi(self) -> U8:
        return full(*(seat.riichi > 0 for seat in self.view.seats))

    def double_riichi(self) -> U8:
        return full(*(seat.riichi == 2 for seat in self.view.seats))

    def ippatsu(self) -> U8:
        return full(*(seat.ippatsu for seat in self.view.seats))

    def stick_due(self) -> U8:
        return full(self.view.is_stick_due)

    def kans_made(self) -> U8:
        kans = [meld for seat in self.view.seats for meld in seat.melds if meld.type >= ANKAN_MELD]
        return full(*(len(kans) >= n for n in range(1, 5)))

    def first_turn(self) -> U8:
        return full(self.own.is_first_turn)

    @cached_property
    def own_waits(self) -> set[int]:
        if self.view.stage == "call":
            return set()
        tiles = list(self.own.hand)
        if self.view.drawn is not None:
            tiles.remove(self.view.drawn)
        return Seat(0, tiles, self.own.melds).waits()

    @cached_property
    def own_river(self) -> set[int]:
        """Kinds that make the seat furiten: its discards; all after a win missed in riichi."""
        return set(FULL) if self.own.missed_win == 2 else {d.tile // 4 for d in self.own.river}

    def waits(self) -> U8:
        return plane(self.own_waits)

    def furiten(self) -> U8:
        river = {discard.tile // 4 for discard in self.own.river}
        return full(bool(self.own_waits & river), self.own.missed_win == 1, self.own.missed_win == 2)
