"""``suphx review`` of records with a scripted agent and with nets."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from suphx.evaluation.review import KINDS
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.store import write_store
from suphx.games.riichi.records.decisions import recorded_decisions
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.models.net_config import RewardPredictorConfig
from suphx.models.reward_predictor import REWARD_PREDICTOR_FILE, RewardHeader, RewardPredictor, save_reward_predictor
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.opinion import agent_opinions
from suphx.training.config import SplitConfig
from suphx_cli import cli
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_pipelines.review import allowed_games, games_of_run
from tests.games.riichi.builders.games import random_game
from tests.selfplay.small_policy_set import save_random


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
    steps = {}
    for log in iter_records([records], quarantine=Quarantine()):
        opinions = agent_opinions(load_agent("tsumogiri"), recorded_decisions(log))
        steps[log.id] = [deal["steps"] for deal in viewer_game(log, opinions)["deals"]]
    for one in decisions:
        deal, step, seat = map(int, one["address"].split("."))
        shown = steps[one["game"]][deal - 1][step - 1]["decisions"]  # step 0 is the deal before the first draw
        assert seat in [decision["seat"] + 1 for decision in shown]
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


def test_damaged_records_are_named_and_counted(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (records / "broken.mjlog").write_text("<mjloggm", encoding="utf-8")
    arguments = ["review", str(records), "--agent", "ukeire", "--out", str(tmp_path / "out"), "--runs", str(tmp_path)]
    assert cli.main([*arguments, "--json"]) == 0
    shown = capsys.readouterr()
    assert "1 record was set aside; the first: " in shown.err
    result = json.loads(shown.out)
    assert (result["games"], result["quarantined"]) == (2, 1)
    assert result["quarantine"][0]["file"].endswith("broken.mjlog")
    assert result["quarantine"][0]["reason"] in shown.err


def test_games_against_the_rules_are_set_aside_before_the_agent_is_asked() -> None:
    game, quarantine = random_game(0), Quarantine()
    kyoku = dataclasses.replace(game.kyokus[0], moves=game.kyokus[0].moves[1:])
    against = dataclasses.replace(game, kyokus=[kyoku])
    assert list(allowed_games([against, game, against], quarantine)) == [game]
    assert quarantine.by_reason == {"against the rules": 2}
    assert "deal 0 of game game-0 contradicts the rules" in quarantine.entries[0].reason


def test_games_of_the_same_name_in_two_folders_have_their_own_pages(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(2):
        (records / str(number)).mkdir()
        (records / f"game{number}.mjlog").rename(records / str(number) / "1.mjlog")
    out = tmp_path / "out"
    review(capsys, str(records), "--agent", "ukeire", "--out", str(out), "--runs", str(tmp_path))
    decisions = json.loads((out / "review.json").read_text())["decisions"]
    assert {one["game"] for one in decisions} == {"1", "1 [2]"}
    titles = {"1-1.html": "1", "2-1-2-.html": "1 [2]"}
    assert {path.name for path in out.glob("[12]-*.html")} == titles.keys()
    for name, title in titles.items():
        assert f"<title>{title}</title>" in (out / name).read_text()


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


NUM_GAMES = 8


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Eight records of one deal each, and a run that has learned from the first six of them."""
    folder = tmp_path_factory.mktemp("trained")
    records, run = folder / "records", folder / "runs" / "small-1"
    records.mkdir()
    whole = random_game(0)
    games = [dataclasses.replace(whole, id=f"game{number}", kyokus=whole.kyokus[:1]) for number in range(NUM_GAMES)]
    for game in games:
        (records / f"{game.id}.mjlog").write_text(write_mjlog(game), encoding="utf-8")
    write_store(games[:6], run / "records" / "store")
    split = SplitConfig(validation_fraction=0.2, test_fraction=0.4)
    (run / "recipe.toml").write_text(to_toml(Recipe(name="small", split=split)))
    (run / "lock").touch()
    save_random(run / "supervised")
    return records, run


def test_all_seats_of_a_player_are_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = random_game(0)
    game = dataclasses.replace(whole, kyokus=whole.kyokus[:2], names=("a", "b", "b", "クレオ"))
    (tmp_path / "game.mjlog").write_text(write_mjlog(game), encoding="utf-8")
    seats = {}
    for player in ("a", "b", "4", "クレオ"):
        arguments = [str(tmp_path / "game.mjlog"), "--agent", "tsumogiri", "--player", player]
        review(capsys, *arguments, "--out", str(tmp_path / "out"), "--runs", str(tmp_path))
        decisions = json.loads((tmp_path / "out" / "review.json").read_text())["decisions"]
        seats[player] = {int(one["address"].rpartition(".")[2]) for one in decisions}
        assert {each["agent_probability"] for each in decisions} == {None}
    assert seats == {"a": {1}, "b": {2, 3}, "4": {4}, "クレオ": {4}}


def test_held_out_games_are_those_that_the_run_has_not_learned_from(
    trained: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, run = trained
    games = games_of_run(run)
    expected = {f"game{number}" for number in range(NUM_GAMES)} - games.learned
    assert {"game6", "game7"} < expected, "two games that the run never had, and its test games"
    out = tmp_path / "out"
    common = [str(records), "--agent", f"{run}/supervised:matched", "--out", str(out), "--runs", str(run.parent)]
    result = review(capsys, *common, "--held-out")
    known = {"run": "small-1", "games": len(expected), "test_games": len(games.test)}
    assert (result["games"], result["held_out"]) == (len(expected), known)
    values = json.loads((out / "review.json").read_text())
    assert {one["game"] for one in values["decisions"]} == expected
    assert values["held_out"] == known
    sentence = f"{len(expected)} of {len(expected)} games are held out: the run small-1 has not learned from them"
    assert sentence in (out / "review.html").read_text()


def test_games_that_the_nets_have_learned_from_are_counted_with_a_warning(
    trained: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, run = trained
    number = NUM_GAMES - len(games_of_run(run).learned)
    arguments = [str(records), "--out", str(tmp_path / "out"), "--runs", str(run.parent)]
    assert cli.main(["review", *arguments, "--agent", str(run / "supervised")]) == 0
    assert f"{number} of {NUM_GAMES} games are held out" in (error := capsys.readouterr().err)
    assert "add --held-out" in error
    copied = save_random(tmp_path / "copied")
    assert cli.main(["review", *arguments, "--agent", str(copied)]) == 0
    assert "It is not known whether the nets have learned from these games" in (error := capsys.readouterr().err)
    assert "--trained-in RUN" in error
    named = review(capsys, *arguments, "--agent", str(copied), "--trained-in", "small-1", "--held-out")
    assert named["games"] == number
    assert cli.main(["review", *arguments, "--agent", "ukeire"]) == 0
    assert "held out" not in capsys.readouterr().err, "a scripted agent has learned from no game"


def test_held_out_games_of_an_unknown_run_are_refused(
    trained: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, run = trained
    nets = save_random(tmp_path / "nets")
    common = ["review", str(records), "--agent", str(nets), "--held-out", "--runs", str(run.parent)]
    assert cli.main(common) == 1
    assert "name the run with --trained-in RUN" in capsys.readouterr().err.splitlines()[-1]
    assert cli.main([*common, "--trained-in", "smal-1"]) == 1
    assert "did you mean 'small-1'" in capsys.readouterr().err.splitlines()[-1]
