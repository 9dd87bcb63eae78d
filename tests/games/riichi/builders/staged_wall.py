"""Walls and scores with which rare things happen soon: hands near a win, shared waits, kans, ends, last deals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suphx.games.mahjong.tile import TERMINALS_AND_HONOURS
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.table import RINSHAN
from suphx.kernel.record import I16

MakeWall = Callable[[np.random.Generator], I16]


def plain_wall(rng: np.random.Generator) -> I16:
    """Return an honest shuffle."""
    return rng.permutation(136).astype(np.int16)


def near_wall(rng: np.random.Generator) -> I16:
    """Return a wall that deals every seat three sets and most of the rest: wins and riichi from the first turns."""
    stock = _Stock(rng)
    return stock.wall([_near_hand(stock, rng, 4 - int(rng.integers(2))) for _ in range(4)])


def shared_wait_wall(rng: np.random.Generator) -> I16:
    """Return a wall on which three seats wait for both ends of the same run: double and triple rons, robbed kans."""
    stock = _Stock(rng)
    low = 9 * int(rng.integers(3)) + int(rng.integers(1, 6))
    waits = [stock.take([low, low + 1]) for _ in range(3)]
    feeder = stock.take([low - 1, low - 1] if rng.random() < 0.5 else [low + 2, low + 2, low + 2])
    hands = [*(wait + stock.sets(3) + stock.pair() for wait in waits), feeder]
    return stock.wall([hands[i] for i in rng.permutation(4)])


def triplet_wall(rng: np.random.Generator) -> I16:
    """Return a wall of pairs and triplets whose last tiles come early: pon, kan after kan, rinshan, four kans."""
    stock = _Stock(rng)
    hands = []
    for _ in range(4):
        hand: list[int] = []
        while len(hand) < 11:
            kind = stock.common_kind(2)
            hand += stock.take([kind] * int(rng.integers(2, 4)))
        hands.append(hand)
    return stock.wall(hands, early=[tile // 4 for hand in hands for tile in hand])


def honour_wall(rng: np.random.Generator) -> I16:
    """Return a wall that deals ends and honours: nine terminals, thirteen orphans, four winds, dragons, nagashi."""
    stock = _Stock(rng)
    pools = [TERMINALS_AND_HONOURS, tuple(range(27, 34)), (31, 32, 33), (27, 28, 29, 30)]
    hands: list[list[int]] = []
    for _ in range(4):
        pool = pools[rng.integers(4)]
        kinds = rng.permutation(np.repeat(pool, int(rng.integers(1, 4))))[: int(rng.integers(4, 14))]
        hands.append(stock.take(kinds.tolist()))
    return stock.wall(hands, early=list(TERMINALS_AND_HONOURS) if rng.random() < 0.5 else [])


def orphan_wall(rng: np.random.Generator) -> I16:
    """Return a wall with thirteen orphans nearly there for one seat and three of an end or honour for another."""
    stock = _Stock(rng)
    missing = int(rng.choice(TERMINALS_AND_HONOURS))
    orphans = [kind for kind in TERMINALS_AND_HONOURS if kind != missing]
    extra = int(rng.choice(TERMINALS_AND_HONOURS))
    hands = [stock.take([*orphans, extra]), stock.take([missing] * 3), [], []]
    return stock.wall([hands[i] for i in rng.permutation(4)], early=[missing])


def robbing_wall(rng: np.random.Generator) -> I16:
    """Return a wall with a pair for one seat, its third tile spare at another, and a seat that soon waits for it."""
    stock = _Stock(rng)
    kind = 9 * int(rng.integers(3)) + int(rng.integers(1, 6))
    caller = stock.take([kind, kind]) + stock.sets(2)
    robber = stock.take([kind + 1, kind + 2]) + stock.sets(2) + stock.pair()
    feeder = stock.take([kind]) + stock.sets(4)
    return stock.wall([[caller, robber, feeder, []][i] for i in rng.permutation(4)], early=[kind])


STAGED_WALLS: tuple[MakeWall, ...] = (
    plain_wall,
    near_wall,
    shared_wait_wall,
    triplet_wall,
    honour_wall,
    orphan_wall,
    robbing_wall,
)


def staged_wall(rng: np.random.Generator) -> I16:
    """Return a wall of one kind or another."""
    return STAGED_WALLS[rng.integers(len(STAGED_WALLS))](rng)


def staged_start(rules: Rules, rng: np.random.Generator) -> dict[str, Any]:
    """Return kyoku, honba, sticks and scores somewhere in a game: close or far apart, often a thousand or two left."""
    sticks = int(rng.integers(3) * rng.integers(2))
    spread = int(rng.choice([0, 40, 240]))
    hundreds = rng.integers(250 - spread, 251 + spread, 4)
    hundreds[rng.integers(4)] += 1000 - 10 * sticks - hundreds.sum()
    if hundreds.min() < 0:
        return staged_start(rules, rng)
    return {
        "kyoku": int(rng.integers(4 * rules.num_winds + 4)),
        "honba": int(rng.integers(4) * rng.integers(2)),
        "sticks": sticks,
        "scores": (100 * hundreds).tolist(),
    }


class _Stock:
    """The tiles that are not dealt yet."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._free = {kind: rng.permutation(np.arange(4 * kind, 4 * kind + 4)).tolist() for kind in range(34)}

    def take(self, kinds: list[int]) -> list[int]:
        """Return ids of these kinds, as far as there are any."""
        return [self._free[kind].pop() for kind in kinds if self._free[kind]]

    def common_kind(self, count: int) -> int:
        """Return a random kind of which at least ``count`` tiles are left."""
        return int(self._rng.choice([kind for kind in range(34) if len(self._free[kind]) >= count]))

    def pair(self) -> list[int]:
        return self.take([self.common_kind(2)] * 2)

    def sets(self, count: int) -> list[int]:
        """Return ``count`` runs and triplets."""
        tiles: list[int] = []
        for _ in range(count):
            runs = [k for k in range(27) if k % 9 < 7 and all(self._free[k + i] for i in range(3))]
            if runs and self._rng.random() < 0.8:
                low = int(self._rng.choice(runs))
                tiles += self.take([low, low + 1, low + 2])
            else:
                tiles += self.take([self.common_kind(3)] * 3)
        return tiles

    def wall(self, hands: list[list[int]], early: list[int] | None = None) -> I16:
        """Return a wall that deals these hands, filled up; undealt tiles of the kinds ``early`` come first, mostly."""
        first_seat = int(self._rng.integers(4))
        wall = np.full(136, -1, np.int16)
        for i, hand in enumerate(hands):
            places = [p for p in range(52) if (p // 4 % 4 if p < 48 else p % 4) == (first_seat + i) % 4]
            wall[places[: len(hand)]] = hand[:13]
        wanted = set(early or [])
        rest = self._rng.permutation(np.setdiff1d(np.arange(136), wall)).tolist()
        rest.sort(key=lambda tile: not (tile // 4 in wanted and self._rng.random() < 0.6))
        # Early: some turns, the rinshan tiles, the other turns, the indicators; last what is still to be dealt.
        order = [*range(52, 64), *RINSHAN, *range(64, 132), *np.flatnonzero(wall[:52] < 0)]
        wall[order] = rest
        return wall


def _near_hand(stock: _Stock, rng: np.random.Generator, num_groups: int) -> list[int]:
    """Return three sets and a pair, or ``num_groups`` sets, less up to three tiles."""
    tiles = stock.sets(num_groups) + (stock.pair() if num_groups == 3 else [])
    kept = rng.permutation(tiles)[: len(tiles) - int(rng.integers(4))]
    return [int(tile) for tile in kept]
