from __future__ import annotations

import dataclasses
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import RecordForm, write_records
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, move
from suphx.games.riichi.records.mjai import parse_mjai, write_mjai
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.games.riichi.records.quarantine import ILLEGAL_RECORD, NOT_WRITABLE, Quarantine
from suphx.games.riichi.records.tenhou6 import parse_tenhou6, write_tenhou6
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.table import LEAVE, RETURN
from suphx_cli import cli
from tests.disk_faults import files_limited_to
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


GAMES = [random_game(seed) for seed in range(3)]


@pytest.mark.parametrize(
    ("name", "form"),
    [("out", "mjlog"), ("out", "mjai"), ("out", "tenhou6"), ("g.tsv.xz", "mjlog"), ("g.tsv", "tenhou6")],
)
def test_written_games_read_back_to_the_same_moves(tmp_path: Path, name: str, form: RecordForm) -> None:
    assert write_records(GAMES, tmp_path / "new" / name, form) == len(GAMES)
    assert sorted(map(decisions, read(tmp_path / "new" / name))) == sorted(map(decisions, GAMES))


def test_ids_of_strangers_stay_inside_the_folder_and_do_not_overwrite(tmp_path: Path) -> None:
    game = dataclasses.replace(GAMES[0], id="-../../escape")
    assert write_records([game, game], tmp_path / "out", "mjlog") == 2
    assert sorted(path.name for path in tmp_path.rglob("*.mjlog")) == ["______escape-2.mjlog", "______escape.mjlog"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_another_call_overwrites_no_other_game_and_repeats_none(tmp_path: Path) -> None:
    first, second = (dataclasses.replace(random_game(seed), id="1-0") for seed in range(2))
    for game in (first, second, first, second):
        assert write_records([game], tmp_path, "mjlog") == 1
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["1-0-2.mjlog", "1-0.mjlog"]
    assert sorted(map(decisions, read(tmp_path))) == sorted(map(decisions, [first, second]))


def test_a_table_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[GameLog]:
        yield GAMES[0]
        raise ValueError("the source is gone")

    with pytest.raises(ValueError, match="the source is gone"):
        write_records(broken(), tmp_path / "games.tsv", "mjlog")
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_name_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a file named games\.tsv has mjlog or tenhou6, not mjai: name a folder"):
        write_records([], tmp_path / "games.tsv", "mjai")


@pytest.mark.parametrize("name", ["one.mjlog", "one.xml", "one.xml.xz"])
def test_one_file_of_mjlog_has_one_game(tmp_path: Path, name: str) -> None:
    assert write_records([random_game(0)], tmp_path / name, "mjlog") == 1
    assert list(map(decisions, read(tmp_path / name))) == [decisions(random_game(0))]
    with pytest.raises(ValueError, match="there are more games: name a folder or a table"):
        write_records([random_game(1), random_game(2)], tmp_path / name, "mjlog")
    assert list(map(decisions, read(tmp_path / name))) == [decisions(random_game(0))]


def test_a_disk_that_fills_up_tells_how_many_games_are_written(tmp_path: Path) -> None:
    small = [dataclasses.replace(random_game(seed), kyokus=random_game(seed).kyokus[:1]) for seed in range(3)]
    size = max(len(write_tenhou6(game).encode()) for game in small)
    with files_limited_to(size), pytest.raises(OSError, match=r"game-4.json was not changed; 3 files were written to"):
        write_records([*small, random_game(4)], tmp_path, "tenhou6")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"game-{seed}.json" for seed in range(3)]


@pytest.mark.parametrize("form", ["mjlog", "mjai", "tenhou6"])
def test_a_game_that_cannot_be_played_is_set_aside_alone(tmp_path: Path, form: RecordForm) -> None:
    kyokus = [dataclasses.replace(kyoku, moves=kyoku.moves[1:]) for kyoku in random_game(1).kyokus]
    damaged = dataclasses.replace(random_game(1), kyokus=kyokus)
    quarantine = Quarantine()
    assert write_records([random_game(0), damaged, random_game(2)], tmp_path, form, quarantine=quarantine) == 2
    assert [entry.file for entry in quarantine.entries] == ["game-1"]
    assert quarantine.entries[0].reason.startswith(f"cannot be written as {form}: seat 1 cannot play")
    with pytest.raises(ValueError, match="cannot play"):
        write_records([damaged], tmp_path, form)


@pytest.mark.parametrize("form", ["mjlog", "tenhou6"])
def test_results_that_mjai_does_not_have_come_from_the_rules(tmp_path: Path, form: RecordForm) -> None:
    game = parse_mjai(write_mjai(random_game(0)), "x")
    assert write_records([game], tmp_path, form) == 1
    (back,) = read(tmp_path)
    for ours, theirs in zip(random_game(0).kyokus, back.kyokus, strict=True):
        for name in ("win_han", "win_yaku", "win_points", "win_liable", "win_deltas", "tenpai"):
            assert np.array_equal(ours.result[name], theirs.result[name])
    assert not any(kyoku.is_result_complete for kyoku in game.kyokus), "the game that is written stays as it is"


def test_the_fu_that_tenhou6_does_not_have_come_from_the_rules(tmp_path: Path) -> None:
    game = parse_tenhou6(write_tenhou6(random_game(0)), "x")
    with pytest.raises(ValueError, match="the fu of a limit hand is not known"):
        write_mjlog(game)
    assert write_records([game], tmp_path, "mjlog") == 1
    (back,) = read(tmp_path)
    fu = [kyoku.result["win_fu"].tolist() for kyoku in back.kyokus]
    assert fu == [kyoku.result["win_fu"].tolist() for kyoku in random_game(0).kyokus]


def test_results_are_not_computed_for_a_game_that_contradicts_the_rules_or_lacks_ura_dora(tmp_path: Path) -> None:
    text = write_mjai(random_game(0))
    other = text.replace('"kyoku_first":0', '"kyoku_first":4')
    unknown = re.sub(r',"ura_markers":\[("\w+",?)+\]', "", text)
    games = [parse_mjai(other, "other"), parse_mjai(unknown, "unknown")]
    games.append(dataclasses.replace(random_game(0), rules=Rules(kiriage_mangan=True)))
    games[0].kyokus[0].result["win_deltas"] += 100
    games[0].kyokus[0].result["deltas"] += 100
    quarantine = Quarantine()
    assert write_records(games, tmp_path / "out", "mjlog", quarantine=quarantine) == 0
    assert quarantine.by_reason == {ILLEGAL_RECORD: 1, NOT_WRITABLE: 2}


def test_a_game_in_which_a_seat_left_is_the_same_in_both_formats(tmp_path: Path) -> None:
    game = random_game(0)
    first = game.kyokus[0]
    left = dataclasses.replace(first, moves=np.insert(first.moves, 0, [move(2, LEAVE), move(2, RETURN)]))
    game = dataclasses.replace(game, kyokus=[left, *game.kyokus[1:]])
    assert game.content_digest() == parse_mjai(write_mjai(game), "x").content_digest()
    for _ in range(3):
        write_records([game], tmp_path, "mjai")
    assert [path.name for path in tmp_path.iterdir()] == ["game-0.jsonl"]


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
