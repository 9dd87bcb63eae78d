from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.records.archive.archive import Quarantine, iter_records
from suphx.games.riichi.records.archive.record_writer import RecordForm, write_records
from suphx.games.riichi.records.log.gamelog import ACTION_BITS, GameLog, move
from suphx.games.riichi.records.log.record_error import NOT_WRITABLE
from suphx.games.riichi.records.mjai.mjai import parse_mjai
from suphx.games.riichi.records.mjai.mjai_writer import write_mjai
from suphx.games.riichi.table.action import LEAVE, RETURN
from suphx.games.riichi.table.rules import Rules
from suphx_cli import cli
from tests.games.riichi.builders.games import random_game


def read(*paths: Path) -> list[GameLog]:
    quarantine = Quarantine()
    logs = list(iter_records(paths, quarantine=quarantine))
    assert quarantine.entries == []
    return logs


def decisions(log: GameLog) -> list[list[int]]:
    """All moves by deal; without the marks of who disconnected, which mjai does not have."""
    marks = (LEAVE, RETURN)
    return [[n for n in kyoku.moves.tolist() if n % 2**ACTION_BITS not in marks] for kyoku in log.kyokus]


@pytest.fixture(scope="module")
def games(records: Path) -> list[GameLog]:
    logs = list(iter_records([records / "rare-situations" / "mjlog"], quarantine=Quarantine()))
    assert len(logs) > 20
    return logs


@pytest.mark.records
@pytest.mark.parametrize(
    ("name", "form"), [("out", "mjlog"), ("out", "mjai"), ("g.tsv", "mjlog"), ("g.tsv.xz", "mjlog")]
)
def test_written_games_read_back_to_the_same_moves(
    games: list[GameLog], tmp_path: Path, name: str, form: RecordForm
) -> None:
    assert write_records(games, tmp_path / "new" / name, form) == len(games)
    again = read(tmp_path / "new" / name)
    assert sorted(map(decisions, again)) == sorted(map(decisions, games))


@pytest.mark.records
def test_ids_of_strangers_stay_inside_the_folder_and_do_not_overwrite(games: list[GameLog], tmp_path: Path) -> None:
    game = games[0]
    old_id, game.id = game.id, "../../escape"
    try:
        assert write_records([game, game], tmp_path / "out", "mjlog") == 2
    finally:
        game.id = old_id
    assert sorted(path.name for path in tmp_path.rglob("*.mjlog")) == ["______escape-2.mjlog", "______escape.mjlog"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_another_call_overwrites_no_other_game_and_repeats_none(tmp_path: Path) -> None:
    first, second = (dataclasses.replace(random_game(seed), id="1-0") for seed in range(2))
    for game in (first, second, first, second):
        assert write_records([game], tmp_path, "mjlog") == 1
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["1-0-2.mjlog", "1-0.mjlog"]
    assert sorted(map(decisions, read(tmp_path))) == sorted(map(decisions, [first, second]))


@pytest.mark.records
def test_a_table_that_fails_half_way_leaves_nothing(games: list[GameLog], tmp_path: Path) -> None:
    def broken() -> Iterator[GameLog]:
        yield games[0]
        raise ValueError("the source is gone")

    with pytest.raises(ValueError, match="the source is gone"):
        write_records(broken(), tmp_path / "games.tsv", "mjlog")
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_mjai_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="many: choose a folder"):
        write_records([], tmp_path / "games.tsv", "mjai")


@pytest.mark.parametrize("form", ["mjlog", "mjai"])
def test_a_game_that_cannot_be_played_is_set_aside_alone(tmp_path: Path, form: RecordForm) -> None:
    kyokus = [dataclasses.replace(kyoku, moves=kyoku.moves[1:]) for kyoku in random_game(1).kyokus]
    damaged = dataclasses.replace(random_game(1), kyokus=kyokus)
    quarantine = Quarantine()
    assert write_records([random_game(0), damaged, random_game(2)], tmp_path, form, quarantine=quarantine) == 2
    assert [entry.file for entry in quarantine.entries] == ["game-1"]
    assert quarantine.entries[0].reason.startswith(f"cannot be written as {form}: seat 1 cannot play")
    with pytest.raises(ValueError, match="cannot play"):
        write_records([damaged], tmp_path, form)


def test_games_without_results_are_set_aside_from_mjlog(tmp_path: Path) -> None:
    game = parse_mjai(write_mjai(random_game(0)), "x")
    quarantine = Quarantine()
    assert write_records([game, random_game(1)], tmp_path / "out", "mjlog", quarantine=quarantine) == 1
    assert quarantine.by_reason == {NOT_WRITABLE: 1}
    with pytest.raises(ValueError, match="no han, fu and yaku"):
        write_records([game], tmp_path / "none", "mjlog")
    assert not (tmp_path / "none").exists()


def test_a_game_whose_rules_mjai_cannot_tell_is_set_aside_as_not_convertible(tmp_path: Path) -> None:
    game = dataclasses.replace(random_game(0), rules=Rules(open_tanyao=False))
    quarantine = Quarantine()
    assert write_records([game], tmp_path / "out", "mjai", quarantine=quarantine) == 0
    assert quarantine.by_reason == {NOT_WRITABLE: 1}


def test_a_game_in_which_a_seat_left_is_the_same_in_both_formats(tmp_path: Path) -> None:
    game = random_game(0)
    first = game.kyokus[0]
    left = dataclasses.replace(first, moves=np.insert(first.moves, 0, [move(2, LEAVE), move(2, RETURN)]))
    game = dataclasses.replace(game, kyokus=[left, *game.kyokus[1:]])
    assert game.content_digest() == parse_mjai(write_mjai(game), "x").content_digest()
    for _ in range(3):
        write_records([game], tmp_path, "mjai")
    assert [path.name for path in tmp_path.iterdir()] == ["game-0.jsonl"]


def test_records_are_not_written_over_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["records", "convert", str(tmp_path), str(tmp_path), "--to", "mjai"]) == 1
    assert "choose another OUT" in capsys.readouterr().err


def test_the_files_that_games_come_from_stay_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_records([random_game(0)], tmp_path, "mjlog")
    source = tmp_path / "game-0.mjlog"
    plain = gzip.decompress(source.read_bytes()).replace(b"<mjloggm", b"<!-- mine --><mjloggm")
    source.write_bytes(plain)
    for _ in range(2):
        assert cli.main(["records", "convert", str(source), str(tmp_path), "--to", "mjlog", "--workers", "1"]) == 0
    assert source.read_bytes() == plain
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game-0-2.mjlog", "game-0.mjlog"]
    write_records([random_game(0)], tmp_path / "games.tsv", "mjlog")
    table = (tmp_path / "games.tsv").read_bytes()
    assert cli.main(["records", "convert", str(tmp_path), str(tmp_path / "games.tsv"), "--to", "mjlog"]) == 1
    assert "choose another OUT" in capsys.readouterr().err
    assert (tmp_path / "games.tsv").read_bytes() == table


@pytest.mark.records
def test_the_command_counts_what_it_wrote(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = records / "rare-situations" / "mjlog"
    arguments = ["records", "convert", str(source), str(tmp_path / "out"), "--to", "mjai", "--workers", "1", "--json"]
    assert cli.main(arguments) == 0
    counts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert counts["written"] == len(list((tmp_path / "out").iterdir()))
    assert counts["games"] == counts["written"] + counts["quarantined"]
