"""``suphx run doudizhu`` with seconds of learning: stages, files, report, resuming."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from suphx.games.registry import candidate_game
from suphx_cli import cli
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.recipe import MonteCarloRecipe
from suphx_pipelines.recipe.recipe_file import load_config, shipped_recipes
from suphx_pipelines.report import report_decks
from suphx_pipelines.report.report_decks import verdict
from suphx_pipelines.stages.deck_match import first_deal
from suphx_pipelines.stages.training import StageWatch
from suphx_pipelines.viewer.viewer_page import page_json
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.recipe.small_recipe import MONTE_CARLO

GAME = candidate_game("doudizhu")


def run(
    capsys: pytest.CaptureFixture[str], runs: Path, *settings: str, code: int = 0, recipe: str = "doudizhu"
) -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    words = [word for setting in (*MONTE_CARLO, *settings) for word in ("--set", setting)]
    assert cli.main(["run", recipe, "--runs", str(runs), *words, "--json"]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out or "{}"), captured.err


def test_a_run_learns_plays_and_reports(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result, _ = run(capsys, runs, "registered_model=cards")
    assert {name: stage["status"] for name, stage in result["stages"].items()} == dict.fromkeys(
        ["learning", "match", "sample_game", "report"], "finished"
    )
    folder = runs / result["run_id"]
    assert {path.stem for path in (folder / "learning").glob("*.safetensors")} == {
        "landlord", "landlord_down", "landlord_up", "training_state",
    }  # fmt: skip
    match = read_json(folder / "match" / "match.json")
    for figures in match["opponents"].values():
        for figure in figures.values():
            assert figure["interval"][0] <= figure["mean"] <= figure["interval"][1]
        assert figures["share"]["mean"] == (figures["wp_landlord"]["mean"] + figures["wp_peasant"]["mean"]) / 2
    page = Path(result["report"]).read_text()
    for text in ("<h2>Match", "<h2>Learning", "Games won against random", result["verdict"].split(".")[0]):
        assert text in page
    game = Path(result["report"]).with_name("game.html").read_text()
    assert 'href="game.html"' in page
    assert "doudizhu: the nets against rule" in game
    recipe = load_config(MonteCarloRecipe, folder / "recipe.toml")
    dealt = GAME.read_record(GAME.new_record(recipe.rules, first_deal(recipe)))
    start = GAME.viewer_game([dealt])["deals"][0]["start"]
    assert game.count(f'"start":{page_json(start)}') == 2, "both games of the first deck of the match"
    points = TrackingStore(runs).newest_metrics(result["run_id"])
    assert {"random_wp_landlord", "loss", "rule_share"} <= points.keys()
    check_models(runs, result["run_id"])
    assert cli.main(["evaluate", "--candidate", str(folder / "learning"), "--opponent", "random", "--decks", "4"]) == 0
    assert "of the games on both sides together" in capsys.readouterr().err
    again, _ = run(capsys, runs)
    assert {stage["status"] for stage in again["stages"].values()} == {"kept"}
    words = [word for setting in MONTE_CARLO for word in ("--set", setting)]
    assert cli.main(["run", "doudizhu", "--runs", str(runs), *words]) == 0
    note = "Play against its agent: "
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(note)]
    _, *play = shlex.split(line.removeprefix(note))
    assert play == ["play", "--agent", str(folder / "learning")]
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert cli.main([*play, "--out", str(tmp_path)]) == 0
    assert "you lead: play anything" in capsys.readouterr().err
    assert read_json(folder / "match" / "match.json") == match


def check_models(runs: Path, run_id: str) -> None:
    """Look at the models of the run: one of the best checkpoint, with its curve, one of the end, with its match."""
    store = TrackingStore(runs)
    models = {each.name: each for each in store.client.search_logged_models([store.experiment_id()])}
    assert {each.status for each in models.values()} == {"READY"}
    last = models.pop("learning")
    measured = {metric.key: metric.dataset_name for metric in last.metrics or []}
    assert measured["rule_share"] == "DouDizhu walls"
    (version,) = store.client.search_model_versions("name = 'cards'")
    assert version.source == last.artifact_location
    assert models, "a checkpoint"
    for name, model in models.items():
        (step,) = {metric.step for metric in model.metrics or []}
        assert name == f"learning-{step}"
        assert model.params["step"] == str(step)
    run, stage = store.find(run_id), next(key for key in store.stage_keys(run_id) if "/learning/" in key)
    assert run is not None
    found = store.find(stage)
    assert found is not None
    assert found.data.tags["mlflow.source.git.commit"] == run.data.tags["mlflow.source.git.commit"]
    assert found.data.tags["mlflow.source.name"] == run.data.tags["mlflow.source.name"]
    assert found.inputs is not None
    (used,) = found.inputs.dataset_inputs
    assert [tag.value for tag in used.tags] == ["evaluation"]


def test_nets_that_imitate_an_agent_are_trained_and_measured_alike(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, _ = run(capsys, runs, recipe="doudizhu_supervised")
    assert list(read_json(runs / result["run_id"] / "match" / "match.json")["opponents"]) == ["random", "rule"]
    assert "Loss: yes or no for the moves of rule" in Path(result["report"]).read_text()


def test_a_stopped_run_continues(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(StageWatch, "is_stopping", lambda watch: True)
        _, error = run(capsys, runs, code=130)
    assert "Saved at step 1 of learning. Continue with: " in error
    result, error = run(capsys, runs)
    assert "learning: continuing from step 1" in error
    curve = read_json(runs / result["run_id"] / "learning" / "metrics.json")["curve"]
    assert [entry["games"] for entry in curve] == [2, 4]


def test_what_has_no_meaning_is_refused(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["run", "doudizhu", "--records", str(tmp_path)], "--records has no meaning for the recipe doudizhu"),
        (["run", "doudizhu", "--set", 'game="chess"'], "game"),
        (["run", "doudizhu", "--set", 'match.opponents=["expert"]'], "opponents is ['expert']: name one or more of"),
        (["tournament", "doudizhu"], "is a recipe of another command"),
    ):
        assert cli.main([*words, "--runs", str(runs)]) == 1
        assert message in capsys.readouterr().err


def test_the_shipped_recipe_has_the_defaults_of_the_code() -> None:
    recipe = load_config(MonteCarloRecipe, shipped_recipes()["doudizhu"])
    default = MonteCarloRecipe(name="doudizhu")
    assert recipe == replace(default, about=recipe.about, minutes=recipe.minutes)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU: the error is that there is none")
def test_a_gpu_that_is_not_there_is_an_error(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "doudizhu", "--runs", str(runs), "--set", "learning.device=cuda"]) == 1
    assert "device is cuda, but this machine has no usable GPU: use auto or cpu" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("low", "high", "decks", "outcome", "word", "end"),
    [
        (0.6, 0.8, 500, "better", "beat", "500 decks each, both sides."),
        (0.2, 0.4, 500, "worse", "lose to", "500 decks each, both sides."),
        (0.46, 0.54, 500, "undecided", "play about as well as", "500 decks each, both sides."),
        (0.4, 0.54, 500, "undecided", "are not clearly better or worse than", "500 decks each, both sides."),
        (1.0, 1.0, 5, "undecided", "played against", "5 decks each, both sides. Too few to decide: play at least 6."),
    ],
)
def test_the_verdict_is_about_the_last_opponent(
    low: float, high: float, decks: int, outcome: str, word: str, end: str
) -> None:
    def figures(low: float, high: float) -> dict[str, Any]:
        mean = {"mean": (low + high) / 2, "interval": [low, high]}
        return dict.fromkeys(("share", "wp_landlord", "wp_peasant"), mean)

    sides = ["landlord", "peasant"]
    found = verdict(
        {"decks": decks, "sides": sides, "opponents": {"random": figures(0.9, 0.95), "rule": figures(low, high)}}
    )
    assert found.outcome == outcome
    won = f"{50 * (low + high):.1f} % of the games (95 % interval {100 * low:.1f} % to {100 * high:.1f} %)"
    assert found.sentence.startswith(f"The nets {word} rule: they win {won}, ")
    assert found.sentence.endswith(end)


@pytest.mark.parametrize(
    ("share", "error", "bounds"), [(1.0, 0.0, (0.982, 1.0)), (0.0, 0.0, (0.0, 0.018)), (0.5, 0.1, (0.304, 0.696))]
)
def test_an_evaluation_has_an_interval_also_if_all_games_were_won(
    share: float, error: float, bounds: tuple[float, float]
) -> None:
    assert report_decks._interval(share, error, decks=200) == pytest.approx(bounds, abs=5e-4)
