from __future__ import annotations

import numpy as np

from suphx.games.riichi.table.wall import DEALT, DORA_POSITIONS, LAST_DRAW, RINSHAN, URA_POSITIONS, shuffle_wall
from suphx.kernel.record import I16


def wall_of(seed: int, kyoku: int, honba: int) -> I16:
    wall = np.zeros(136, np.int16)
    shuffle_wall(seed, kyoku, honba, wall)
    return wall


def test_a_wall_holds_every_tile_once() -> None:
    for seed in (0, 1, 2**31, 2**62 - 1):
        for kyoku, honba in ((0, 0), (1, 0), (11, 20)):
            np.testing.assert_array_equal(np.sort(wall_of(seed, kyoku, honba)), np.arange(136))


def test_the_same_seed_kyoku_and_honba_give_the_same_wall() -> None:
    np.testing.assert_array_equal(wall_of(5, 3, 1), wall_of(5, 3, 1))


def test_another_seed_kyoku_or_honba_gives_another_wall() -> None:
    seeds, honbas = [0, 1, 2, 2**32, 2**32 + 1, 2**61], [0, 1, 2, 63, 64, 128, 1023]
    walls = {wall_of(seed, kyoku, honba).tobytes() for seed in seeds for kyoku in range(12) for honba in honbas}
    assert len(walls) == len(seeds) * 12 * len(honbas)


def test_every_tile_is_equally_likely_at_every_place() -> None:
    num_walls = 20_000
    counts = np.zeros((136, 136), np.int64)
    wall = np.zeros(136, np.int16)
    for seed in range(num_walls):
        shuffle_wall(seed, 0, 0, wall)
        counts[np.arange(136), wall] += 1
    expected = num_walls / 136
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    freedom = 135 * 135
    # Normal approximation: five standard deviations.
    assert abs(chi_square - freedom) < 5 * np.sqrt(2 * freedom)


def test_neighbouring_deals_are_independent() -> None:
    num_walls = 5_000
    for kyoku, honba in ((0, 1), (1, 0)):
        equal = sum(int((wall_of(seed, 0, 0) == wall_of(seed, kyoku, honba)).sum()) for seed in range(num_walls))
        assert abs(equal - num_walls) < 5 * np.sqrt(num_walls)  # one place in 136 by chance


def test_draws_and_dead_wall_do_not_overlap() -> None:
    dead = [*RINSHAN, *(DORA_POSITIONS[i] for i in range(5)), *(URA_POSITIONS[i] for i in range(5))]
    assert sorted(dead) == list(range(LAST_DRAW, 136))
    assert LAST_DRAW - DEALT == 70
