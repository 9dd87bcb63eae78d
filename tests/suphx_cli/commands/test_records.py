"""``suphx records`` with games whose records are read one after another, by the contract only."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_deals
from suphx.games.record_tools import PlainRecordTools
from suphx.games.registry import GAMES, load_game
from suphx_cli import cli

PLAIN = [name for name in GAMES if isinstance(load_game(name).record_tools, PlainRecordTools)]


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    assert cli.main(["records", *arguments, "--json"]) == code
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    return json.loads(lines[-1]) if lines else {}, captured.err


@pytest.fixture(scope="module", params=PLAIN)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A game, and the file of records of a few deals of its scripted agents."""
    game = load_game(request.param)
    folder = tmp_path_factory.mktemp(game.name)
    setup = MatchSetup(game.agents[-1], game.agents[0], seed=1, game=game.name)
    list(play_deals(setup, 2, runner=GameRunner(records=folder)))
    game.join_records(folder)
    (file,) = folder.iterdir()
    return game.name, file


@pytest.mark.parametrize("name", PLAIN)
def test_no_game_is_lost_if_joining_the_parts_of_a_match_is_cut_off(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = load_game(name)
    setup = MatchSetup(game.agents[0], game.agents[0], seed=1, game=name, deals_per_task=1)
    list(play_deals(setup, 2, runner=GameRunner(records=tmp_path)))
    parts, unlink = list(tmp_path.iterdir()), Path.unlink
    assert len(parts) == 2

    def unlink_once(path: Path, *arguments: Any) -> None:
        if len([part for part in parts if part.exists()]) < len(parts):
            raise KeyboardInterrupt
        unlink(path, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink_once)
        with pytest.raises(KeyboardInterrupt):
            game.join_records(tmp_path)
    game.join_records(tmp_path)
    (file,) = tmp_path.iterdir()
    assert len(list(game.read_records(file))) == 2 * game.scoring.num_games()


def test_records_are_verified_converted_and_counted(
    played: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, file = played
    game = load_game(name)
    assert game.record_tools is not None
    values, _ = run(capsys, "verify", str(file))
    num_games = 2 * game.scoring.num_games()
    assert (values["games"], values["differences"], values["quarantined"]) == (num_games, 0, 0)
    assert values["decisions"] > 10 * num_games
    for form in game.record_tools.forms:
        target = tmp_path / f"{form}{next(end for end in ('.jsonl', '.txt', '.json') if form in forms_of(game, end))}"
        converted, _ = run(capsys, "convert", str(file), str(target), "--to", form)
        assert (converted["games"], converted["written"]) == (num_games, num_games)
        again, _ = run(capsys, "verify", str(target))
        assert (again["games"], again["decisions"]) == (num_games, values["decisions"])
    if game.scoring.counters:
        found, _ = run(capsys, "statistics", str(file), "--player", "candidate")
        assert (found["games"], found["unfinished_games"]) == (num_games, 0)
        assert cli.main(["records", "statistics", str(file), "--player", "candidate"]) == 0
        assert "riichi rate" not in capsys.readouterr().out
        assert "are 2 names, such as" in run(capsys, "statistics", str(file), "--player", "nobody", code=1)[1]
    else:
        assert "have no figures" in run(capsys, "statistics", str(file), "--player", "candidate", code=1)[1]


def forms_of(game: Any, ending: str) -> tuple[str, ...]:
    forms: tuple[str, ...] = game.record_tools.file_forms(Path(f"a{ending}"))
    return forms


def test_what_is_damaged_or_illegal_is_named(
    played: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = played
    lines = file.read_text(encoding="utf-8").splitlines()
    illegal = json.loads(lines[0])
    illegal["moves"] = illegal["moves"][1:]
    broken, listed = tmp_path / "broken.jsonl", tmp_path / "aside.jsonl"
    broken.write_text("\n".join([json.dumps(illegal), lines[1], lines[2][:200]]), encoding="utf-8")
    values, _ = run(capsys, "verify", str(broken), code=1 if load_game(played[0]).scoring.counters else 0)
    assert (values["games"] + values["quarantined"], values["differences"] + values["quarantined"]) == (3, 2)
    assert all("is not legal" in each["what"] for each in values["first_differences"])
    if values["differences"]:
        assert "records verify" in run(capsys, "statistics", str(broken), "--player", "candidate", code=1)[1]
    values, _ = run(capsys, "convert", str(broken), str(tmp_path / "out.jsonl"), "--list", str(listed))
    assert values["quarantined"] == len(listed.read_text(encoding="utf-8").splitlines()) >= 1


def test_a_name_without_a_known_ending_and_another_form_are_refused(
    played: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = played
    assert "name a file that ends in .jsonl (json)" in run(capsys, "convert", str(file), str(tmp_path), code=1)[1]
    assert "--to is 'mjlog': use" in run(capsys, "convert", str(file), "a.jsonl", "--to", "mjlog", code=1)[1]
    assert "is also the source" in run(capsys, "convert", str(file), str(file), code=1)[1]
    assert "--luck has no meaning" in run(capsys, "statistics", str(file), "--player", "a", "--luck", code=2)[1]


def test_packed_records_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = load_game("mcr")
    setup = MatchSetup("random", "random", seed=1, game="mcr")
    list(play_deals(setup, 1, runner=GameRunner(records=tmp_path / "games")))
    game.join_records(tmp_path / "games")
    packed = tmp_path / "games.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "games" / "games.jsonl").read_bytes()))
    assert run(capsys, "verify", str(packed))[0]["games"] == 4
    packed.write_bytes(packed.read_bytes()[:-20])
    assert run(capsys, "verify", str(packed), code=1)[0]["quarantined"] == 1
