from __future__ import annotations

import pytest

from suphx.games.riichi.records.log.record_error import RecordError
from suphx.games.riichi.records.mjlog.mjlog_text import (
    changes_in,
    name_in,
    number_in,
    numbers_in,
    points_in,
    ratings_in,
    read_attributes,
    read_tokens,
)


def test_tags_fall_into_draws_discards_and_named_tags() -> None:
    tokens = read_tokens(
        '\ufeff<?xml version="1.0"?>\n<mjloggm ver="2.3"><T12/> <D135/><GO type="9" lobby="0" /></mjloggm>\n'
    )
    assert [token[1:] for token in tokens] == [
        ("", "", "mjloggm", ' ver="2.3"', ""),
        ("T", "12", "", "", "/"),
        ("D", "135", "", "", "/"),
        ("", "", "GO", ' type="9" lobby="0"', "/"),
        ("", "", "/mjloggm", "", ""),
    ]


def test_the_first_piece_that_is_no_tag_is_named_with_its_place() -> None:
    with pytest.raises(RecordError, match="'oops' is not a tag") as caught:
        read_tokens("<r><T1/><T2/>oops<T1/></r>")
    assert caught.value.position == "character 13"


def test_attributes_are_found_by_name_and_must_be_single() -> None:
    assert read_attributes("N", ' who="1" m="42538"') == {"who": "1", "m": "42538"}
    with pytest.raises(ValueError, match="twice"):
        read_attributes("N", ' who="1" who="2"')


def test_numbers_are_checked_for_count_and_range() -> None:
    assert numbers_in({"a": "1,-2,3"}, "a", -2, 3, None) == [1, -2, 3]
    assert number_in({"a": "7"}, "a", 0, 7) == 7
    with pytest.raises(ValueError, match="outside 0 to 3"):
        number_in({"who": "4"}, "who", 0, 3)
    with pytest.raises(ValueError, match="3 numbers instead of 2"):
        numbers_in({"a": "1,2,3"}, "a", 0, 9, 2)
    with pytest.raises(ValueError, match="b is missing"):
        numbers_in({"a": "1"}, "b", 0, 9, 1)


@pytest.mark.parametrize("text", ["", " 1", "1_0", "１", "+1", "1.5", "0x1", "1,,2", "1" * 5000])
def test_only_plain_whole_numbers_count(text: str) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        number_in({"a": text}, "a", 0, 10**12)


def test_hundreds_become_points() -> None:
    assert points_in({"ten": "250,251,-3,0"}, "ten") == [25_000, 25_100, -300, 0]
    assert changes_in({"sc": "250,-20,250,60,250,-20,250,-20"}) == [-2_000, 6_000, -2_000, -2_000]


def test_names_and_ratings() -> None:
    assert name_in("%E2%93%9D%53uphx") == "ⓝSuphx"
    assert ratings_in("1500,1500.25,2,3") == (1500.0, 1500.25, 2.0, 3.0)
    for text in ("1,2,3", "1,2,3,nan", "1,2,3,1e999", "a,b,c,d"):
        with pytest.raises(ValueError, match="rate="):
            ratings_in(text)
