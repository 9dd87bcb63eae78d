from __future__ import annotations

import math
import sys

import pytest

from suphx.credentials import has_credentials, is_unclear, without_credentials
from suphx.finite_number import is_finite_number
from suphx.json_text import parse_json
from suphx.printable_text import encodable, first_line, printable, shortened
from suphx.suggestion import closest, did_you_mean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ⓝBen クレオ D & <D>", "ⓝBen クレオ D & <D>"),
        ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
        ("a\r\nb\x9b1m", "a\\r\\nb\\x9b1m"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\udcff", "\\udcff"),
        ("山田\u3000太郎\u00a0\u202f👩\u200d💻", "山田\u3000太郎\u00a0\u202f👩\u200d💻"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("", ""),
    ],
)
def test_what_controls_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


def test_what_is_not_utf_8_is_escaped() -> None:
    assert encodable("récords\udcff\n") == "récords\\udcff\n"


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("check that the server runs", 26, "check that the server runs"),
        ("check that the server runs", 25, "check that the server …"),
        ("check that the server runs", 20, "check that the …"),
        ("check  that\nit runs", 16, "check that it …"),
        ("https://a-very-long-address.example.org", 12, "https://a-v…"),
        ("at https://a-very-long-address.example.org", 20, "at https://a-very-l…"),
        ("", 5, ""),
    ],
)
def test_a_long_text_is_cut_between_words_and_shows_that_it_is(text: str, most: int, shown: str) -> None:
    assert shortened(text, most) == shown
    assert len(shown) <= most


def test_an_error_is_told_by_its_first_line_with_all_of_its_advice() -> None:
    advice = "set MLFLOW_TRACKING_URI to the address of the server, " * 6 + "or unset it"
    assert first_line(ValueError(f"\n{advice}\nTraceback: x")) == advice
    assert first_line(ValueError("x " * 1000)).endswith("x …")
    assert first_line(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("word", "meant"),
    [("labtop", "laptop"), ("LAPTOP", "laptop"), ("orcale", "oracle"), ("Champion", "CHAMPION"), ("xyzzy", None)],
)
def test_the_most_similar_word_is_meant(word: str, meant: str | None) -> None:
    assert closest(word, ["laptop", "oracle", "CHAMPION"]) == meant


def test_the_question_is_empty_where_nothing_is_similar() -> None:
    assert did_you_mean("labtop", ["laptop"]) == "did you mean 'laptop'? "
    assert did_you_mean("xyzzy", ["laptop"]) == ""


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://me:secret@host.example.org/x", "https://host.example.org/x"),
        ("see http://token@host:5000 and s3://a:b@bucket/runs", "see http://host:5000 and s3://bucket/runs"),
        ("http://me:p@ss@host/a@b", "http://host/a@b"),
        ('{"uri": "http://me:secret@host"}', '{"uri": "http://host"}'),
    ],
)
def test_users_and_passwords_are_left_out(text: str, clean: str) -> None:
    assert has_credentials(text)
    assert without_credentials(text) == clean


@pytest.mark.parametrize(
    "address", ["http://me:se/cret@host", "http://me:p@se?cret@host:80/x", "https://me:se#cret@host", "http://a b@c"]
)
def test_an_address_whose_password_has_characters_of_another_part_is_unclear(address: str) -> None:
    assert is_unclear(address)


@pytest.mark.parametrize("address", ["http://me:se%2Fcret@host/x", "http://me:p@ss@host", "https://host:80/x", ""])
def test_an_address_of_a_host_and_a_path_is_clear(address: str) -> None:
    assert not is_unclear(address)


@pytest.mark.parametrize(
    "text", ["http://host/a@b", "models:/suphx@champion", "sqlite:////runs/mlflow.db", "me@example.org", "http://a b@c"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert not has_credentials(text)
    assert without_credentials(text) == text


LARGEST = sys.float_info.max


@pytest.mark.parametrize("value", [0, -1, 0.0, -0.5, LARGEST, -LARGEST, int(LARGEST), sys.float_info.min])
def test_what_a_float_can_hold_is_a_finite_number(value: float) -> None:
    assert is_finite_number(value)
    assert math.isfinite(float(value))


@pytest.mark.parametrize(
    "value", [math.inf, -math.inf, math.nan, 10**400, -(10**400), 2 * int(LARGEST), True, "1", None]
)
def test_everything_else_is_none(value: object) -> None:
    assert not is_finite_number(value)


@pytest.mark.parametrize("text", ["{", b"\xff", "[" * 100_000, b'{"a":' * 100_000, "9" * 100_000, ""])
def test_text_that_is_no_json_is_a_value_error_however_deep_its_brackets_are(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)
