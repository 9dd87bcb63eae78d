from __future__ import annotations

import re
from itertools import islice

import numpy as np
import pytest

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.oracle import ORACLE, encode_oracle, oracle_observation, seen_planes, with_oracle
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.shanten import shanten
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import ROB_KAN
from suphx.kernel.record import U8, Records
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.features.builders.positions import Position, positions
from tests.games.riichi.features.builders.public_history import Seat
from tests.games.riichi.twins.observed_twin import counted, dora_of, full, one_hot, plane, planes, red_kinds

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
    return np.stack([encoded(table, int(table["actor"])) for table in tables])


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
    rows = oracle_observations(tables, keep_probability)
    assert np.array_equal(seen(rows), everything(tables) * masks)
    assert np.array_equal(seen(rows, sees_all=True), everything(tables))


def test_what_is_hidden_changes_nothing_of_what_is_seen_at_keep_probability_0(tables: Records) -> None:
    others = determinise(tables, tables["actor"], np.arange(N))
    assert not np.array_equal(everything(others), everything(tables))
    for shown in (0, ORACLE.num_planes):
        rows = [seen_planes(oracle_observations(dealt, 0.0), LAYOUT.num_planes, shown) for dealt in (tables, others)]
        assert np.array_equal(rows[0], rows[1])


def test_about_the_given_share_of_the_bits_is_kept_and_each_row_keeps_others(tables: Records) -> None:
    whole = everything(tables)
    kept = seen(oracle_observations(tables, 0.3))
    assert kept.sum() / whole.sum() == pytest.approx(0.3, abs=0.01)
    same = everything(tables[:1].repeat(N))
    assert np.unique(seen(oracle_observations(tables[:1].repeat(N), 0.3)).reshape(N, -1), axis=0).shape[0] == N
    assert np.array_equal(seen(oracle_observations(tables[:1].repeat(N), 0.3)).any(axis=0), same[0])


def test_what_does_not_fit_is_refused(tables: Records) -> None:
    rows = oracle_observations(tables, 1.0)
    size = oracle_observation(LAYOUT.observation_bytes).itemsize
    with pytest.raises(ValueError, match=re.escape(f"or uint8[n, {size}] with what")):
        seen_planes(rows[:, 1:], LAYOUT.num_planes, ORACLE.num_planes)
    with pytest.raises(ValueError, match=f"a net has 5 oracle planes, but {ORACLE.num_planes} are encoded"):
        seen_planes(rows, LAYOUT.num_planes, 5)
    with pytest.raises(ValueError, match=r"keep_probability is 1\.5: use a probability"):
        oracle_observations(tables, 1.5)


RINSHAN_PLACES = (134, 135, 132, 133)


def encoded(table: np.void, seat: int) -> U8:
    row = np.full(ORACLE.observation_bytes, 255, np.uint8)
    encode_oracle(load_lookup(), table.view(np.recarray), seat, row)  # type: ignore[arg-type]
    return unpack_planes(row, ORACLE.num_planes)


def twin(position: Position, seat: int) -> U8:
    """Return the same out of the true hands and the wall of the record."""
    history = position.history
    wall = [int(tile) for tile in history.log.wall]
    others = [history.seats[(seat + i) % 4] for i in (1, 2, 3)]
    num_kans = sum(meld.type >= ANKAN_MELD for owner in history.seats for meld in owner.melds)
    next_draw = 52 + history.num_draws - num_kans
    live = wall[next_draw : 122 - num_kans]
    by_seat: dict[int, list[int]] = {i: [] for i in range(4)}
    for i, tile in enumerate(live[:4]):
        by_seat[(history.turn + 1 + i - seat) % 4].append(tile // 4)
    waits = [waits_of(position, other) for other in others]
    furiten = [
        bool(kinds and (other.missed_win or kinds & {discard.tile // 4 for discard in other.river}))
        for other, kinds in zip(others, waits, strict=True)
    ]
    hidden_dora = [dora_of(wall[130 - 2 * i]) for i in range(len(history.indicators), 5)]
    return np.concatenate(
        [
            *(counted(other.hand) for other in others),
            planes(red_kinds(other.hand) for other in others),
            *(one_hot(shanten_of(other) + 1, 8) for other in others),
            planes(waits),
            full(*furiten),
            one_after_another([tile // 4 for tile in live], 70),
            planes(by_seat[i] for i in range(4)),
            counted(live),
            plane(red_kinds(live)),
            one_after_another([wall[place] // 4 for place in RINSHAN_PLACES[num_kans:]], 4),
            one_after_another(hidden_dora, 4),
            one_after_another([dora_of(wall[131 - 2 * i]) for i in range(5)], 5),
        ]
    )


def one_after_another(kinds: list[int], size: int) -> U8:
    return planes([[kind] for kind in kinds] + [[]] * (size - len(kinds)))


def shanten_of(seat: Seat) -> int:
    hand = np.bincount([tile // 4 for tile in seat.hand], minlength=34).astype(np.int8)
    return int(shanten(load_suits(), hand, len(seat.melds)))


def waits_of(position: Position, seat: Seat) -> set[int]:
    tiles = list(seat.hand)
    if len(tiles) % 3 == 2:
        if position.history.drawn is None:
            return set()
        tiles.remove(position.history.drawn)
    return Seat(0, tiles, seat.melds).waits()


def test_hidden_tiles_of_whole_games_are_encoded_as_the_slow_twin_does() -> None:
    for number, position in enumerate(islice(positions(random_game(6)), 1_500)):
        if position.table["phase"] != ROB_KAN:
            for seat in {position.actor, number % 4}:
                assert np.array_equal(encoded(position.table, seat), twin(position, seat)), number
