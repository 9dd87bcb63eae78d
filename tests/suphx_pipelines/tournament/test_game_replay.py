"""Games of a tournament are played again, from what the run has kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.table import places_of_scores
from suphx_cli import cli
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.tournament_recipe import PoolConfig
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament.small_tournament import SMALL, play


@pytest.fixture
def tournament(runs: Path) -> Path:
    save_random(runs / "a-1" / "reinforcement")
    return runs / str(play(runs)["run_id"])


def replay(capsys: pytest.CaptureFixture[str], run: Path, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    to = str(run.parent.parent / "again")
    assert cli.main(["runs", "replay", str(run), "--to", to, *arguments, "--json"]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out or "{}"), captured.err


def test_games_are_the_same_again_and_can_be_watched(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result, _ = replay(capsys, tournament, "--wall", "2", "--wall", "5")
    assert [(game["wall"], game["is_same"]) for game in result["games"]] == [(2, True)] * 4 + [(5, True)] * 4
    records = list(iter_records([Path(result["records"])], workers=1, quarantine=Quarantine()))
    shown = {(record.names, tuple(places_of_scores(np.array([record.final_scores]))[0].tolist())) for record in records}
    assert shown == {(tuple(game["agents"]), tuple(game["places"])) for game in result["games"]}


def test_a_game_that_ends_differently_is_an_error(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tournament / "leaderboard" / "games.json"
    values = read_json(path)
    values["games"][0][2].reverse()
    values["engine"] = "0" * 64
    write_json(path, values)
    result, error = replay(capsys, tournament, "--wall", "1", code=1)
    assert [game["is_same"] for game in result["games"]] == [False, True, True, True]
    assert "was played with another version of the game's code: places may differ" in error
    assert "1 of 4 games ended differently: the nets or the code have changed" in error


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
    result, _ = replay(capsys, tournament, "--wall", str(without))
    assert [game["is_same"] for game in result["games"]] == [True] * 4
    _, error = replay(capsys, tournament, "--wall", str(without), "--wall", str(min(with_nets)), code=1)
    assert f"the nets of {entrants[digest]['name']} are not in {nets}: copy that folder from the storage" in error
