"""The four discard lists of the Fanfou agents, step by step as the published programs decide: a slow twin.

``python -m tests.games.dazhong.lists_twin`` writes the golden lists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np

from suphx.games.mahjong.tile import join_names, kind_name
from suphx.kernel.record import I8
from tests.repository import GOLDEN

LISTS = GOLDEN / "lists/discard_lists.json"
NUM_GOLDEN = 2000
BAMBOO, CHARACTERS, DOTS = 18, 0, 9
Count = Callable[[int], int]
"""How many tiles of a rank there are in a suit."""


def lists_of(hand: I8) -> list[list[int]]:
    """Return the kinds of the four lists of a hand, int8 (34,)."""
    num_pairs = sum(int(count) == 2 for count in hand)
    lists: list[list[int]] = [[], [], [], []]
    steps: list[tuple[int, Callable[[Count], Iterator[int]]]] = [
        (1, single_ends),
        (1, single_middles),
        (2, ends_near_two),
        *([(2, middle_of_a_run_that_is_a_pair)] if num_pairs > 1 else []),
        (2, second_ranks_apart_from_a_run),
        (2, middles_apart_from_a_run),
        (2, ends_beside_a_pair),
        (2, middle_of_a_run_that_is_a_pair),
        (2, ends_beside_a_triplet),
        (2, middles_beside_a_triplet),
        (2, tiles_before_a_run),
        (2, fives_before_a_run),
        (2, middles_apart_from_two),
        (2, second_ranks_two_apart),
        (2, middles_two_apart),
        (3, second_ranks_near_a_pair),
        (3, middles_alone),
        (3, tiles_two_from_a_pair),
        (3, end_pairs),
        (3, middle_pairs),
        (4, pairs_in_a_run),
        (4, second_ranks_beside_a_pair),
        (4, middles_beside_a_pair),
    ]
    for number, step in steps:
        for first in (BAMBOO, CHARACTERS, DOTS):
            counts = {rank: int(hand[first + rank - 1]) for rank in range(1, 10)}
            lists[number - 1] += [first + rank - 1 for rank in step(counts.__getitem__)]
    return lists


def mirrored(c: Count) -> Count:
    return lambda rank: c(10 - rank)


def single_ends(c: Count) -> Iterator[int]:
    if c(1) == 1 and c(2) == 0 and c(3) == 0:
        yield 1
    if c(9) == 1 and c(8) == 0 and c(7) == 0:
        yield 9
    if c(2) == 1 and c(1) == 0 and c(3) == 0 and c(4) == 0:
        yield 2
    if c(8) == 1 and c(9) == 0 and c(7) == 0 and c(6) == 0:
        yield 8


def single_middles(c: Count) -> Iterator[int]:
    for r in range(3, 8):
        if c(r) == 1 and c(r - 1) == 0 and c(r - 2) == 0 and c(r + 1) == 0 and c(r + 2) == 0:
            yield r


def ends_near_two(c: Count) -> Iterator[int]:
    def a(c: Count) -> bool:
        return c(1) == 1 and c(2) == 0 and c(3) != 0 and c(4) == 1

    def b(c: Count) -> bool:
        return c(1) == 1 and c(2) != 0 and c(3) == 0 and c(4) == 1

    def e(c: Count) -> bool:
        return c(1) == c(2) == c(3) == c(4) == 1 and c(5) == c(6) == 0

    def g(c: Count) -> bool:
        return c(1) == 1 and ((c(2) == 0 and c(3) == 1) or (c(2) == 1 and c(3) == 0))

    m = mirrored(c)
    if a(m):
        yield 9
    if b(m):
        yield 9
    if a(c):
        yield 1
    if b(c):
        yield 1
    if e(c):
        yield 1
    if e(m):
        yield 9
    if g(c):
        yield 1
    if g(m):
        yield 9


def middle_of_a_run_that_is_a_pair(c: Count) -> Iterator[int]:
    if c(1) == 1 and c(2) == 2 and c(3) == 1 and c(4) == 0:
        yield 2
    if c(9) == 1 and c(8) == 2 and c(7) == 1 and c(6) == 0:
        yield 8


def second_ranks_apart_from_a_run(c: Count) -> Iterator[int]:
    for rank, s in ((2, c), (8, mirrored(c))):
        has_two = (s(4) != 0 and s(5) == 1) or (s(4) == 1 and s(5) != 0)
        if s(2) == 1 and s(3) == 0 and s(1) != 1 and has_two:
            yield rank


def middles_apart_from_a_run(c: Count) -> Iterator[int]:
    for r in (3, 4, 5):
        if is_apart_from_two(c, r) and c(r + 4) != 1:
            yield r
    m = mirrored(c)
    for r in (5, 6, 7):
        if is_apart_from_two(m, 10 - r) and m(10 - r + 4) != 1:
            yield r


def is_apart_from_two(c: Count, r: int) -> bool:
    if c(r) != 1 or c(r - 2) != 0 or c(r - 1) != 0 or c(r + 1) != 0:
        return False
    return (c(r + 2) != 0 and c(r + 3) == 1) or (c(r + 2) == 1 and c(r + 3) != 0)


def ends_beside_a_pair(c: Count) -> Iterator[int]:
    for rank, s in ((1, c), (9, mirrored(c))):
        if s(1) == 1 and s(2) == 2 and s(3) == 0:
            yield rank
        if s(1) == 1 and s(2) == 2 and s(3) == 1 and s(4) == 1 and s(5) == 1:
            yield rank
        if s(1) == 1 and s(2) == 0 and s(3) == 2:
            yield rank
        if s(1) == 1 and s(2) == 1 and s(3) == 0 and s(4) == 2:
            yield rank


def ends_beside_a_triplet(c: Count) -> Iterator[int]:
    m = mirrored(c)
    if c(1) == 1 and c(2) == 3 and c(3) != 1:
        yield 1
    if m(1) == 1 and m(2) == 3 and m(3) != 1:
        yield 9
    if c(1) == 1 and c(2) != 1 and c(3) == 3:
        yield 1
    if m(1) == 1 and m(2) != 1 and m(3) == 3:
        yield 9
    if c(1) == 0 and c(2) == 1 and c(3) == 3:
        yield 2
    if m(1) == 0 and m(2) == 1 and m(3) == 3:
        yield 8


def middles_beside_a_triplet(c: Count) -> Iterator[int]:
    for r in range(3, 9):
        if c(r) == 1 and c(r + 1) == 3 and c(r - 1) == 0 and c(r - 2) == 0:
            yield r
    for r in range(2, 8):
        if c(r) == 1 and c(r - 1) == 3 and c(r + 1) == 0 and c(r + 2) == 0:
            yield r
    for r in range(2, 8):
        if c(r) == 1 and c(r + 1) == 0 and c(r + 2) == 3 and c(r - 1) == 0:
            yield r
    for r in range(3, 9):
        if c(r) == 1 and c(r - 1) == 0 and c(r - 2) == 3 and c(r + 1) == 0:
            yield r


def tiles_before_a_run(c: Count) -> Iterator[int]:
    for start, s in ((2, c), (8, mirrored(c))):
        for r in (2, 3, 4):
            if s(r) == 1 and s(r + 1) == 0 and s(r + 2) == s(r + 3) == s(r + 4) == 1 and s(r + 5) != 1:
                yield r if start == 2 else 10 - r


def fives_before_a_run(c: Count) -> Iterator[int]:
    if any(s(5) == 1 and s(6) == 0 and s(7) == s(8) == s(9) == 1 and s(4) == s(3) == 0 for s in (c, mirrored(c))):
        yield 5


def middles_apart_from_two(c: Count) -> Iterator[int]:
    for r in (3, 4, 5):
        if is_apart_from_two(c, r):
            yield r
    for r in (5, 6, 7):
        if is_apart_from_two(mirrored(c), 10 - r):
            yield r


def second_ranks_two_apart(c: Count) -> Iterator[int]:
    for rank, s in ((2, c), (8, mirrored(c))):
        if s(2) == 1 and s(1) == 0 and s(3) == 0 and s(4) == 1:
            yield rank


def middles_two_apart(c: Count) -> Iterator[int]:
    for r in (3, 4, 5, 6, 7):
        if c(r) == 1 and c(r + 1) == 0 and c(r + 2) == 1 and c(r - 1) == 0 and c(r - 2) != 2:
            yield r
    for r in (7, 6, 5, 4, 3):
        if r >= 5 and c(r) == 1 and c(r + 1) == 0 and c(r + 2) != 2 and c(r - 1) == 0 and c(r - 2) == 1:
            yield r


def second_ranks_near_a_pair(c: Count) -> Iterator[int]:
    m = mirrored(c)
    if c(1) == 2 and c(2) == 1 and c(3) == 0 and c(4) == 0:
        yield 2
    if m(1) == 2 and m(2) == 1 and m(3) == 0 and m(4) == 0:
        yield 8
    if c(9) == 0 and c(8) == 1 and c(7) == 0 and c(6) == 2:
        yield 8
    if m(9) == 0 and m(8) == 1 and m(7) == 0 and m(6) == 2:
        yield 2


def middles_alone(c: Count) -> Iterator[int]:
    for r in range(3, 8):
        if c(r) == 1 and c(r - 1) == 0 and c(r + 1) == 0 and (c(r + 2) == 0 or c(r - 2) == 0):
            yield r


def tiles_two_from_a_pair(c: Count) -> Iterator[int]:
    if c(3) == 1 and c(4) == 0 and c(5) == 2 and c(2) == 0:
        yield 3
    if c(5) == 2 and c(6) == 0 and c(7) == 1 and c(8) == 0:
        yield 7
    for r in range(4, 8):
        is_free = c(r - 1) == 0 or c(r - 1) == c(r - 2) == c(r - 3) == 1
        if c(r) == 1 and c(r + 1) == 0 and c(r + 2) == 2 and is_free:
            yield r
    for r in range(1, 5):
        is_free = c(r + 3) == 0 or c(r + 3) == c(r + 4) == c(r + 5) == 1
        if c(r) == 2 and c(r + 1) == 0 and c(r + 2) == 1 and is_free:
            yield r + 2


def end_pairs(c: Count) -> Iterator[int]:
    for rank, s in ((1, c), (9, mirrored(c))):
        if s(1) == 2 and s(2) == 1 and s(3) == 1 and s(4) == 0:
            yield rank


def middle_pairs(c: Count) -> Iterator[int]:
    if c(9) != 1 and c(8) == 2 and c(7) == 1 and c(6) == 1 and c(5) == 0:
        yield 8
    for r in range(1, 6):
        if c(r) == 1 and c(r + 1) == 1 and c(r + 2) == 2 and c(r + 3) == 0 and c(r + 4) != 1:
            yield r + 2
    for r in range(3, 8):
        if c(r) == 2 and c(r + 1) == 1 and c(r + 2) == 1 and c(r - 1) == 0 and c(r - 2) != 1:
            yield r
    for r in range(3, 8):
        if c(r) == 2 and c(r + 1) == 1 and c(r + 2) == 0 and c(r - 1) == 1 and c(r - 2) == 0:
            yield r


def pairs_in_a_run(c: Count) -> Iterator[int]:
    for r in range(2, 9):
        if c(r) == 2 and c(r - 1) == 1 and c(r + 1) == 1:
            yield r


def second_ranks_beside_a_pair(c: Count) -> Iterator[int]:
    if c(1) == 0 and c(2) == 1 and c(3) == 2 and c(4) == 0:
        yield 2
    if c(6) == 0 and c(7) == 2 and c(8) == 1 and c(9) == 0:
        yield 8


def middles_beside_a_pair(c: Count) -> Iterator[int]:
    for r in range(3, 8):
        if c(r) == 1 and ((c(r + 1) == 2 and c(r + 2) == 0) or (c(r - 1) == 2 and c(r - 2) == 0)):
            yield r


def random_hand(rng: np.random.Generator) -> I8:
    """Return a hand of 2 to 14 tiles, often of few suits, so that all steps have something to append."""
    suits = rng.choice(3, size=rng.integers(1, 4), replace=False)
    tiles = np.concatenate([np.arange(36 * suit, 36 * suit + 36) for suit in suits])
    size = int(rng.integers(2, 15))
    return np.bincount(rng.choice(tiles, size, replace=False) // 4, minlength=34).astype(np.int8)


def write_golden() -> None:
    """Write hands and their lists."""
    rng = np.random.default_rng(2022)
    lines = []
    for _ in range(NUM_GOLDEN):
        hand = random_hand(rng)
        tiles = join_names(kind_name(kind) for kind in np.repeat(np.arange(34), hand).tolist())
        lines.append(json.dumps([tiles, *(" ".join(map(kind_name, kinds)) for kinds in lists_of(hand))]))
    LISTS.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write_golden()
