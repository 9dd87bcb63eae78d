from __future__ import annotations

import numpy as np

from suphx.experience.sparse_observations import SparseObservations
from suphx.games.head_game import GroupConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.games.riichi.table.rules import tenhou


def test_observations_arrive_as_they_were_sent_in_a_third_of_the_bytes() -> None:
    group = TableGroup(GroupConfig(num_tables=20, heads=(DISCARD_HEAD,)), find_encoder("suphx"), tenhou(), first_seed=1)
    for asked in group.observe():
        sparse = SparseObservations.of(asked)
        assert sparse.planes.nbytes < asked.planes.nbytes / 3
        arrived = sparse.dense()
        assert arrived.head == asked.head
        for column in ("planes", "masks", "policies", "uniforms"):
            np.testing.assert_array_equal(getattr(arrived, column), getattr(asked, column))


def test_no_observations_stay_none() -> None:
    (asked, *_) = TableGroup(
        GroupConfig(num_tables=2, heads=(DISCARD_HEAD,)), find_encoder("mini"), tenhou(), first_seed=1
    ).observe()
    none = SparseObservations.of(
        type(asked)(asked.head, asked.planes[:0], asked.masks[:0], asked.policies[:0], asked.uniforms[:0])
    )
    assert none.dense().planes.shape == (0, asked.planes.shape[1])
