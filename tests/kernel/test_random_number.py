from __future__ import annotations

import numpy as np

from suphx.kernel.random_number import draw_large_number, draw_number, seed_counter, shuffle


def test_numbers_fill_their_range_evenly() -> None:
    state = np.zeros(1, np.int64)
    seed_counter(state, 5)
    for draw in (draw_number, draw_large_number):
        counts = np.bincount([draw(state, 7) for _ in range(14_000)], minlength=7)
        assert len(counts) == 7
        assert ((counts - 2000) ** 2 / 2000).sum() < 25


def test_large_numbers_reach_all_of_a_range_that_is_no_power_of_two() -> None:
    state = np.zeros(1, np.int64)
    seed_counter(state, 9)
    bound = 3 << 60
    numbers = np.array([draw_large_number(state, bound) for _ in range(12_000)])
    assert 0 <= numbers.min() <= numbers.max() < bound
    counts = np.bincount(numbers >> 60, minlength=3)
    assert ((counts - 4000) ** 2 / 4000).sum() < 20
    assert abs((numbers & 1).mean() - 0.5) < 0.02


def test_every_order_is_equally_likely() -> None:
    state = np.zeros(1, np.int64)
    seed_counter(state, 3)
    orders = []
    for _ in range(12_000):
        ids = np.arange(4)
        shuffle(ids, state)
        orders.append(ids @ [64, 16, 4, 1])
    counts = np.unique(orders, return_counts=True)[1]
    assert len(counts) == 24
    assert ((counts - 500) ** 2 / 500).sum() < 60


def test_a_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    state = np.zeros(1, np.int64)
    numbers = []
    for seed in (1, 1, 2, 1 << 40):
        seed_counter(state, seed)
        numbers.append([draw_number(state, 1 << 30) for _ in range(5)])
    assert numbers[0] == numbers[1]
    assert len({tuple(row) for row in numbers}) == 3
