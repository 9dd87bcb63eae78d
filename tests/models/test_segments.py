from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from suphx.models.segments import segment_argmax, segment_rows


def test_each_row_belongs_to_its_list() -> None:
    assert segment_rows(np.array([0, 2, 2, 5])).tolist() == [0, 0, 2, 2, 2]


def test_the_first_of_the_highest_values_of_each_list_is_chosen() -> None:
    values = np.array([1.0, 3.0, 3.0, -1.0, -2.0, 3.0], np.float32)
    assert segment_argmax(values, np.array([0, 3, 5, 6])).tolist() == [1, 3, 5]


def test_random_lists_give_what_a_loop_gives() -> None:
    rng = np.random.default_rng(2)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 50))])
    values = rng.integers(0, 5, offsets[-1]).astype(np.float32)
    expected = [a + int(np.argmax(values[a:b])) for a, b in pairwise(offsets)]
    assert segment_argmax(values, offsets).tolist() == expected


def test_no_lists_give_no_rows() -> None:
    assert segment_argmax(np.zeros(0, np.float32), np.zeros(1, np.int64)).tolist() == []


def test_empty_lists_and_nan_are_refused() -> None:
    with pytest.raises(ValueError, match="list 1 has no rows"):
        segment_argmax(np.ones(2), np.array([0, 2, 2]))
    with pytest.raises(ValueError, match="the value of row 1 is not a number"):
        segment_argmax(np.array([0.0, np.nan]), np.array([0, 2]))
