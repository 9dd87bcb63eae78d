"""``suphx runs replay``: games of a tournament are played again, from what the run has kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.registry import candidate_game
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.table import places_of_scores
from suphx_cli import cli
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.tournament_recipe import PoolConfig
from suphx_pipelines.viewer.viewer_page import page_json
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament import small_side_tournament as sides
from tests.suphx_pipelines.tournament.small_tournament import SMALL, play

GAME = candidate_game("doudizhu")
DECKS = (45, 1, 20, 21)


@pytest.fixture
def tournament(runs: Path) -> Path:
    save_random(runs / "a-1" / "reinforcement")
    return runs / str(play(runs)["run_id"])


def replay(
    capsys: pytest.CaptureFixture[str], run: Path, *walls: int, option: str = "--wall", code: int = 0
) -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    words = [word for wall in walls for word in (option, str(wall))]
    to = str(run.parent.parent / "again")
    assert cli.main(["runs", "replay", run.name, *words, "--to", to, "--runs", str(run.parent), "--json"]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out or "{}"), captured.err


def test_games_are_the_same_again_and_can_be_watched(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result, _ = replay(capsys, tournament, 2, 5)
    assert [(game["wall"], game["is_same"]) for game in result["games"]] == [(2, True)] * 4 + [(5, True)] * 4
    records = list(iter_records([Path(result["records"])], workers=1, quarantine=Quarantine()))
    shown = {(record.names, tuple(places_of_scores(np.array([record.final_scores]))[0].tolist())) for record in records}
    assert shown == {(tuple(game["agents"]), tuple(game["places"])) for game in result["games"]}


def test_games_of_two_sides_are_the_same_again(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides.save_nets(runs / "a-1" / "learning", seed=1)
    sides.save_strong_nets(runs / "b-1" / "learning")
    board = replace(sides.SMALL.leaderboard, games=170)
    run = runs / str(sides.play(runs, replace(sides.SMALL, leaderboard=board))["run_id"])
    found, _ = replay(capsys, run, *DECKS, option="--deck")
    assert found["differences"] == 0
    stored = read_json(run / "leaderboard" / "games.json")
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
        records = list(GAME.read_records(Path(found["records"]) / f"deck-{deck}.jsonl"))
        winners = {(record.players[0], record.players[1], record.winner == "landlord") for record in records}
        own = [game for game in found["games"] if game["wall"] == deck]
        assert winners == {(*game["agents"], game["places"][0] == 1) for game in own}
        assert len({record.hands for record in records}) == 1, "the same deck with the sides swapped"
    page = (run / "report" / "game.html").read_text(encoding="utf-8")
    first = list(GAME.read_records(Path(found["records"]) / "deck-1.jsonl"))
    shown = GAME.viewer_game(first)["deals"][0]["start"]
    assert f'"start":{page_json(shown)}' in page, "the report shows the first deck of the night"


def test_a_game_that_ends_differently_is_an_error(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tournament / "leaderboard" / "games.json"
    values = read_json(path)
    values["games"][0][2].reverse()
    write_json(path, values)
    result, error = replay(capsys, tournament, 1, code=1)
    assert [game["is_same"] for game in result["games"]] == [False, True, True, True]
    assert "1 of 4 games ended differently: the nets or the code have changed" in error


def test_what_is_missing_is_named(tournament: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, recipe = tournament / "leaderboard" / "games.json", tournament / "recipe.toml"
    assert f"{tournament.name} has no wall 6: use 1 to 5" in replay(capsys, tournament, 6, code=1)[1]
    recipe.rename(tmp_path / "recipe.toml")
    assert "has no recipe.toml: copy the whole folder of the run" in replay(capsys, tournament, 1, code=1)[1]
    (tmp_path / "recipe.toml").rename(recipe)
    write_json(path, read_json(path) | {"rules": "0" * 64})
    assert "has no games by today's rules" in replay(capsys, tournament, 1, code=1)[1]
    path.unlink()
    assert "has no leaderboard/games.json" in replay(capsys, tournament, 1, code=1)[1]


def test_only_the_nets_of_those_who_play_are_needed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_random(runs / "a-1" / "reinforcement")
    save_random(runs / "b-1" / "reinforcement", 2)
    tournament = runs / str(play(runs, replace(SMALL, pool=PoolConfig(newest=2)))["run_id"])
    entrants = {agent["digest"]: agent for agent in read_json(tournament / "pool" / "pool.json")["entrants"]}
    stored = read_json(tournament / "leaderboard" / "games.json")
    digest = next(digest for digest, entrant in entrants.items() if entrant["address"].startswith("agents/"))
    own = [agent["digest"] for agent in stored["agents"]].index(digest)
    walls = sorted({wall for wall, _, _ in stored["games"]})
    with_nets = {walls.index(wall) + 1 for wall, seats, _ in stored["games"] if own in seats}
    without = next(number for number in range(1, len(walls) + 1) if number not in with_nets)
    nets = tournament / "pool" / entrants[digest]["address"]
    nets.rename(tournament / "elsewhere")
    result, _ = replay(capsys, tournament, without)
    assert [game["is_same"] for game in result["games"]] == [True] * 4
    _, error = replay(capsys, tournament, without, min(with_nets), code=1)
    assert f"the nets of {entrants[digest]['name']} are not in {nets}: copy that folder from the storage" in error
