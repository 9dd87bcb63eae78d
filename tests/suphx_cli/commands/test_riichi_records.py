"""The three ``suphx records`` commands: what they print, their JSON and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.match_tables import index_records
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.games.riichi.records.quarantine import CHIPS, DAMAGED, NO_END, THREE_PLAYERS
from suphx_cli import cli
from tests.games.riichi.builders.games import NAMES, random_game

SOUND = write_mjlog(random_game(1))
THREE = SOUND.replace('GO type="9"', 'GO type="25"')
CHIP = SOUND.replace(' sc="', ' sc="0,0,0,0,0,0,0,0,')
CUT = SOUND[:4000].rpartition("<")[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sound games, one cut off, one of three players, one with chips."""
    place = tmp_path / "in"
    place.mkdir()
    other = write_mjlog(random_game(2))
    for name, text in {"a": SOUND, "b": other, "cut": CUT, "three": THREE, "chips": CHIP}.items():
        (place / f"{name}.mjlog").write_text(text)
    return place


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    assert cli.main(["records", *arguments, "--workers", "1", "--json"]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out.splitlines()[-1]), captured.err


def test_verify_succeeds_when_some_records_are_set_aside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values, _ = run(capsys, "verify", str(folder))
    assert (values["games"], values["differences"], values["quarantined"]) == (2, 0, 3)
    assert values["quarantined_by_reason"] == {CHIPS: 1, NO_END: 1, THREE_PLAYERS: 1}
    assert all(entry["remedy"] for entry in values["quarantine"])
    assert values["draws_checked"] == 0
    assert values["draws_unchecked_by_reason"] == {"no seed in the record": values["draws_unchecked"]}


def test_verify_counts_what_it_ignores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "live.mjlog").write_text(SOUND.replace("<INIT", '<CHAT text="hello"/><INIT', 2))
    assert run(capsys, "verify", str(tmp_path))[0]["ignored"] == {"tag CHAT": 2}


@pytest.mark.parametrize("text", [THREE, CUT, "hello"])
def test_verify_fails_when_nothing_could_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / "only.mjlog").write_text(text)
    values, error = run(capsys, "verify", str(tmp_path), code=1)
    assert (values["games"], values["quarantined"]) == (0, 1)
    assert "none of 1 records can be used; the first: " in error


def test_verify_fails_when_there_are_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = SOUND.index('yaku="') if 'yaku="' in SOUND else SOUND.index('yakuman="')
    wrong = SOUND[:start].rpartition(' ten="')
    (tmp_path / "wrong.mjlog").write_text(wrong[0] + ' ten="99,' + wrong[2].partition(",")[2] + SOUND[start:])
    values, error = run(capsys, "verify", str(tmp_path), code=1)
    assert values["differences"] > 0
    assert " in 1 game: " in error
    assert cli.main(["records", "verify", str(tmp_path), "--workers", "1"]) == 1
    assert "wrong, deal " in capsys.readouterr().out


def test_statistics_has_the_figures_and_what_was_set_aside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values, _ = run(capsys, "statistics", str(folder), "--player", NAMES[0])
    assert (values["games"], values["quarantined"]) == (2, 3)
    assert cli.main(["records", "statistics", str(folder), "--player", NAMES[0], "--workers", "1"]) == 0
    printed = capsys.readouterr()
    assert "average placement:" in printed.out
    assert "3 records were set aside:" in printed.out
    assert "over 2 games the intervals mean little: give records of at least 6" in printed.err


def test_statistics_without_luck_need_enough_games(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["records", "statistics", str(folder), "--player", NAMES[0], "--luck"]) == 1
    error = capsys.readouterr().err
    assert "2 finished games are too few to learn what draws are worth: give records of at least 40" in error
    for seed in range(3, 41):
        (folder / f"{seed}.mjlog").write_text(write_mjlog(random_game(seed)))
    values, _ = run(capsys, "statistics", str(folder), "--player", NAMES[0], "--luck")
    placement = values["without_luck"]["average_placement"]
    assert placement["mean"] == values["average_placement"]
    assert placement["adjusted_interval"][0] < placement["adjusted"] < placement["adjusted_interval"][1]


def test_convert_names_what_it_set_aside_and_lists_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, listed = folder.parent / "out", folder.parent / "aside.jsonl"
    values, _ = run(capsys, "convert", str(folder), str(target), "--to", "mjai", "--list", str(listed))
    assert (values["games"], values["written"], values["quarantined"]) == (5, 2, 3)
    assert sorted(Path(entry["file"]).stem for entry in values["quarantine"]) == ["chips", "cut", "three"]
    assert [json.loads(line)["kind"] for line in listed.read_text().splitlines()] == [CHIPS, NO_END, THREE_PLAYERS]
    assert len(list(target.iterdir())) == 2


def test_the_index_of_a_match_is_no_record_that_is_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_records([random_game(1)], tmp_path / "walls-1-1.tsv.xz", "mjlog")
    index_records(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"walls-1-1.tsv.xz", "index.json"}
    values, _ = run(capsys, "verify", str(tmp_path))
    assert (values["games"], values["quarantined"]) == (1, 0)


@pytest.mark.parametrize("name", ["out.mjson", "out.json", "out.jsonl.xz", "out.tsv", "out.xml"])
def test_convert_writes_one_file_in_the_format_of_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "a.mjlog").write_text(SOUND)
    values, _ = run(capsys, "convert", str(tmp_path / "a.mjlog"), str(tmp_path / name))
    assert values["written"] == 1
    values, _ = run(capsys, "verify", str(tmp_path / name))
    assert (values["games"], values["differences"], values["quarantined"]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("in/good.mjlog", "--list is in/good.mjlog, which is one of the records"),
        ("out.tsv", "--list is out.tsv, which is OUT, or in that folder: name another file"),
        ("in", "--list is in, which is a folder: name a file in it"),
        ("file/list.jsonl", "a file is in its place): choose another with --list"),
    ],
)
def test_a_list_that_would_replace_records_or_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], listed: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("in").mkdir()
    Path("in/good.mjlog").write_text(write_mjlog(random_game(1)))
    before = Path("in/good.mjlog").read_bytes()
    assert cli.main(["records", "convert", "in", "out.tsv", "--to", "mjlog", "--list", listed]) == 1
    assert message in capsys.readouterr().err
    assert Path("in/good.mjlog").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"file", "in"}


@pytest.mark.parametrize("target", ["file/out.tsv", "file"])
def test_a_place_that_cannot_be_written_is_refused_before_records_are_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("good.mjlog").write_text(SOUND)
    assert cli.main(["records", "convert", "good.mjlog", target, "--to", "mjlog"]) == 1
    captured = capsys.readouterr().err
    assert "a file is in its place): choose another with OUT" in captured
    assert "reading" not in captured


@pytest.mark.parametrize("target", ["out", "out.tsv", "out.tsv.xz"])
def test_convert_fails_and_writes_nothing_when_nothing_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    (tmp_path / "only.mjlog").write_text("hello")
    values, error = run(
        capsys, "convert", str(tmp_path / "only.mjlog"), str(tmp_path / target), "--to", "mjlog", code=1
    )
    assert (values["written"], values["quarantined_by_reason"]) == (0, {DAMAGED: 1})
    assert "nothing was written" in error
    assert [path.name for path in tmp_path.iterdir()] == ["only.mjlog"]
