from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from suphx.games.riichi.table.placement import place_of, places_of_scores


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        ([40_000, 30_000, 20_000, 10_000], [1, 2, 3, 4]),
        ([25_000, 30_000, 25_000, 20_000], [2, 1, 3, 4]),
        ([25_000, 25_000, 25_000, 25_000], [1, 2, 3, 4]),
        ([20_000, 30_000, 30_000, 20_000], [3, 1, 2, 4]),
        ([-500, 2, 100_000, 498], [4, 3, 1, 2]),
    ],
)
def test_of_equal_points_the_seat_nearer_to_the_first_dealer_is_ahead(scores: list[int], places: list[int]) -> None:
    assert places_of_scores(np.array([scores], np.int32)).tolist() == [places]


def test_kernel_and_array_agree_on_every_order_with_ties() -> None:
    scores = np.array(list(product(range(4), repeat=4)), np.int32)
    kernel = [[place_of(row, seat) for seat in range(4)] for row in scores]
    assert places_of_scores(scores).tolist() == kernel
    assert {tuple(sorted(row)) for row in kernel} == {(1, 2, 3, 4)}
