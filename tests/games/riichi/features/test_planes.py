from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suphx.games.mahjong.planes import (
    PlaneLayout,
    PlaneRange,
    add_tile,
    count_bits,
    count_masks,
    count_tiles,
    layout,
    observation_bytes,
    remove_tiles,
    set_bit,
    set_counts,
    set_kinds,
    set_plane,
    unpack_planes,
)


def test_ranges_follow_each_other_and_are_found_by_name() -> None:
    table = layout("small", 3, [("hand", 4, "own tiles"), ("riichi", 3, "who declared")])
    assert table["riichi"] == PlaneRange("riichi", 4, 3, "who declared")
    assert (table.num_planes, table.observation_bytes) == (7, 30)


@pytest.mark.parametrize("first", [3, 5])
def test_a_gap_or_an_overlap_is_refused(first: int) -> None:
    with pytest.raises(ValueError, match=r"range b has planes .* end at 4"):
        PlaneLayout("small", 1, (PlaneRange("a", 0, 4, ""), PlaneRange("b", first, 1, "")))


def test_a_doubled_name_is_refused() -> None:
    with pytest.raises(ValueError, match="two ranges are called a"):
        layout("small", 1, [("a", 1, ""), ("a", 1, "")])


def test_an_unknown_range_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no planes called 'hnad': use one of hand"):
        layout("small", 1, [("hand", 4, "")])["hnad"]


def test_a_range_may_have_a_shape_that_fits_its_count() -> None:
    assert layout("small", 1, [("rivers", (4, 24), "")])["rivers"] == PlaneRange("rivers", 0, 96, "", (4, 24))
    with pytest.raises(ValueError, match=r"range rivers has 95 planes, but the shape \(4, 24\)"):
        PlaneLayout("small", 1, (PlaneRange("rivers", 0, 95, "", (4, 24)),))


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
