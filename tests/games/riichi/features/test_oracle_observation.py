"""Equation 5 of the paper: which bits of the oracle planes a net sees, against a slow twin."""

from __future__ import annotations

import re

import numpy as np
import pytest

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.features.batch import encode_oracle_batch
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.games.riichi.features.layout.planes import unpack_planes
from suphx.games.riichi.features.oracle import ORACLE
from suphx.games.riichi.features.oracle_observation import oracle_observation, seen_planes, with_oracle
from suphx.games.riichi.hidden.determinisation import determinise
from suphx.games.riichi.table.rules import tenhou
from suphx.kernel.record import U8, Records

NUM_PLANES = 310
LAYOUT = find_encoder("mini").layout(DISCARD_HEAD)
N = 60


@pytest.fixture(scope="module")
def tables() -> Records:
    simulator = Simulator(N, tenhou())
    simulator.reset(range(N))
    return simulator.tables


def oracle_observations(tables: Records, keep_probability: float, first_seed: int = 2**32 - N) -> U8:
    rng = np.random.default_rng(3)
    public = rng.integers(256, size=(N, LAYOUT.observation_bytes), dtype=np.uint8)
    return with_oracle(public, tables, np.arange(N), first_seed + np.arange(N), keep_probability=keep_probability)


def seen(rows: U8, *, sees_all: bool = False) -> U8:
    """Return the oracle planes that a net sees, uint8 [n, planes, 34]."""
    joined = seen_planes(rows, LAYOUT.num_planes, ORACLE.num_planes, sees_all=sees_all)
    assert np.array_equal(joined[:, : LAYOUT.observation_bytes], rows[:, : LAYOUT.observation_bytes])
    return np.stack([unpack_planes(row, ORACLE.num_planes) for row in joined[:, LAYOUT.observation_bytes :]])


def everything(tables: Records) -> U8:
    rows = np.zeros((N, ORACLE.observation_bytes), np.uint8)
    encode_oracle_batch(tables, np.arange(N), rows)
    return np.stack([unpack_planes(row, ORACLE.num_planes) for row in rows])


def mixed(x: int) -> int:
    x = (x ^ x >> 16) * 0x7FEB352D % 2**32
    x = (x ^ x >> 15) * 0x846CA68B % 2**32
    return x ^ x >> 16


def keep_mask(seed: int, keep_probability: float) -> U8:
    """Return the Bernoulli matrix of equation 5, uint8 [planes, 34], one element after another."""
    draws = [mixed((mixed(seed) + 0x9E3779B9 * i) % 2**32) // 256 / 2**24 for i in range(ORACLE.num_planes * 34)]
    return (np.array(draws) < keep_probability).astype(np.uint8).reshape(ORACLE.num_planes, 34)


@pytest.mark.parametrize("keep_probability", [0.0, 0.25, 0.9, 1.0])
def test_a_net_sees_the_oracle_planes_times_the_mask_of_the_row(tables: Records, keep_probability: float) -> None:
    masks = np.stack([keep_mask(2**32 - N + i, keep_probability) for i in range(N)])
    assert np.array_equal(seen(oracle_observations(tables, keep_probability)), everything(tables) * masks)


def test_at_keep_probability_1_everything_is_seen_and_at_keep_probability_0_nothing(tables: Records) -> None:
    assert np.array_equal(seen(oracle_observations(tables, 1.0)), everything(tables))
    assert not seen(oracle_observations(tables, 0.0)).any()
    assert np.array_equal(seen(oracle_observations(tables, 0.0), sees_all=True), everything(tables))


def test_what_is_hidden_changes_nothing_of_what_is_seen_at_keep_probability_0(tables: Records) -> None:
    others = determinise(tables, tables["actor"], np.arange(N))
    assert not np.array_equal(everything(others), everything(tables))
    for planes in (0, ORACLE.num_planes):
        rows = [seen_planes(oracle_observations(dealt, 0.0), LAYOUT.num_planes, planes) for dealt in (tables, others)]
        assert np.array_equal(rows[0], rows[1])


def test_about_the_given_share_of_the_bits_is_kept_and_each_row_keeps_others(tables: Records) -> None:
    whole = everything(tables)
    kept = seen(oracle_observations(tables, 0.3))
    assert kept.sum() / whole.sum() == pytest.approx(0.3, abs=0.01)
    same = everything(tables[:1].repeat(N))
    assert np.unique(seen(oracle_observations(tables[:1].repeat(N), 0.3)).reshape(N, -1), axis=0).shape[0] == N
    assert np.array_equal(seen(oracle_observations(tables[:1].repeat(N), 0.3)).any(axis=0), same[0])


def test_a_bit_that_is_seen_at_one_keep_probability_is_seen_at_every_higher_one(tables: Records) -> None:
    low, high = seen(oracle_observations(tables, 0.3)), seen(oracle_observations(tables, 0.7))
    assert (low <= high).all()
    assert (low < high).any()


def test_a_public_net_sees_the_public_planes_of_either_kind_of_row(tables: Records) -> None:
    rows = oracle_observations(tables, 1.0)
    public = seen_planes(rows, LAYOUT.num_planes, 0)
    assert np.array_equal(public, rows[:, : LAYOUT.observation_bytes])
    assert np.array_equal(seen_planes(public, LAYOUT.num_planes, 0), public)


def test_the_columns_of_a_row_have_names(tables: Records) -> None:
    columns = oracle_observations(tables, 0.25, first_seed=7).view(oracle_observation(LAYOUT.observation_bytes))[:, 0]
    assert columns["oracle_seed"].tolist() == list(range(7, 7 + N))
    assert (columns["keep_threshold"] == 2**24 // 4).all()
    planes = np.stack([unpack_planes(row, ORACLE.num_planes) for row in columns["oracle_planes"]])
    assert np.array_equal(planes, everything(tables))


def test_what_does_not_fit_is_refused(tables: Records) -> None:
    rows = oracle_observations(tables, 1.0)
    size = oracle_observation(LAYOUT.observation_bytes).itemsize
    with pytest.raises(ValueError, match=re.escape(f"or uint8[n, {size}] with what")):
        seen_planes(rows[:, 1:], LAYOUT.num_planes, ORACLE.num_planes)
    with pytest.raises(ValueError, match=f"a net has 5 oracle planes, but {ORACLE.num_planes} are encoded"):
        seen_planes(rows, LAYOUT.num_planes, 5)
    with pytest.raises(ValueError, match=r"keep_probability is 1\.5: use a probability"):
        oracle_observations(tables, 1.5)
