from __future__ import annotations

import numpy as np

from suphx.features.encoder import find_encoder
from suphx.features.head import DISCARD
from suphx.riichi.rules import tenhou
from suphx.selfplay.sparse_questions import SparseQuestions
from suphx.selfplay.table_group import GroupConfig, TableGroup


def test_questions_arrive_as_they_were_asked_in_a_third_of_the_bytes() -> None:
    group = TableGroup(GroupConfig(num_tables=20, heads=(DISCARD,)), find_encoder("suphx"), tenhou(), first_seed=1)
    for asked in group.ask():
        sparse = SparseQuestions.of(asked)
        assert sparse.rows.nbytes < asked.rows.nbytes / 3
        arrived = sparse.dense()
        assert arrived.head == asked.head
        for column in ("rows", "masks", "policies", "places"):
            np.testing.assert_array_equal(getattr(arrived, column), getattr(asked, column))


def test_no_questions_are_no_questions() -> None:
    (asked, *_) = TableGroup(
        GroupConfig(num_tables=2, heads=(DISCARD,)), find_encoder("mini"), tenhou(), first_seed=1
    ).ask()
    none = SparseQuestions.of(
        type(asked)(asked.head, asked.rows[:0], asked.masks[:0], asked.policies[:0], asked.places[:0])
    )
    assert none.dense().rows.shape == (0, asked.rows.shape[1])
