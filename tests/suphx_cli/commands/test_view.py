"""``suphx view`` with records of riichi and DouDizhu, games inside an archive, and agents."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.doudizhu.records.game_record import record_text
from suphx.games.doudizhu.records.game_record import write_records as write_decks
from suphx.games.doudizhu.selfplay import ScriptedPlayer
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.selfplay.rollouts.rollout import play_games
from suphx_cli import cli
from tests.games.doudizhu.builders import save_nets
from tests.games.riichi.builders.games import random_game


def game(seed: int = 0) -> GameLog:
    """Return the first two deals of a game: a record without its end."""
    whole = random_game(seed)
    return dataclasses.replace(whole, kyokus=whole.kyokus[:2], final_scores=None)


def view(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert cli.main(["view", *map(str, arguments), "--json"]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


def data_of(page: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0])
    return values


@pytest.mark.parametrize("form", ["mjlog", "mjai"])
def test_a_record_becomes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    record, page = tmp_path / f"game.{form}", tmp_path / "page.html"
    record.write_text(write_mjlog(game()) if form == "mjlog" else write_mjai(game()), encoding="utf-8")
    result = view(capsys, str(record), "--out", str(page), "--player", "クレオ")
    not_measured = {"decisions": None, "agreement": None}
    assert result == {"game": "game", "deals": len(game().kyokus), **not_measured, "page": str(page)}
    data = data_of(page)
    assert data["seat"] == 2
    shown = data["game"]
    assert shown["final"] is None
    assert shown["deals"][0]["after"] == list(game().kyokus[1].scores)


@pytest.mark.parametrize(("game_id", "name"), [("-rf", "rf.html"), ("../.x", "x.html")])
def test_the_id_of_a_game_makes_a_name_that_is_neither_an_option_nor_hidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], game_id: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records([dataclasses.replace(game(), id=game_id)], tmp_path / "games.tsv", "mjlog")
    assert view(capsys, "games.tsv")["page"] == name


@pytest.mark.parametrize("wanted", ["second", "2"])
def test_a_game_inside_an_archive_is_named_by_id_or_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("games.zip", "w") as archive:
        for seed, name in enumerate(("first", "second")):
            archive.writestr(f"{name}.mjlog", write_mjlog(dataclasses.replace(game(seed), id=name)))
    result = view(capsys, "games.zip", "--id", wanted)
    assert (result["game"], result["page"]) == ("second", "second.html")
    assert (tmp_path / "second.html").is_file()


def test_what_differences_cost_is_shown_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, page = tmp_path / "game.mjlog", tmp_path / "page.html"
    one_deal = dataclasses.replace(game(), kyokus=game().kyokus[:1])
    record.write_text(write_mjlog(one_deal), encoding="utf-8")
    command = (str(record), "--agent", "ukeire", "--cost", "2", "--out", str(page), "--runs", str(tmp_path))
    result = view(capsys, *command)
    shown = data_of(page)["game"]
    assert (shown["agent"], shown["cost_unit"]) == ("ukeire", "points")
    decisions = [each for deal in shown["deals"] for step in deal["steps"] for each in step["decisions"]]
    assert {each["differs"] for each in decisions} == {True, False}
    assert shown["num_differences"] == round((1 - result["agreement"]) * result["decisions"])
    for each in decisions:
        assert ("cost" in each) == each["differs"]
        if each["differs"]:
            low, high = each["cost"]["interval"]
            assert low <= each["cost"]["mean"] <= high
    assert cli.main(["view", str(record), "--cost", "2"]) == 2
    assert "--cost compares the moves with those of an agent: add --agent AGENT" in capsys.readouterr().err


@pytest.mark.parametrize(("record", "out"), [("game.mjlog", "./game.mjlog"), (".", "game.mjlog")])
def test_a_page_replaces_no_record(
    record: str, out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = write_mjlog(game())
    Path("game.mjlog").write_text(text, encoding="utf-8")
    assert cli.main(["view", record, "--out", out]) == 1
    assert "which is one of the records: name another file" in capsys.readouterr().err
    assert Path("game.mjlog").read_text(encoding="utf-8") == text
    for _ in range(2):  # a page beside the records may be made again
        view(capsys, ".", "--out", "page.html")


def test_no_name_or_id_of_a_record_controls_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("Anna\x1b[2J", "Ben", "Cleo", "\x9b31mDora")
    text = write_mjai(dataclasses.replace(game(), names=names))
    Path("game.mjai").write_text(text, encoding="utf-8")
    Path("games.tsv").write_text(f"first\x1b]0;x\x07\tx\t{write_mjlog(game())}\n", encoding="utf-8")
    lines = text.splitlines()
    Path("broken.mjai").write_text("\n".join([*lines[:2], lines[2].replace("tsumo", "\x1b[8m")]), encoding="utf-8")
    shown = ""
    for arguments in (["view", "game.mjai", "--player", "Eve"], ["view", "games.tsv"], ["view", "broken.mjai"]):
        cli.main(arguments)
        out, err = capsys.readouterr()
        shown += out + err
    assert "use one of Anna\\x1b[2J, Ben, Cleo, \\x9b31mDora, or a seat" in shown
    assert "first\\x1b]0;x\\x07" in shown
    assert [each for each in shown if not (each.isprintable() or each == "\n")] == []


NUM_GAMES = 22


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with games.jsonl, game.txt, and a folder of nets."""
    place = tmp_path_factory.mktemp("records")
    agents, seating = [ScriptedPlayer("rule")] * 3, np.array([[0, 1, 2]] * NUM_GAMES)
    names = ("Anna", "Ben", "Cleo")
    records = list(play_games(agents, seating, range(NUM_GAMES), Rules(), game="doudizhu", names=names))
    write_decks(place / "games.jsonl", records)
    (place / "game.txt").write_text(record_text(records[2]), encoding="utf-8")
    for name, rules in (("nets", Rules()), ("loose", Rules(douzero_kickers=True))):
        save_nets(place / name, rules)
    return place


