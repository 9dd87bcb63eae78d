"""``suphx tournament doudizhu_tournament``: who plays, ratings over nights, pages, and what is refused."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suphx.games.doudizhu.table import Rules
from suphx_cli import cli
from suphx_pipelines.json_file import read_json
from suphx_pipelines.tournament.history import read_games
from suphx_pipelines.tournament.kind import kind_of
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament.small_side_tournament import SMALL, play, save_nets
from tests.suphx_pipelines.tournament.small_tournament import code

NAME = "doudizhu_tournament"


def command(runs: Path, night: str, *settings: str) -> list[str]:
    wanted = (f"night={night}", "leaderboard.games=160", "decision.test.difference=0.2", "workers=1", *settings)
    return ["tournament", NAME, "--runs", str(runs), *(word for setting in wanted for word in ("--set", setting))]


def tournament(capsys: pytest.CaptureFixture[str], runs: Path, night: str, *settings: str) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.main([*command(runs, night, *settings), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_two_nights_rate_scripted_agents_and_nets_by_all_games(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_nets(runs / "a-1" / "learning", seed=1)
    first = tournament(capsys, runs, "1")
    assert (first["game"], first["champion"], first["promoted"]) == ("doudizhu", None, False)
    assert first["reason"].startswith("no promotion: a-1/learning is worse than rule: ")
    assert next(iter(first["agents"])) == "rule"
    assert set(first["agents"]) == {"rule", "random", "a-1/learning"}
    assert first["agents"]["rule"]["rating"] == 1000.0
    for row in first["agents"].values():
        assert row["interval"][0] <= row["rating"] <= row["interval"][1]
        assert set(row["sides"]) == {"landlord", "peasant"}
        assert all(0 <= side["wp"] <= 1 for side in row["sides"].values())
    assert sum(row["games"] for row in first["agents"].values()) == 2 * 160
    assert tournament(capsys, runs, "1") == first

    second = tournament(capsys, runs, "2")
    folder = runs / second["run_id"]
    assert sum(row["games"] for row in second["agents"].values()) == 2 * 320
    table = read_json(folder / "leaderboard" / "table.json")
    assert (table["deals"], table["earlier_games"], len(table["nights"])) == (80, 160, 2)
    page = Path(second["report"]).read_text(encoding="utf-8")
    assert "No promotion: a-1/learning is worse than rule" in page
    assert f"../../{first['run_id']}/report/report.html" in page
    with (folder / "report" / "leaderboard.csv").open(encoding="utf-8") as file:
        assert [row["name"] for row in csv.DictReader(file)] == list(second["agents"])
    metrics = TrackingStore(runs).newest_metrics(second["run_id"])
    assert metrics["rating/rule"] == 1000.0
    assert metrics["earlier_games"] == 160


def test_games_of_other_rules_do_not_count(runs: Path) -> None:
    result = play(runs, replace(SMALL, leaderboard=replace(SMALL.leaderboard, games=80)))
    path = runs / str(result["run_id"]) / "leaderboard" / "games.json"
    games = read_games(path, kind_of(SMALL).code(SMALL))
    assert len(games) == 80
    assert all(sorted(game.places) == [1, 2] for game in games)
    assert read_games(path, kind_of(SMALL).code(replace(SMALL, rules=Rules(douzero_kickers=True)))) == []
    assert read_games(path, code()) == []  # of riichi


def test_nets_that_cannot_play_are_left_out_or_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = save_nets(runs / "a-1" / "learning", seed=1)
    other = save_nets(runs / "b-1" / "learning", 2, Rules(douzero_kickers=True))
    twin = save_nets(runs / "c-1" / "learning", seed=1)
    settings = ("pool.newest_from=" + str(runs), f'pool.agents=["rule", "{own}"]', "leaderboard.games=80")
    result = tournament(capsys, runs, "1", *settings)
    assert set(result["agents"]) == {"rule", str(own)}
    left_out = read_json(runs / result["run_id"] / "pool" / "pool.json")["left_out"]
    assert left_out["c-1/learning"] == left_out["a-1/learning"] == f"the same nets as {own}"
    assert "learned rules with other moves than those of the recipe" in left_out["b-1/learning"]
    assert "the same nets as" in Path(result["report"]).read_text(encoding="utf-8")
    assert twin.is_dir()
    capsys.readouterr()
    assert cli.main(command(runs, "2", f'pool.agents=["rule", "{other}"]')) == 1
    assert "learned rules with other moves than those of the recipe" in capsys.readouterr().err


def test_a_place_without_nets_of_the_game_is_a_warning(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_random(tmp_path / "others" / "a-1" / "reinforcement")  # of another game
    place = f"pool.newest_from={tmp_path / 'others'}"
    assert cli.main(command(runs, "1", place, 'pool.agents=["rule"]')) == 1
    warning = f"{place.replace('=', ': ')} has no checkpoint with all nets: nobody can be promoted"
    assert warning in capsys.readouterr().err
    save_nets(tmp_path / "others" / "b-1" / "learning", seed=1)
    assert cli.main(command(runs, "2", place, 'pool.agents=["rule"]', "leaderboard.games=78")) == 1
    assert "nobody can be promoted" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (['pool.agents=["rule"]', "pool.newest=0"], "only 1 agents play (rule), 2 are needed"),
        (['pool.agents=["rule", "rul"]'], "pool.agents: 'rul' is not an agent: did you mean 'rule'?"),
        (["leaderboard.anchor=ukeire"], "leaderboard.anchor is 'ukeire': use rule, random or one of pool.agents"),
        (["leaderboard.games=78"], "leaderboard.games is 78 for 2 agents: use at least 80"),
        (["pool.newest_from=nowhere"], "pool.newest_from is nowhere, which is not a folder"),
        (["decision.opponent=ukeire"], "decision.opponent: 'ukeire' is not an agent: use random, rule or"),
        (["decision.games=47"], "decision.games is 47: use a multiple of 2, 48 to 262,144"),
    ],
)
def test_what_is_wrong_is_told(
    settings: list[str], message: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(command(runs, "1", *settings)) == 1
    assert message in capsys.readouterr().err
