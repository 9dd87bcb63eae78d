"""Which games of given records a run learns from."""

from __future__ import annotations

from pathlib import Path

from suphx.games.riichi import Quarantine, Replayer, parse_all
from suphx.games.riichi.records.mjlog.mjlog_writer import write_mjlog
from suphx_pipelines.stages.records import sound_games
from tests.games.riichi.builders.random_game import random_game


def test_games_of_one_name_are_all_read_and_a_copy_of_another_name_is_set_aside(tmp_path: Path) -> None:
    first, second = (write_mjlog(random_game(seed)) for seed in range(2))
    for name, text in (("a/1", first), ("b/1", second), ("c/copy", first)):
        path = tmp_path / f"{name}.mjlog"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    quarantine = Quarantine()
    games = list(sound_games(parse_all([tmp_path], 1, quarantine=quarantine), Replayer(), quarantine))
    assert [game.id for game in games] == ["1", "1"]
    (entry,) = quarantine.entries
    assert (entry.file, entry.reason) == ("copy", "the same game was already there (1)")
