from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.features.encoder import ENCODERS, encode_observation, find_encoder
from suphx.games.riichi.features.head import (
    CHOW_HEAD,
    CLAIM_HEADS,
    DISCARD_HEAD,
    HEAD_NAMES,
    KONG_HEAD,
    PONG_HEAD,
    RIICHI_HEAD,
)
from suphx.games.riichi.features.lookahead.lookup import load_lookup
from suphx.games.riichi.features.mini import encode
from suphx.games.riichi.table.action import ANKAN, PON
from tests.games.riichi.features.builders.random_tables import random_tables


def test_every_encoder_is_found_by_its_name_and_has_its_own_number() -> None:
    assert [find_encoder(name).name for name in ENCODERS] == list(ENCODERS)
    assert len({encoder.id for encoder in ENCODERS.values()}) == len(ENCODERS)


def test_an_unknown_encoder_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'maxi' is no encoder: use one of mini"):
        find_encoder("maxi")


@pytest.mark.parametrize(
    ("head", "planes"), [(DISCARD_HEAD, 288), (RIICHI_HEAD, 288), (CHOW_HEAD, 310), (PONG_HEAD, 310), (KONG_HEAD, 310)]
)
def test_each_head_has_its_layout(head: int, planes: int) -> None:
    assert find_encoder("mini").layout(head).num_planes == planes


@pytest.mark.parametrize("head", [-1, 5])
def test_a_head_that_is_none_is_refused(head: int) -> None:
    with pytest.raises(ValueError, match=f"{head} is no head: use 0 to 4"):
        find_encoder("mini").layout(head)


@pytest.mark.parametrize("head", range(len(HEAD_NAMES)))
def test_the_row_of_a_head_is_that_of_the_encoder(head: int) -> None:
    encoder = find_encoder("mini")
    table = random_tables(1, seed=6)[0].view(np.recarray)
    action = ANKAN + 3 if head == KONG_HEAD else PON
    expected, row = np.zeros((2, encoder.layout(head).observation_bytes), np.uint8)
    encode(table, 2, action if head in CLAIM_HEADS else -1, expected)
    encode_observation(encoder.id, load_lookup(), table, 2, head, action, row)
    assert np.array_equal(row, expected)
