"""``suphx runs replay`` of a tournament in a game of two sides."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from suphx.games.registry import candidate_game
from suphx_cli import cli
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.viewer.viewer_page import page_json
from tests.suphx_pipelines.tournament.small_side_tournament import SMALL, play, save_nets, save_strong_nets

GAME = candidate_game("doudizhu")
DECKS = (45, 1, 20, 21)


def command(run: object, runs: Path, records: Path, *decks: int) -> list[str]:
    words = [word for deck in decks for word in ("--deck", str(deck))]
    return ["runs", "replay", str(run), *words, "--to", str(records), "--runs", str(runs), "--json"]


def test_games_are_played_again_as_in_that_night(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_nets(runs / "a-1" / "learning", seed=1)
    save_strong_nets(runs / "b-1" / "learning")
    run = play(runs, replace(SMALL, leaderboard=replace(SMALL.leaderboard, games=170)))["run_id"]
    capsys.readouterr()
    assert cli.main(command(run, runs, tmp_path / "records", *DECKS)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differences"] == 0
    stored = read_json(runs / str(run) / "leaderboard" / "games.json")
    names = [agent["name"] for agent in stored["agents"]]
    walls = sorted({wall for wall, _, _ in stored["games"]})
    told = {(game["wall"], tuple(game["agents"]), tuple(game["places"])) for game in found["games"]}
    assert told == {
        (walls.index(wall) + 1, tuple(names[agent] for agent in seats), tuple(places))
        for wall, seats, places in stored["games"]
        if walls.index(wall) + 1 in DECKS
    }
    assert [game["wall"] for game in found["games"]] == [deck for deck in DECKS for _ in range(2)]
    for deck in DECKS:
        records = list(GAME.read_records(tmp_path / "records" / f"deck-{deck}.jsonl"))
        winners = {(record.players[0], record.players[1], record.winner == "landlord") for record in records}
        own = [game for game in found["games"] if game["wall"] == deck]
        assert winners == {(*game["agents"], game["places"][0] == 1) for game in own}
        assert len({record.hands for record in records}) == 1, "the same deck with the sides swapped"

    page = (runs / str(run) / "report" / "game.html").read_text(encoding="utf-8")
    deck = GAME.viewer_game(list(GAME.read_records(tmp_path / "records" / "deck-1.jsonl")))["deals"][0]["start"]
    assert f'"start":{page_json(deck)}' in page, "the report shows the first deck of the night"
    assert cli.main(command(run, runs, tmp_path / "records", 86)) == 1
    assert f"{run} has no deck 86: use 1 to 85" in capsys.readouterr().err
    path = runs / str(run) / "leaderboard" / "games.json"
    recipe = runs / str(run) / "recipe.toml"
    recipe.rename(tmp_path / "recipe.toml")
    assert cli.main(command(run, runs, tmp_path / "records", 1)) == 1
    assert "has no recipe.toml: copy the whole folder of the run from the storage" in capsys.readouterr().err
    (tmp_path / "recipe.toml").rename(recipe)
    write_json(path, stored | {"rules": "0" * 64})
    assert cli.main(command(run, runs, tmp_path / "records", 1)) == 1
    assert "has no games by today's rules" in capsys.readouterr().err
    path.unlink()
    assert cli.main(command(run, runs, tmp_path / "records", 1)) == 1
    assert "is no finished tournament: it has no leaderboard/games.json" in capsys.readouterr().err
