from __future__ import annotations

import pytest

from suphx.suggestion import closest, did_you_mean


@pytest.mark.parametrize(
    ("word", "meant"),
    [("labtop", "laptop"), ("LAPTOP", "laptop"), ("orcale", "oracle"), ("Champion", "CHAMPION"), ("xyzzy", None)],
)
def test_the_most_similar_word_is_meant(word: str, meant: str | None) -> None:
    assert closest(word, ["laptop", "oracle", "CHAMPION"]) == meant


def test_the_question_is_empty_where_nothing_is_similar() -> None:
    assert did_you_mean("labtop", ["laptop"]) == "did you mean 'laptop'? "
    assert did_you_mean("xyzzy", ["laptop"]) == ""
