"""Finding one game by its id or its number."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx.games.riichi.records.archive.record_search import find_record
from suphx.games.riichi.records.mjlog.mjlog_writer import write_mjlog
from tests.games.riichi.builders.random_game import random_game


def test_an_id_comes_before_a_number(tmp_path: Path) -> None:
    for name in ("1", "2", "10"):  # in the order of the files: 1, 10, 2
        (tmp_path / f"{name}.mjlog").write_text(write_mjlog(random_game(int(name))), encoding="utf-8")
    assert [find_record(tmp_path, wanted).id for wanted in ("", "1", "2", "10", "3")] == ["1", "1", "2", "10", "2"]
    with pytest.raises(ValueError, match="has no game '4': give the id of a game or a number from 1 to 3"):
        find_record(tmp_path, "4")
