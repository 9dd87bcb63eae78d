from __future__ import annotations

import pytest

from suphx.printable_text import encodable, printable


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
