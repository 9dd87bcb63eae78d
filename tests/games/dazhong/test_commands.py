"""The commands of the platform with Dazhong, which they know through the contract of a game only."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from suphx.games.dazhong.game import GAME
from suphx.games.dazhong.names import AGENTS
from suphx_cli import cli

RECIPE = f"""
name = "dazhong"
game = "dazhong"
night = "1"
workers = 1
pool = {{ agents = {json.dumps([*AGENTS[:3], "fanfou_op"])}, newest = 0 }}
leaderboard = {{ games = 400, anchor = "random" }}
decision = {{ opponent = "random" }}
"""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_agents_are_compared_and_their_hands_viewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hands, page = tmp_path / "hands", tmp_path / "page.html"
    words = ("evaluate", "--game", "dazhong", "--candidate", "fanfou_ba", "--opponent", "random", "--hanchans", "240")
    found = run(capsys, *words, "--points", "1", "0", "0", "0", "--runs", str(tmp_path), "--keep-games", str(hands))
    assert found["points_difference"]["per_game"] > 0.1
    others = found["opponent_statistics"]
    assert found["average_fan"] == pytest.approx(-3 * others["average_fan"])
    assert 0 < found["self_drawn_rate"] < found["win_rate"] < found["ting_rate"] < 1
    assert found["deal_in_rate"] + 3 * others["deal_in_rate"] <= 1
    assert found["average_win_fan"] >= 6
    records = list(GAME.read_records(hands))
    assert [record.players.index("candidate") for record in records[:8]] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len(records) == 240
    assert len({record.wall for record in records}) == 60
    shown = run(capsys, "view", str(hands), "--out", str(page), "--no-browser")
    assert shown["deals"] == 20
    assert "declares ting" in page.read_text(encoding="utf-8")


def test_a_hand_is_called_so_and_is_one_deal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agents = ["--candidate", "fanfou_ba", "--opponent", "random"]
    words = ["evaluate", "--game", "dazhong", *agents, "--runs", str(tmp_path)]
    assert cli.main([*words, "--hanchans", "40"]) == 0
    shown = capsys.readouterr()
    assert "over 40 hands" in shown.err
    assert "hands:" in shown.out
    assert cli.main([*words, "--deals", "40"]) == 2
    assert "--deals has no meaning for dazhong" in capsys.readouterr().err


def test_agents_are_rated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dazhong.toml").write_text(RECIPE)
    found = run(capsys, "tournament", str(tmp_path / "dazhong.toml"), "--runs", str(tmp_path / "runs"))
    assert found["agents"]["random"]["rating"] == 1000
    assert found["agents"]["fanfou_ba"]["rating"] > 1000


def test_a_person_plays_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = cycle(["win", "pass", *(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10))])
    monkeypatch.setattr(
        "suphx_platform.console.console.typed_line", lambda prompt: "q" if prompt.startswith("Enter") else next(typed)
    )
    monkeypatch.chdir(tmp_path)
    words = ("play", "--game", "dazhong", "--agent", "random", "--seat", "2", "--name", "Anna", "--seed", "5", "--json")
    assert cli.main(list(words)) == 0
    shown = capsys.readouterr()
    result = json.loads(shown.out.splitlines()[-1])
    (record,) = GAME.read_records(Path(result["records"]))
    assert record.players == ("random", "Anna", "random", "random")
    assert "South (you):" in shown.err
    assert "is not legal" in shown.err
