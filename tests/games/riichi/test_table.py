from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suphx.games.mahjong.tile import NUM_KINDS
from suphx.games.riichi import table as codes
from suphx.games.riichi import tile
from suphx.kernel.record import I16


def test_every_action_has_its_own_name() -> None:
    names = [codes.action_name(action) for action in range(codes.NUM_ACTIONS)]
    assert len(set(names)) == codes.NUM_ACTIONS
    assert not any("unknown" in name for name in names)


def test_a_hand_counts_tiles_by_kind_and_marks_the_red_fives() -> None:
    table = np.zeros(1, codes.TABLE)[0]
    for face in range(tile.NUM_FACES):
        codes.add_to_hand(table, 2, face)
    assert table["hand"][2].tolist() == [2 if 4 * kind in tile.RED_IDS else 1 for kind in range(NUM_KINDS)]
    assert table["red"].tolist() == [0, 0, tile.ALL_RED_FIVES, 0]
    for face in range(tile.NUM_FACES):
        had = int(table["hand"][2, tile.kind_of_face(face)])
        codes.remove_from_hand(table, 2, face)
        assert table["hand"][2, tile.kind_of_face(face)] == had - 1
    assert not table["hand"].any()
    assert not table["red"].any()


def test_kernel_and_array_agree_on_every_order_with_ties() -> None:
    scores = np.array(list(product(range(4), repeat=4)), np.int32)
    kernel = [[codes.place_of(row, seat) for seat in range(4)] for row in scores]
    assert codes.places_of_scores(scores).tolist() == kernel
    assert {tuple(sorted(row)) for row in kernel} == {(1, 2, 3, 4)}


@pytest.mark.parametrize("suit", "mps")
def test_a_five_has_a_red_face_with_a_bit_of_its_own(suit: str) -> None:
    (kind,), (face,) = tile.parse_kinds(f"5{suit}"), tile.parse_faces(f"0{suit}")
    assert tile.red_face(kind) == face
    assert tile.kind_of_face(face) == kind
    assert tile.red_bit(face) == 1 << "mps".index(suit)
    assert tile.red_kinds(tile.red_bit(face)) == 1 << kind


@pytest.mark.parametrize("reds", range(tile.ALL_RED_FIVES + 1))
def test_of_a_kind_one_tile_is_red_if_it_is_a_five_whose_red_one_is_held(reds: int) -> None:
    held = [kind for kind in range(34) if tile.num_red(reds, kind)]
    assert held == [kind for suit, kind in enumerate(tile.parse_kinds("5m5p5s")) if reds >> suit & 1]
    assert all(tile.num_red(reds, kind) == 1 for kind in held)
    assert tile.red_kinds(reds) == sum(1 << kind for kind in held)


@given(st.lists(st.integers(0, 36), max_size=14))
def test_format_is_read_back_as_the_same_tiles(faces: list[int]) -> None:
    assert sorted(tile.parse_faces(tile.format_faces(faces))) == sorted(faces)


def test_format_puts_the_red_five_among_the_fives() -> None:
    assert tile.format_faces(tile.parse_faces("7z0p6p5p1m")) == "1m506p7z"


@pytest.mark.parametrize("text", ["123", "m", "1x", "12m3", "1m-2m", "１m"])
def test_a_text_that_is_no_list_of_tiles_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a list of tiles"):
        tile.parse_faces(text)


@pytest.mark.parametrize("text", ["0z", "8z", "123m9z"])
def test_an_eighth_honour_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="honours are 1z to 7z"):
        tile.parse_faces(text)


def test_ids_hold_four_tiles_of_each_kind_and_one_red_five_of_each_suit() -> None:
    faces = [tile.face_of_id(tile_id, tile.ALL_RED_FIVES) for tile_id in range(tile.NUM_TILES)]
    assert [faces.index(face) for face in (34, 35, 36)] == [16, 52, 88]
    for kind in range(34):
        assert sum(tile.kind_of_face(face) == kind for face in faces) == 4
    assert [faces.count(kind) for kind in (4, 13, 22)] == [3, 3, 3]


@pytest.mark.parametrize(
    ("indicators", "dora"),
    [("123456789m", "234567891m"), ("89p", "91p"), ("9s", "1s"), ("1234z", "2341z"), ("567z", "675z")],
)
def test_an_indicator_makes_the_next_tile_dora(indicators: str, dora: str) -> None:
    assert [tile.dora_of_indicator(kind) for kind in tile.parse_kinds(indicators)] == tile.parse_kinds(dora)


def wall_of(seed: int, kyoku: int, honba: int) -> I16:
    wall = np.zeros(136, np.int16)
    codes.shuffle_wall(seed, kyoku, honba, wall)
    return wall


def test_a_wall_holds_every_tile_once() -> None:
    for seed in (0, 1, 2**31, 2**62 - 1):
        for kyoku, honba in ((0, 0), (1, 0), (11, 20)):
            np.testing.assert_array_equal(np.sort(wall_of(seed, kyoku, honba)), np.arange(136))


def test_another_seed_kyoku_or_honba_gives_another_wall() -> None:
    seeds, honbas = [0, 1, 2, 2**32, 2**32 + 1, 2**61], [0, 1, 2, 63, 64, 128, 1023]
    walls = {wall_of(seed, kyoku, honba).tobytes() for seed in seeds for kyoku in range(12) for honba in honbas}
    assert len(walls) == len(seeds) * 12 * len(honbas)


def test_every_tile_is_equally_likely_at_every_place() -> None:
    num_walls = 20_000
    counts = np.zeros((136, 136), np.int64)
    wall = np.zeros(136, np.int16)
    for seed in range(num_walls):
        codes.shuffle_wall(seed, 0, 0, wall)
        counts[np.arange(136), wall] += 1
    expected = num_walls / 136
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    freedom = 135 * 135
    # Normal approximation: five standard deviations.
    assert abs(chi_square - freedom) < 5 * np.sqrt(2 * freedom)


def test_neighbouring_deals_are_independent() -> None:
    num_walls = 5_000
    for kyoku, honba in ((0, 1), (1, 0)):
        equal = sum(int((wall_of(seed, 0, 0) == wall_of(seed, kyoku, honba)).sum()) for seed in range(num_walls))
        assert abs(equal - num_walls) < 5 * np.sqrt(num_walls)  # one place in 136 by chance
