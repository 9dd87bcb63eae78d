"""The slow twin of the small encoding: what differs from the planes of the full one (suphx_twin.py)."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.features import mini
from suphx.games.riichi.table import KAKAN, PON
from suphx.kernel.record import U8
from tests.games.riichi.twins.observed_twin import counted, dora_of, full, one_hot, plane, planes
from tests.games.riichi.twins.suphx_twin import Twin


class MiniTwin(Twin):
    """The published text, plane by plane."""

    layouts = (mini.PUBLIC, mini.CLAIM)

    def visible(self) -> U8:
        return counted(self.seen_tiles)

    def placement(self) -> U8:
        return super().placement()[:4]

    def kyoku(self) -> U8:
        return one_hot(self.view.kyoku, 16)

    def honba(self) -> U8:
        return one_hot(min(self.view.honba, 19), 20)

    def sticks(self) -> U8:
        return one_hot(min(self.view.kyotaku, 19), 20)

    def scores(self) -> U8:
        borders = range(5_000, 45_000, 5_000)
        return np.concatenate([one_hot(int(np.digitize(seat.score, borders)), 9) for seat in self.view.seats])

    def tiles_left(self) -> U8:
        return one_hot(int(np.digitize(self.view.tiles_left, [5, 10, 22, 46])), 5)

    def dora(self) -> U8:
        kinds = [[dora_of(indicator)] for indicator in self.view.indicators]
        return planes(kinds + [[] for _ in range(5 - len(kinds))])

    def seat_wind(self) -> U8:
        return plane([self.winds()[0]])

    def melds_after(self) -> U8:
        melds = [meld.tiles for meld in self.own.melds]
        if KAKAN <= self.action < PON:
            melds[[meld[0] // 4 for meld in melds].index(self.claimed_tile // 4)] = tuple(self.new_meld)
        else:
            melds.append(tuple(self.new_meld))
        return np.concatenate([counted(meld) for meld in (*melds, *[()] * (4 - len(melds)))])

    def tile_is_dora(self) -> U8:
        return full(self.claimed_tile // 4 in self.dora_kinds)

    def tile_is_red(self) -> U8:
        return self.claimed_red()
