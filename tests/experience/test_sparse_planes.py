from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from suphx.experience.sparse_planes import SparseObservations, SparsePlanes
from suphx.games.learning import LearningConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.table_group import TableGroup


def test_observations_arrive_as_they_were_sent_in_a_third_of_the_bytes() -> None:
    config = LearningConfig(num_tables=20, learned=(DISCARD_HEAD,))
    group = TableGroup(config, find_encoder("suphx"), tenhou(), first_seed=1)
    for asked in group.observe():
        sparse = SparseObservations.of(asked)
        assert sparse.planes.nbytes < asked.planes.nbytes / 3
        arrived = sparse.dense()
        assert arrived.decision == asked.decision
        for column in ("planes", "masks", "policies", "uniforms"):
            np.testing.assert_array_equal(getattr(arrived, column), getattr(asked, column))


ROWS = st.tuples(st.integers(0, 5), st.sampled_from([1, 7, 8, 511, 512, 513, 1224])).flatmap(
    lambda shape: arrays(np.uint8, shape, elements=st.integers(0, 255), fill=st.just(np.uint8(0)))
)


@settings(deadline=None)
@given(ROWS, st.randoms())
def test_rows_come_out_as_they_went_in(rows: np.ndarray, random: Random) -> None:
    sparse = SparsePlanes.of(rows)
    np.testing.assert_array_equal(sparse.dense(), rows)
    order = np.array([random.randrange(len(rows)) for _ in range(4)] if len(rows) else [], np.int64)
    np.testing.assert_array_equal(sparse.take(order).dense(), rows[order])
    middle = len(rows) // 2
    halves = sparse.part(0, middle), sparse.part(middle, len(rows))
    np.testing.assert_array_equal(halves[1].dense(), rows[middle:])
    np.testing.assert_array_equal(SparsePlanes.joined(halves).dense(), rows)
    np.testing.assert_array_equal(SparsePlanes.from_arrays(sparse.arrays()).dense(), rows)


@pytest.mark.parametrize("num_words", [0, 1, 103, 446])
def test_only_words_that_are_not_zero_take_room(num_words: int) -> None:
    rows = np.zeros((10, 3562), np.uint8)
    for row in rows:
        row[np.random.default_rng(1).permutation(446)[:num_words] * 8] = 1
    sparse = SparsePlanes.of(rows)
    assert sparse.nbytes == 10 * (8 * num_words + 7 * 8 + 8)


def test_lines_of_padded_rows_are_taken_without_the_padding() -> None:
    rows = np.arange(80, dtype=np.uint8).reshape(5, 16)
    sparse = SparsePlanes.of(rows, np.array([4, 1]), observation_bytes=11)
    np.testing.assert_array_equal(sparse.dense(), rows[[4, 1], :11])


def test_what_cannot_be_written_to_can_be_read() -> None:
    rows = np.ones((3, 9), np.uint8)
    sparse = SparsePlanes.of(rows)
    for array in (sparse.content, sparse.ends):
        array.flags.writeable = False
    np.testing.assert_array_equal(sparse.dense(), rows)