def test_the_first_games_of_a_file_are_one_page(
    decks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = view(capsys, decks / "games.jsonl")
    not_measured = {"decisions": None, "agreement": None}
    assert result == {"game": "games, 1 to 20", "deals": 20, **not_measured, "page": "games-1-to-20.html"}
    data = data_of(tmp_path / "games-1-to-20.html")
    assert (data["seat"], data["game"]["game"], data["game"]["agent"]) == (0, "doudizhu", None)
    assert "tiles" not in data["words"]["en"]
    assert cli.main(["view", str(decks / "games.jsonl")]) == 0
    out, err = capsys.readouterr()
    assert "has more than 20 games: the page has the first ones; --id N shows another" in err
    assert "agreement" not in out


@pytest.mark.parametrize(("record", "wanted", "number"), [("games.jsonl", "3", 3), ("game.txt", "1", 1)])
def test_one_game_is_chosen_by_its_number(
    decks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], record: str, wanted: str, number: int
) -> None:
    page = tmp_path / "page.html"
    player = "Cleo" if record == "games.jsonl" else "landlord_up"
    result = view(capsys, decks / record, "--id", wanted, "--player", player, "--out", page)
    assert (result["game"], result["deals"]) == (f"{Path(record).stem}, {number}", 1)
    data = data_of(page)
    assert data["seat"] == 2
    (deal,) = data["game"]["deals"]
    assert deal["number"] == number
    whole = candidate_game("doudizhu").viewer_game(list(candidate_game("doudizhu").read_records(decks / "game.txt")))
    assert deal["steps"] == json.loads(json.dumps(whole["deals"][0]["steps"]))


@pytest.mark.parametrize(("agent", "has_values"), [("rule", False), ("nets", True)])
def test_an_agent_is_compared_with_the_players_of_decks(
    decks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str, has_values: bool
) -> None:
    page = tmp_path / "page.html"
    address = decks / agent if has_values else agent
    result = view(capsys, decks / "games.jsonl", "--id", "3", "--agent", address, "--out", page)
    assert result["decisions"] > 5
    assert (result["agreement"] < 1) == has_values
    shown = data_of(page)["game"]
    assert shown["agent"] == str(address)
    decisions = [each for step in shown["deals"][0]["steps"] for each in step["decisions"]]
    assert len(decisions) == result["decisions"]
    assert all((move["value"] is not None) == has_values for each in decisions for move in each["moves"])


@pytest.mark.parametrize("agent", [[], ["--agent", "rule"]])
def test_the_game_with_an_illegal_move_is_named(
    decks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: list[str]
) -> None:
    lines = (decks / "games.jsonl").read_text(encoding="utf-8").splitlines()
    bad = json.loads(lines[2])
    bad["moves"] = ["pass", *bad["moves"]]
    bad["winner"] = None
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join([*lines[:2], json.dumps(bad)]) + "\n", encoding="utf-8")
    assert cli.main(["view", str(path), *agent, "--out", str(tmp_path / "page.html")]) == 1
    assert f"{path}: game 3: move 1, landlord: pass is not legal" in capsys.readouterr().err.splitlines()[-1]
