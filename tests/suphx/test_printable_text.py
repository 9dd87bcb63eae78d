from __future__ import annotations

import pytest

from suphx.printable_text import encodable, first_line, printable, shortened


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
