"""The slow twin of the full encoding: what is observed (observed_twin.py), what follows from it, and the claims.

Of the project's code it uses the shanten and the waits of a hand, which have a twin of their own; nothing of
the package but the names, order and borders of the planes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, TERMINALS_AND_HONOURS
from suphx.games.riichi.features.paper_layout import CLAIM, CLAIM_UKEIRE_BORDERS, PUBLIC, UKEIRE_BORDERS
from suphx.games.riichi.shanten import improving_kinds, shanten
from suphx.games.riichi.table import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, PASS, PON, PON_RED
from suphx.kernel.record import I8, U8
from tests.games.riichi.features.builders.public_history import RED_TILES, Seat, View
from tests.games.riichi.twins import observed_twin

NUMBERS = range(27)


def same_suit(kind: int, offset: int) -> bool:
    """Tell whether ``kind`` is a number and ``kind + offset`` one of the same suit."""
    return kind < 27 and 0 <= kind % 9 + offset <= 8


class Progress:
    """What the discards of a hand leave; ``allowed`` is empty for a hand that has nothing to discard."""

    def __init__(self, tiles: Sequence[int], num_melds: int, allowed: set[int], unseen: Counter[int]) -> None:
        self.hand = np.bincount([tile // 4 for tile in tiles], minlength=34).astype(np.int8)
        self.num_melds, self.allowed, self.unseen = num_melds, allowed, unseen
        self.now = self._shanten(self.hand)
        kinds = [int(kind) for kind in np.flatnonzero(self.hand)] if allowed else []
        self.after = {kind: self._shanten(self._without(kind)) for kind in kinds}
        self.least = min((self.after[kind] for kind in allowed), default=self.now)
        best = [kind for kind in kinds if kind in allowed and self.after[kind] == self.least]
        self.helps = {kind: self._helps(self._without(kind)) for kind in best} or {-1: self._helps(self.hand)}

    def _without(self, kind: int) -> I8:
        hand = self.hand.copy()
        hand[kind] -= 1
        return hand

    def _shanten(self, hand: I8) -> int:
        return int(shanten(load_suits(), hand, self.num_melds))

    def _helps(self, hand: I8) -> set[int]:
        bits = improving_kinds(load_suits(), hand, self.num_melds, self.least)
        return {kind for kind in range(34) if bits >> kind & 1}

    def columns(self, discards: Iterable[int]) -> observed_twin.Kinds:
        """Return the columns of discards; all for the hand as it is."""
        listed = list(discards)
        return observed_twin.FULL if listed == [-1] else listed

    def at_most(self, shanten: int) -> observed_twin.Kinds:
        after = self.after or {-1: self.now}
        return self.columns(kind for kind, value in after.items() if value <= shanten)

    def best(self) -> observed_twin.Kinds:
        return self.columns(self.helps)

    def ukeire(self, border: int) -> observed_twin.Kinds:
        counts = {kind: sum(self.unseen[other] for other in helps) for kind, helps in self.helps.items()}
        return self.columns(kind for kind, count in counts.items() if count >= border)

    def kinds(self) -> set[int]:
        return set().union(*self.helps.values())

    def furiten(self, own: set[int]) -> dict[int, bool]:
        """Tell of each best discard that leaves tenpai whether the waits are among the ``own`` discards or it."""
        return {k: bool(helps & (own | {k})) for k, helps in self.helps.items() if self.least == 0}


class Twin(observed_twin.ObservedTwin):
    """All planes of one view; ``action`` is a claim, or -1 for the 838 planes."""

    layouts = (PUBLIC, CLAIM)

    def __init__(self, view: View, action: int = -1) -> None:
        super().__init__(view)
        self.action = action

    def encode(self) -> U8:
        """Return uint8 (planes, 34) without the look-ahead planes, which are left 0."""
        parts = []
        for part in self.layouts[self.action >= 0].ranges:
            if "lookahead" in part.name:
                parts.append(np.zeros((part.count, 34), np.uint8))
                continue
            made: Callable[[], U8] = getattr(self, part.name)
            parts.append(made())
            assert parts[-1].shape == (part.count, 34), f"{part.name} has the shape {parts[-1].shape}"
        return np.concatenate(parts)

    # ---- safety

    def safe_kinds(self, seat: Seat) -> set[int]:
        return {discard.tile // 4 for discard in seat.river} | seat.passed

    def safe(self) -> U8:
        return observed_twin.planes(self.safe_kinds(other) for other in self.others)

    def other_ends(self, kind: int) -> list[int]:
        """Return the other ends of the two-sided waits that take ``kind``."""
        return [kind + step for step in (3, -3) if same_suit(kind, step)]

    def suji(self) -> U8:
        return observed_twin.planes(
            {k for k in NUMBERS if k not in safe and set(self.other_ends(k)) <= safe}
            for safe in map(self.safe_kinds, self.others)
        )

    def half_suji(self) -> U8:
        return observed_twin.planes(
            {k for k in NUMBERS if k not in safe and k % 9 in (3, 4, 5) and len(safe & set(self.other_ends(k))) == 1}
            for safe in map(self.safe_kinds, self.others)
        )

    def _is_held(self, *kinds: int) -> bool:
        """Tell whether somebody may hold these kinds."""
        return all(self.unseen_counts[kind] > 0 for kind in kinds)

    def two_sided(self) -> U8:
        found = []
        for safe in map(self.safe_kinds, self.others):
            ways = Counter[int]()
            for low in NUMBERS:  # low and low + 1 wait for their neighbours
                if same_suit(low, -1) and same_suit(low, 2) and self._is_held(low, low + 1):
                    ends = {low - 1, low + 2}
                    ways.update(ends if not ends & safe else ())
            found += [[k for k in ways if ways[k] >= n] for n in (1, 2)]
        return observed_twin.planes(found)

    def closed_wait(self) -> U8:
        waits = [k for k in NUMBERS if same_suit(k, -1) and same_suit(k, 1) and self._is_held(k - 1, k + 1)]
        return observed_twin.planes(set(waits) - self.safe_kinds(other) for other in self.others)

    def edge_wait(self) -> U8:
        waits = {k for k in NUMBERS if k % 9 == 2 and self._is_held(k - 1, k - 2)}
        waits |= {k for k in NUMBERS if k % 9 == 6 and self._is_held(k + 1, k + 2)}
        return observed_twin.planes(waits - self.safe_kinds(other) for other in self.others)

    def pair_wait(self) -> U8:
        return observed_twin.planes(
            {k for k in observed_twin.FULL if self.unseen_counts[k] > 1} - self.safe_kinds(seat) for seat in self.others
        )

    def single_wait(self) -> U8:
        return observed_twin.planes(
            {k for k in observed_twin.FULL if self.unseen_counts[k] > 0} - self.safe_kinds(seat) for seat in self.others
        )

    def _walled(self, most: int) -> set[int]:
        """Return the numbers whose two-sided waits all need a kind of which at most ``most`` tiles are unseen."""
        found = set()
        for kind in NUMBERS:
            shapes = [(kind + step // 3, kind + step // 3 * 2) for step in (3, -3) if same_suit(kind, step)]
            if all(min(self.unseen_counts[a], self.unseen_counts[b]) <= most for a, b in shapes):
                found.add(kind)
        return found

    def no_chance(self) -> U8:
        return observed_twin.plane(self._walled(0))

    def one_chance(self) -> U8:
        return observed_twin.plane(self._walled(1) - self._walled(0))

    def safe_from_riichi(self) -> U8:
        safe = [self.safe_kinds(other) for other in self.others if other.riichi]
        return observed_twin.plane(set.intersection(*safe) if safe else [])

    def safe_from_all(self) -> U8:
        return observed_twin.plane(set.intersection(*map(self.safe_kinds, self.others)))

    def safe_tiles_held(self) -> U8:
        held = [sum(tile // 4 in self.safe_kinds(seat) for tile in self.own.hand) for seat in self.others]
        return observed_twin.full(*(count >= n for count in held for n in (1, 3, 6)))

    # ---- progress

    @cached_property
    def progress(self) -> Progress:
        return Progress(self.own.hand, len(self.own.melds), self.allowed, self.unseen_counts)

    def shanten(self) -> U8:
        return observed_twin.one_hot(self.progress.now + 1, 8)

    def seven_pairs_shanten(self) -> U8:
        counts = Counter(tile // 4 for tile in self.own.hand)
        pairs = sum(count > 1 for count in counts.values())
        return self._at_most_two(6 - pairs + max(0, 7 - len(counts)))

    def orphans_shanten(self) -> U8:
        counts = Counter(tile // 4 for tile in self.own.hand if tile // 4 in TERMINALS_AND_HONOURS)
        return self._at_most_two(13 - len(counts) - any(count > 1 for count in counts.values()))

    def _at_most_two(self, distance: int) -> U8:
        return observed_twin.full(*(not self.own.melds and distance <= n for n in range(3)))

    def shanten_after(self) -> U8:
        return observed_twin.planes(self.progress.at_most(n) for n in range(6))

    def best_discard(self) -> U8:
        return observed_twin.plane(self.progress.best())

    def ukeire(self) -> U8:
        return observed_twin.planes(self.progress.ukeire(border) for border in UKEIRE_BORDERS)

    def ukeire_kinds(self) -> U8:
        return observed_twin.plane(self.progress.kinds())

    def furiten_after(self) -> U8:
        furiten = self.progress.furiten(self.own_river)
        return observed_twin.plane(self.progress.columns(kind for kind in furiten if furiten[kind]))

    # ---- claims

    @cached_property
    def claimed_tile(self) -> int:
        """The tile claimed; of an own kan one of its tiles of the hand, the red one if it is there."""
        if self.action >= PON:
            assert self.view.offered is not None
            return self.view.offered
        kind = self.action - (ANKAN if self.action < KAKAN else KAKAN)
        tiles = [tile for tile in self.own.hand if tile // 4 == kind]
        return next((tile for tile in tiles if tile in RED_TILES), tiles[0])

    @cached_property
    def used(self) -> list[int]:
        """The tiles that leave the hand."""
        kind = self.claimed_tile // 4
        same = [tile for tile in self.own.hand if tile // 4 == kind]
        if self.action in (PON, PON_RED):
            plain = [tile for tile in same if tile not in RED_TILES]
            red = [tile for tile in same if tile in RED_TILES]
            return ([*red, *plain] if self.action == PON_RED else plain)[:2]
        if self.action < ANKAN + 34 or self.action == MINKAN:
            return same
        if self.action < PON:
            return same[:1]
        lowest = kind - (self.action - CHI) % 3
        return [self._pick(other) for other in range(lowest, lowest + 3) if other != kind]

    def _pick(self, kind: int) -> int:
        """Return a tile of the hand for a chi, the red five only if the claim says so."""
        wants_red = self.action >= CHI_RED
        tiles = [tile for tile in self.own.hand if tile // 4 == kind]
        return min(tiles, key=lambda tile: (tile in RED_TILES) != wants_red)

    @property
    def is_chi(self) -> bool:
        return CHI <= self.action < PASS

    @property
    def is_kan(self) -> bool:
        return self.action < PON or self.action == MINKAN

    @cached_property
    def left(self) -> list[int]:
        return [tile for tile in self.own.hand if tile not in self.used]

    @cached_property
    def new_meld(self) -> list[int]:
        if KAKAN <= self.action < PON:
            pon = next(meld for meld in self.own.melds if meld.tiles[0] // 4 == self.claimed_tile // 4)
            return [*pon.tiles, *self.used]
        return [*self.used, *([self.claimed_tile] if self.action >= PON else [])]

    def claimed(self) -> U8:
        return observed_twin.plane([self.claimed_tile // 4])

    def claimed_red(self) -> U8:
        return observed_twin.full(bool(self.reds([self.claimed_tile])))

    def claimed_from(self) -> U8:
        return observed_twin.full(*(self.action >= PON and self.view.offered_by == i for i in (1, 2, 3)))

    def claim(self) -> U8:
        if self.is_chi:
            return observed_twin.one_hot((self.action - CHI) % 3, 7)
        if self.action >= PON:
            return observed_twin.one_hot(4 if self.action == MINKAN else 3, 7)
        return observed_twin.one_hot(5 if self.action < KAKAN else 6, 7)

    def uses_red(self) -> U8:
        return observed_twin.full(bool(self.reds(self.used)))

    def hand_after(self) -> U8:
        return observed_twin.counted(self.left)

    def meld_after(self) -> U8:
        return observed_twin.counted(self.new_meld)

    def closed_after(self) -> U8:
        return observed_twin.full(self.action < KAKAN and all(meld.type == ANKAN_MELD for meld in self.own.melds))

    @cached_property
    def forbidden(self) -> set[int]:
        """The claimed kind, and the other end of a run that it was an end of."""
        if self.is_kan:
            return set()
        kind = self.claimed_tile // 4
        ends = {0: 3, 2: -3}
        step = ends.get((self.action - CHI) % 3, 0) if self.is_chi else 0
        return {kind, kind + step} if same_suit(kind, step) else {kind}

    def forbidden_after(self) -> U8:
        return observed_twin.plane(self.forbidden)

    @cached_property
    def progress_after(self) -> Progress:
        allowed = set() if self.is_kan else {tile // 4 for tile in self.left} - self.forbidden
        num_melds = len(self.own.melds) + (not KAKAN <= self.action < PON)
        return Progress(self.left, num_melds, allowed, self.unseen_counts)

    def claim_shanten(self) -> U8:
        return observed_twin.one_hot(min(max(self.progress_after.least, 0), 6), 7)

    def claim_advances(self) -> U8:
        return observed_twin.full(self.progress_after.least < self.progress.now)

    def claim_discard(self) -> U8:
        return observed_twin.plane(self.progress_after.best())

    def claim_ukeire(self) -> U8:
        return observed_twin.planes(self.progress_after.ukeire(border) for border in CLAIM_UKEIRE_BORDERS)

    def claim_ukeire_kinds(self) -> U8:
        return observed_twin.plane(self.progress_after.kinds())

    def claim_tenpai(self) -> U8:
        furiten = self.progress_after.furiten(self.own_river)
        return observed_twin.full(any(not furiten[kind] and self.progress_after.helps[kind] for kind in furiten))

    def claim_yakuhai(self) -> U8:
        yakuhai = observed_twin.DRAGONS | {self.winds()[0], 27 + self.view.kyoku // 4}
        return observed_twin.full(not self.is_chi and self.claimed_tile // 4 in yakuhai)

    def claim_dora(self) -> U8:
        tiles = self.own.hand + [tile for meld in self.own.melds for tile in meld.tiles]
        count = self.count_dora(tiles + ([self.claimed_tile] if self.action >= PON else []))
        return observed_twin.full(*(count >= n for n in (1, 2, 3)))
