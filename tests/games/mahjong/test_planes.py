from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import (
    SUIT_ORDERS,
    PlaneRange,
    add_tile,
    count_bits,
    count_masks,
    count_tiles,
    layout,
    observation_bytes,
    permute_suits,
    remove_tiles,
    set_bit,
    set_counts,
    set_kinds,
    set_plane,
    unpack_planes,
)
from suphx.games.mahjong.suit_exchange import exchange_suits
from suphx.games.riichi.archive.store import KyokuStore, write_store
from suphx.games.riichi.features.encoder import ENCODERS
from suphx.games.riichi.features.samples import encode_kyokus
from suphx.games.riichi.game import RiichiSamples
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES, KONG_HEAD
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, KyokuLog
from suphx.games.riichi.table import ANKAN, CHI, KAKAN, PASS, TSUMO, TSUMOGIRI
from suphx.kernel.record import U8, U16
from tests.games.riichi.builders.games import random_game


def test_ranges_follow_each_other_and_are_found_by_name() -> None:
    table = layout("small", 3, [("hand", 4, "own tiles"), ("riichi", 3, "who declared")])
    assert table["riichi"] == PlaneRange("riichi", 4, 3, "who declared")
    assert (table.num_planes, table.observation_bytes) == (7, 30)


def test_a_doubled_name_is_refused() -> None:
    with pytest.raises(ValueError, match="two ranges are called a"):
        layout("small", 1, [("a", 1, ""), ("a", 1, "")])


def test_an_unknown_range_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no planes called 'hnad': use one of hand"):
        layout("small", 1, [("hand", 4, "")])["hnad"]


def test_a_range_may_have_a_shape() -> None:
    assert layout("small", 1, [("rivers", (4, 24), "")])["rivers"] == PlaneRange("rivers", 0, 96, "", (4, 24))


@pytest.mark.parametrize("num_planes", [1, 2, 3, 4, 7, 288])
def test_every_bit_lands_in_its_own_place(num_planes: int) -> None:
    rng = np.random.default_rng(num_planes)
    planes = rng.integers(0, 2, (num_planes, 34)).astype(np.uint8)
    bit_row, kinds_row = np.zeros((2, observation_bytes(num_planes)), np.uint8)
    for plane in range(num_planes):
        for column in np.flatnonzero(planes[plane]):
            set_bit(bit_row, plane, int(column))
        set_kinds(kinds_row, plane, sum(1 << int(column) for column in np.flatnonzero(planes[plane])))
    assert np.array_equal(unpack_planes(bit_row, num_planes), planes)
    assert np.array_equal(kinds_row, bit_row)


@pytest.mark.parametrize("plane", range(5))
def test_a_full_plane_touches_no_neighbour(plane: int) -> None:
    row = np.zeros(observation_bytes(5), np.uint8)
    set_plane(row, plane)
    assert np.array_equal(unpack_planes(row, 5).sum(axis=1), 34 * np.eye(5)[plane])
    assert int(np.unpackbits(row).sum()) == 34


def test_a_row_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a row of 5 planes is uint8\[22\], not uint8\[21\]"):
        unpack_planes(np.zeros(21, np.uint8), 5)


@settings(deadline=None)  # the first example compiles
@given(st.lists(st.integers(0, 4), min_size=34, max_size=34), st.integers(0, 33), st.integers(0, 4))
def test_adding_and_removing_tiles_is_counting(counts: list[int], kind: int, removed: int) -> None:
    masks = count_masks(np.array(counts, np.int8))
    more, fewer = list(counts), list(counts)
    more[kind] = min(counts[kind] + 1, 4)
    fewer[kind] = max(counts[kind] - removed, 0)
    assert add_tile(masks, kind) == count_masks(np.array(more, np.int8))
    assert remove_tiles(masks, kind, removed) == count_masks(np.array(fewer, np.int8))


@settings(deadline=None)  # the first example compiles
@given(st.sets(st.integers(0, 33)))
def test_bits_are_counted(kinds: set[int]) -> None:
    assert count_bits(sum(1 << kind for kind in kinds)) == len(kinds)


@settings(deadline=None)  # the first example compiles
@given(st.lists(st.integers(0, 4), min_size=34, max_size=34), st.sets(st.integers(0, 33)))
def test_tiles_of_some_kinds_are_counted(counts: list[int], kinds: set[int]) -> None:
    masks = count_masks(np.array(counts, np.int8))
    assert count_tiles(sum(1 << kind for kind in kinds), masks) == sum(counts[kind] for kind in kinds)


