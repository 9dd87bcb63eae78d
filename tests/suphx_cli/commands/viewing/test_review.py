"""``suphx review`` of records with a baseline and with nets."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from suphx.evaluation.review import KINDS
from suphx.games.riichi.records.mjlog.mjlog_writer import write_mjlog
from suphx.models.checkpoints.reward_checkpoint import REWARD_PREDICTOR_FILE, RewardHeader, save_reward_predictor
from suphx.models.nets.reward_predictor import RewardPredictor
from suphx.models.nets.reward_predictor_config import RewardPredictorConfig
from suphx_cli import cli
from tests.games.riichi.builders.random_game import random_game
from tests.suphx_platform.parts.small_policy_set import save_random


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Two games of two deals each."""
    folder = tmp_path / "records"
    folder.mkdir()
    for seed in range(2):
        whole = random_game(seed)
        game = dataclasses.replace(whole, id=f"game{seed}", kyokus=whole.kyokus[:2])
        (folder / f"game{seed}.mjlog").write_text(write_mjlog(game), encoding="utf-8")
    return folder


def review(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert cli.main(["review", *arguments, "--json"]) == 0
    values: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


def test_a_review_has_the_probabilities_of_nets_and_links_to_the_games(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nets, out = save_random(tmp_path / "nets"), tmp_path / "out"
    result = review(capsys, str(records), "--agent", str(nets), "--out", str(out), "--runs", str(tmp_path))
    values = json.loads((out / "review.json").read_text())
    decisions = values["decisions"]
    assert (result["games"], result["decisions"]) == (2, len(decisions))
    agreement = sum(one["played"] == one["agent"] for one in decisions) / len(decisions)
    assert result["agreement"] == pytest.approx(agreement)
    for groups in (["turns"], ["tenpai"], ["other player has", "another player has"], list(KINDS.values())):
        rows = [row for row in values["groups"] if any(group in row["group"] for group in groups)]
        assert sum(row["decisions"] for row in rows) == len(decisions)
    moves = {kind: {name for one in decisions if one["kind"] == kind for name, _ in one["moves"]} for kind in KINDS}
    assert all(name.startswith("discard") for name in moves["discard"])
    assert {name.split()[0] for name in moves["claim"]} <= {"pass", "chi", "pon", "minkan"}
    assert all("pass" in dict(one["moves"]) for one in decisions if one["kind"] == "claim")
    discards = [one for one in decisions if one["played"].startswith("discard")]
    assert all(0 <= one["played_probability"] <= 1 for one in discards)
    assert all(sum(p for name, p in one["moves"] if name.startswith("discard")) == pytest.approx(1, abs=0.01)
               for one in discards)  # fmt: skip
    page = (out / "review.html").read_text()
    different = [one for one in decisions if one["played"] != one["agent"]]
    assert page.count("Show the table") == min(50, len(different)) > 0
    assert 'href="1-game0.html#1.' in page
    assert sorted(path.name for path in out.glob("*-game*.html")) == ["1-game0.html", "2-game1.html"]


def test_one_player_of_one_game_is_reviewed_with_a_baseline(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, out = records / "game0.mjlog", tmp_path / "out"
    common = [str(game), "--agent", "ukeire", "--out", str(out), "--runs", str(tmp_path)]
    everybody = review(capsys, *common)
    one = review(capsys, *common, "--player", "クレオ")
    again = review(capsys, *common, "--player", "3")
    assert again == one
    assert 0 < int(str(one["decisions"])) < int(str(everybody["decisions"]))
    values = json.loads((out / "review.json").read_text())
    assert {each["player"] for each in values["decisions"]} == {"クレオ"}
    assert {each["agent_probability"] for each in values["decisions"]} == {None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--agent", "ukeire"], "nowhere does not exist"),
        (["records", "--agent", "mjai:bot"], "must follow whole games"),
        (["records", "--agent", "ukeire", "--player", "Eve"], "records has no game of 'Eve' among its first 20"),
    ],
)
@pytest.mark.usefixtures("records")
def test_what_cannot_be_reviewed_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["review", *arguments]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "review").exists()


def test_costs_of_differences_are_in_the_files_and_on_the_pages(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, out = records / "game0.mjlog", tmp_path / "out"
    common = [str(game), "--agent", "ukeire", "--player", "1", "--out", str(out), "--runs", str(tmp_path)]
    result = review(capsys, *common, "--cost", "4")
    cost = result["cost"]
    assert isinstance(cost, dict)
    assert (cost["unit"], cost["samples"]) == ("points", 4)
    values = json.loads((out / "review.json").read_text())
    costs = [one["cost"]["mean"] for one in values["decisions"] if one["cost"]]
    assert len(costs) == sum(one["played"] != one["agent"] for one in values["decisions"]) == cost["differences"]
    assert sum(costs) == pytest.approx(cost["total"])
    page = (out / "review.html").read_text()
    assert "<h2>Cost" in page
    assert f"{max(costs):+,.1f} points (" in page
    shown = json.loads((out / "1-game0.html").read_text().split('id="data">')[1].split("</script>")[0])["game"]
    assert shown["cost_unit"] == "points"


def test_the_reward_predictor_of_the_run_gives_costs_in_placement_points(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    nets = save_random(run / "supervised")
    predictor = RewardPredictor(RewardPredictorConfig(), (90, 45, 0, -135))
    path = run / "reward_predictor" / REWARD_PREDICTOR_FILE
    path.parent.mkdir()
    header = RewardHeader(net=predictor.config, points=predictor.points, rules_version="x", step=1)
    save_reward_predictor(path, predictor.state_dict(), header)
    common = [str(records / "game0.mjlog"), "--player", "1", "--cost", "2", "--runs", str(tmp_path)]
    common += ["--out", str(tmp_path / "out")]
    beside = review(capsys, *common, "--agent", str(nets))["cost"]
    named = review(capsys, *common, "--agent", "ukeire", "--reward-predictor", str(path))["cost"]
    assert isinstance(beside, dict)
    assert isinstance(named, dict)
    assert beside["unit"] == named["unit"] == "placement points"
    assert beside["total"] == 0, "an untrained predictor values all games alike"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cost", "1"], "--cost is 1: use 2 samples or more"),
        (["--reward-predictor", "x"], "add --cost SAMPLES"),
        (["--cost", "4", "--reward-predictor", "nowhere"], "--reward-predictor is nowhere, which is no file"),
    ],
)
def test_wrong_settings_of_costs_are_refused(
    records: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert cli.main(["review", str(records), "--agent", "ukeire", *arguments]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
