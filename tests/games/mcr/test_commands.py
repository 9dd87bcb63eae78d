"""The commands of the platform with MCR, which they know through the contract of a game only."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from suphx.games.mcr.game import GAME
from suphx_cli import cli


def run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_agents_are_compared_and_their_games_viewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games, page = tmp_path / "games", tmp_path / "page.html"
    words = ("evaluate", "--game", "mcr", "--candidate", "shanten", "--opponent", "random", "--hanchans", "160")
    found = run(capsys, *words, "--runs", str(tmp_path), "--keep-games", str(games))
    assert found["average_score"] == pytest.approx(-3 * found["opponent_statistics"]["average_score"])
    assert 0 < found["win_rate"] <= found["decided_rate"] < 1
    records = list(GAME.read_records(games))
    assert [record.players.index("candidate") for record in records[:8]] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len({record.wall for record in records}) == 40
    shown = run(capsys, "view", str(games), "--out", str(page), "--no-browser")
    assert shown["deals"] == 20
    assert "empty wall" in page.read_text(encoding="utf-8")


def test_a_person_plays_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{suit}{rank}" for suit in "WTB" for rank in range(1, 10)] + [f"F{rank}" for rank in range(1, 5)]
    typed = cycle(["win", "pass", *names, "J1", "J2", "J3"])
    monkeypatch.setattr(
        "suphx_platform.console.console.typed_line", lambda prompt: "q" if prompt.startswith("Enter") else next(typed)
    )
    monkeypatch.chdir(tmp_path)
    words = ("play", "--game", "mcr", "--agent", "random", "--seat", "2", "--name", "Anna", "--seed", "5", "--json")
    assert cli.main(list(words)) == 0
    shown = capsys.readouterr()
    result = json.loads(shown.out.splitlines()[-1])
    (record,) = GAME.read_records(Path(result["records"]))
    assert record.players == ("random", "Anna", "random", "random")
    assert "South (you):" in shown.err