def test_count_planes_are_those_of_figure_3() -> None:
    counts = np.zeros(34, np.int8)
    counts[[0, 13, 33]] = 1, 3, 4
    row = np.zeros(observation_bytes(6), np.uint8)
    set_counts(row, 1, count_masks(counts))
    planes = unpack_planes(row, 6)
    assert [np.flatnonzero(plane).tolist() for plane in planes] == [[], [0, 13, 33], [13, 33], [13, 33], [33], []]


SEEDS = (1, 2, 3, 4)


def moved_kind(kind: int, choice: int) -> int:
    return 9 * int(SUIT_ORDERS[choice, kind // 9]) + kind % 9 if kind < 27 else kind


def moved_action(action: int, choice: int) -> int:
    if action < 34:
        return moved_kind(action, choice)
    if action < TSUMOGIRI:  # red fives
        return 34 + int(SUIT_ORDERS[choice, action - 34])
    if ANKAN <= action < KAKAN:
        return ANKAN + moved_kind(action - ANKAN, choice)
    return KAKAN + moved_kind(action - KAKAN, choice) if KAKAN <= action < TSUMO else action


def moved_kyoku(kyoku: KyokuLog, choice: int) -> KyokuLog:
    wall: U8 = np.array([4 * moved_kind(tile // 4, choice) + tile % 4 for tile in kyoku.wall.tolist()], np.uint8)
    seats, actions = kyoku.moves >> ACTION_BITS, kyoku.moves & ((1 << ACTION_BITS) - 1)
    moved: U16 = np.array([moved_action(action, choice) for action in actions.tolist()], np.uint16)
    return dataclasses.replace(kyoku, wall=wall, moves=(seats << ACTION_BITS | moved).astype(np.uint16))


def moved_game(game: GameLog, choice: int) -> GameLog:
    return dataclasses.replace(game, kyokus=[moved_kyoku(kyoku, choice) for kyoku in game.kyokus])


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[KyokuStore]:
    """The same games with their suits in each of the six orders."""
    found = []
    for choice in range(len(SUIT_ORDERS)):
        folder: Path = tmp_path_factory.mktemp(f"order-{choice}")
        found.append(write_store((moved_game(random_game(seed), choice) for seed in SEEDS), folder))
    return found


def encode(store: KyokuStore, head: int, encoder: str) -> Samples:
    return encode_kyokus(store, np.arange(store.num_kyokus), head, encoder)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("head", range(len(HEAD_NAMES)), ids=HEAD_NAMES)
def test_a_game_with_other_suits_encodes_to_the_permuted_samples(
    stores: list[KyokuStore], head: int, encoder: str
) -> None:
    for choice in range(len(SUIT_ORDERS)):
        samples, expected = encode(stores[0], head, encoder), encode(stores[choice], head, encoder)
        num_rows = len(samples.labels)
        assert num_rows > 0
        exchange_suits(samples, np.full(num_rows, choice), RiichiSamples.suit_choices[head])
        if head == KONG_HEAD:  # several kans are asked for in the order of their kinds, which is another one
            assert sorted(map(bytes, samples.planes)) == sorted(map(bytes, expected.planes))
        else:
            assert np.array_equal(samples.planes, expected.planes)
            assert np.array_equal(samples.labels, expected.labels)
        assert np.array_equal(samples.masks, expected.masks)


def test_each_sample_has_an_order_of_its_own(stores: list[KyokuStore]) -> None:
    samples, plain = encode(stores[0], DISCARD_HEAD, "mini"), encode(stores[0], DISCARD_HEAD, "mini")
    choices = np.arange(len(plain.labels)) % len(SUIT_ORDERS)
    exchange_suits(samples, choices, RiichiSamples.suit_choices[DISCARD_HEAD])
    for i in range(12):
        columns = [moved_kind(kind, int(choices[i])) for kind in range(34)]
        assert np.array_equal(unpack_planes(samples.planes[i], 288)[:, columns], unpack_planes(plain.planes[i], 288))
        assert samples.labels[i] == columns[plain.labels[i]]
        assert samples.masks[i, samples.labels[i]] == 1


@pytest.mark.parametrize("orders", [[0], [0, 6], [-1, 0], [0, 0, 0]])
def test_orders_that_do_not_fit_are_refused(orders: list[int]) -> None:
    with pytest.raises(ValueError, match="2 rows: give one of 0 to 5 for each"):
        permute_suits(np.zeros((2, 17), np.uint8), np.array(orders))


def test_actions_of_the_test_are_moved_as_meant() -> None:
    assert [moved_action(action, 5) for action in (0, 9, 34, TSUMOGIRI, ANKAN + 26, CHI, PASS)] == [
        18, 9, 36, TSUMOGIRI, ANKAN + 8, CHI, PASS,
    ]  # fmt: skip
