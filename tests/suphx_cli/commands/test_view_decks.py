"""``suphx view`` with records of DouDizhu: recognised by their content, with agents of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.doudizhu.records.game_record import record_text, write_records
from suphx.games.doudizhu.selfplay import ScriptedPlayer
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.selfplay.rollouts.rollout import play_games
from suphx_cli import cli
from tests.games.doudizhu.builders import save_nets

NUM_GAMES = 22


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with games.jsonl, game.txt, and a folder of nets."""
    place = tmp_path_factory.mktemp("records")
    agents, seating = [ScriptedPlayer("rule")] * 3, np.array([[0, 1, 2]] * NUM_GAMES)
    names = ("Anna", "Ben", "Cleo")
    records = list(play_games(agents, seating, range(NUM_GAMES), Rules(), game="doudizhu", names=names))
    write_records(place / "games.jsonl", records)
    (place / "game.txt").write_text(record_text(records[2]), encoding="utf-8")
    for name, rules in (("nets", Rules()), ("loose", Rules(douzero_kickers=True))):
        save_nets(place / name, rules)
    return place


def view(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert cli.main(["view", *map(str, arguments), "--json"]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


def data_of(page: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(page.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0])
    return values


def test_the_first_games_of_a_file_are_one_page(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = view(capsys, folder / "games.jsonl")
    not_measured = {"decisions": None, "agreement": None}
    assert result == {"game": "games, 1 to 20", "deals": 20, **not_measured, "page": "games-1-to-20.html"}
    data = data_of(tmp_path / "games-1-to-20.html")
    assert (data["seat"], data["game"]["game"], data["game"]["agent"]) == (0, "doudizhu", None)
    assert "tiles" not in data["words"]["en"]
    assert cli.main(["view", str(folder / "games.jsonl")]) == 0
    out, err = capsys.readouterr()
    assert "has more than 20 games: the page has the first ones; --game N shows another" in err
    assert "agreement" not in out


@pytest.mark.parametrize(("record", "wanted", "number"), [("games.jsonl", "3", 3), ("game.txt", "1", 1)])
def test_one_game_is_chosen_by_its_number(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], record: str, wanted: str, number: int
) -> None:
    page = tmp_path / "page.html"
    player = "Cleo" if record == "games.jsonl" else "landlord_up"
    result = view(capsys, folder / record, "--game", wanted, "--player", player, "--out", page)
    assert (result["game"], result["deals"]) == (f"{Path(record).stem}, {number}", 1)
    data = data_of(page)
    assert data["seat"] == 2
    (deal,) = data["game"]["deals"]
    assert deal["number"] == number
    whole = candidate_game("doudizhu").viewer_game(list(candidate_game("doudizhu").read_records(folder / "game.txt")))
    assert deal["steps"] == json.loads(json.dumps(whole["deals"][0]["steps"]))


@pytest.mark.parametrize(("agent", "has_values"), [("rule", False), ("nets", True)])
def test_an_agent_is_compared_with_the_players(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str, has_values: bool
) -> None:
    page = tmp_path / "page.html"
    address = folder / agent if has_values else agent
    result = view(capsys, folder / "games.jsonl", "--game", "3", "--agent", address, "--out", page)
    assert result["decisions"] > 5
    assert (result["agreement"] < 1) == has_values
    shown = data_of(page)["game"]
    assert shown["agent"] == str(address)
    decisions = [each for step in shown["deals"][0]["steps"] for each in step["decisions"]]
    assert len(decisions) == result["decisions"]
    assert all((move["value"] is not None) == has_values for each in decisions for move in each["moves"])


@pytest.mark.parametrize("agent", [[], ["--agent", "rule"]])
def test_the_game_with_an_illegal_move_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: list[str]
) -> None:
    lines = (folder / "games.jsonl").read_text(encoding="utf-8").splitlines()
    bad = json.loads(lines[2])
    bad["moves"] = ["pass", *bad["moves"]]
    bad["winner"] = None
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join([*lines[:2], json.dumps(bad)]) + "\n", encoding="utf-8")
    assert cli.main(["view", str(path), *agent, "--out", str(tmp_path / "page.html")]) == 1
    assert f"{path}: game 3: move 1, landlord: pass is not legal" in capsys.readouterr().err.splitlines()[-1]
