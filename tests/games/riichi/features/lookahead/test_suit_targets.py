from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import pytest

from suphx.games.riichi.features.paper_layout import MAX_CHANGED
from suphx.games.riichi.features.suit_targets import (
    DOUBLES_SHIFT,
    GROUP_PAIR,
    GROUP_SET,
    MAX_STATES,
    NUM_GROUPS,
    PAIR_SHIFT,
    RUNS_SHIFT,
    SETS_SHIFT,
    TABLE_TILES,
    expand_suit,
    load_suit_targets,
    rank_suit,
)
from suphx.kernel.record import I8, I64


@dataclass(frozen=True)
class Targets:
    """Every choice of up to four sets and a pair of one suit."""

    counts: I8
    """int8 [n, kinds]."""
    words: list[int]
    groups: I64
    """int64 [n], with nothing missing."""


def all_targets(num_kinds: int) -> Targets:
    kinds = range(num_kinds)
    starts = range(7) if num_kinds == 9 else ()
    parts = [(1, kind) for kind in kinds] + [(0, start) for start in starts]
    found = {}
    for num_sets in range(5):
        for sets in combinations_with_replacement(range(len(parts)), num_sets):
            for pair in range(-1, num_kinds):
                counts = np.zeros(num_kinds, np.int8)
                runs: list[int] = []
                word = 0
                for index in sets:
                    is_triplet, kind = parts[index]
                    counts[kind : kind + 1 if is_triplet else kind + 3] += 3 if is_triplet else 1
                    if is_triplet:
                        word |= 1 << SETS_SHIFT + kind
                    else:
                        word |= 1 << (DOUBLES_SHIFT if kind in runs else RUNS_SHIFT) + kind
                        runs.append(kind)
                if pair >= 0:
                    counts[pair] += 2
                    word |= (pair + 1) << PAIR_SHIFT
                if counts.max() <= 4:
                    word |= sum(int(n) << 4 * kind for kind, n in enumerate(counts))
                    found[word] = (counts, GROUP_SET * num_sets + GROUP_PAIR * (pair >= 0))
    return Targets(
        np.array([counts for counts, _ in found.values()]),
        list(found),
        np.array([group for _, group in found.values()]),
    )


def near(counts: I8, targets: Targets, limits: list[int]) -> list[tuple[int, int]]:
    missing = np.maximum(targets.counts - counts, 0).sum(axis=1)
    given = np.maximum(counts - targets.counts, 0).sum(axis=1)
    most = np.minimum(MAX_CHANGED, np.array(limits)[targets.groups >> 2])
    is_near = np.flatnonzero((missing <= most) & (given <= MAX_CHANGED)).tolist()
    return sorted((targets.words[i], int(targets.groups[i] + missing[i])) for i in is_near)


def random_counts(rng: np.random.Generator, num_kinds: int, most: int) -> I8:
    tiles = rng.permutation(np.repeat(np.arange(num_kinds), 4))[: rng.integers(0, most + 1)]
    return np.bincount(tiles, minlength=num_kinds).astype(np.int8)


@pytest.fixture(scope="module", params=[9, 7])
def suit(request: pytest.FixtureRequest) -> tuple[int, Targets]:
    num_kinds: int = request.param
    return num_kinds, all_targets(num_kinds)


def test_the_search_finds_all_sets_and_pairs_within_the_limits(suit: tuple[int, Targets]) -> None:
    num_kinds, targets = suit
    rng = np.random.default_rng(5)
    states = np.empty((2, MAX_STATES, 2), np.int64)
    for number in range(60):
        counts = random_counts(rng, num_kinds, 14)
        limits = rng.integers(-1, 4, 10) if number % 2 else np.full(10, MAX_CHANGED)
        num_found = expand_suit(counts, limits.astype(np.int64), states)
        assert sorted((int(w), int(g)) for w, g in states[0, :num_found]) == near(counts, targets, limits.tolist())


def test_the_table_holds_the_same_in_groups(suit: tuple[int, Targets]) -> None:
    num_kinds, targets = suit
    rng = np.random.default_rng(6)
    table = load_suit_targets()
    for _ in range(60):
        counts = random_counts(rng, num_kinds, TABLE_TILES)
        hand = np.zeros(34, np.int8)
        hand[27 if num_kinds == 7 else 9 :][:num_kinds] = counts
        rank = rank_suit(table, hand, 3 if num_kinds == 7 else 1)
        ends = table.ends[rank].astype(int)
        words = table.words[table.near[table.first[rank] :][: ends[-1]]]
        groups = np.repeat(np.arange(NUM_GROUPS), np.diff(ends, prepend=0))
        found = sorted(zip(words.tolist(), groups.tolist(), strict=True))
        assert found == near(counts, targets, [MAX_CHANGED] * 10)
