from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suphx.games.riichi.table.tile import (
    ALL_RED_FIVES,
    NUM_FACES,
    NUM_TILES,
    TERMINALS_AND_HONOURS,
    dora_of_indicator,
    face_name,
    face_of_id,
    format_faces,
    is_simple,
    kind_of_face,
    parse_faces,
    parse_kinds,
)


def test_every_face_is_read_back_from_its_name() -> None:
    for face in range(NUM_FACES):
        assert parse_faces(face_name(face)) == [face]


def test_names_follow_mpsz_notation() -> None:
    assert parse_kinds("19m19p19s1234567z") == list(TERMINALS_AND_HONOURS)
    assert [face_name(face) for face in (0, 8, 9, 18, 27, 33, 34, 35, 36)] == (
        ["1m", "9m", "1p", "1s", "1z", "7z", "0m", "0p", "0s"]
    )


def test_red_fives_count_as_fives() -> None:
    assert parse_faces("0m0p0s") == [34, 35, 36]
    assert parse_kinds("0m0p0s") == parse_kinds("5m5p5s") == [4, 13, 22]
    assert [kind_of_face(face) for face in range(34)] == list(range(34))


@given(st.lists(st.integers(0, 36), max_size=14))
def test_format_is_read_back_as_the_same_tiles(faces: list[int]) -> None:
    assert sorted(parse_faces(format_faces(faces))) == sorted(faces)


def test_format_puts_the_red_five_among_the_fives() -> None:
    assert format_faces(parse_faces("7z0p6p5p1m")) == "1m506p7z"


def test_spaces_between_groups_are_allowed() -> None:
    assert parse_faces("123m 55z") == parse_faces("123m55z")


@pytest.mark.parametrize("text", ["123", "m", "1x", "12m3", "1m-2m", "１m"])
def test_a_text_that_is_no_list_of_tiles_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a list of tiles"):
        parse_faces(text)


@pytest.mark.parametrize("text", ["0z", "8z", "123m9z"])
def test_an_eighth_honour_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="honours are 1z to 7z"):
        parse_faces(text)


def test_ids_hold_four_tiles_of_each_kind_and_one_red_five_of_each_suit() -> None:
    faces = [face_of_id(tile_id, ALL_RED_FIVES) for tile_id in range(NUM_TILES)]
    assert [faces.index(face) for face in (34, 35, 36)] == [16, 52, 88]
    for kind in range(34):
        assert sum(kind_of_face(face) == kind for face in faces) == 4
    assert [faces.count(kind) for kind in (4, 13, 22)] == [3, 3, 3]


def test_without_red_fives_every_face_is_its_kind() -> None:
    assert [face_of_id(tile_id, 0) for tile_id in range(NUM_TILES)] == [tile_id // 4 for tile_id in range(NUM_TILES)]


def test_simples_are_all_but_terminals_and_honours() -> None:
    assert [kind for kind in range(34) if not is_simple(kind)] == list(TERMINALS_AND_HONOURS)


@pytest.mark.parametrize(
    ("indicators", "dora"),
    [("123456789m", "234567891m"), ("89p", "91p"), ("9s", "1s"), ("1234z", "2341z"), ("567z", "675z")],
)
def test_an_indicator_makes_the_next_tile_dora(indicators: str, dora: str) -> None:
    assert [dora_of_indicator(kind) for kind in parse_kinds(indicators)] == parse_kinds(dora)
