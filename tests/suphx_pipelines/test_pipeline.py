"""The real pipeline, small: on games that it plays itself, killed and continued, and on real records."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from suphx.games.registry import DEFAULT_GAME
from suphx.games.riichi.names import HEAD_NAMES
from suphx_cli import cli
from suphx_pipelines.pipeline import left_out, pipeline_stages, run_recipe
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.stages.supervised import training_shares
from suphx_platform.console.console import Console
from tests.suphx_pipelines.recipe.small_recipe import LAPTOP, SMALL_LAPTOP, load_recipe
from tests.suphx_pipelines.stages.result_files_page import undeclared_files

SUPERVISED = [f"supervised/{head}" for head in training_shares(DEFAULT_GAME)]
STAGES = ["records", *SUPERVISED, "evaluation", "sample_game", "report"]
START_SECONDS = 300
"""A limit for a process that may first have to compile the kernels; nothing waits that long otherwise."""


def command(runs: Path) -> list[str]:
    settings = [part for key, value in SMALL_LAPTOP.items() for part in ("--set", f"{key}={value}")]
    suphx = [sys.executable, "-m", "suphx_cli.cli"]
    return [*suphx, "run", str(LAPTOP), "--runs", str(runs), "--json", *settings]


def kill_when(marker: str, runs: Path) -> None:
    """Start the run and kill it with SIGKILL as soon as a file like ``marker`` is in the run's folder."""
    process = subprocess.Popen(command(runs), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + START_SECONDS
    while not list(runs.glob(f"laptop-*/{marker}")):
        assert process.poll() is None, f"the run ended before {marker} was there"
        assert time.monotonic() < limit, f"{marker} did not appear"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def finish(runs: Path) -> dict[str, Any]:
    done = subprocess.run(command(runs), capture_output=True, text=True, check=False, timeout=START_SECONDS)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def finish_here(runs: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Do the same without a process of its own, which takes seconds to start."""
    assert cli.main(command(runs)[3:]) == 0, capsys.readouterr().err
    result: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return result


def outcome(result: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on kills: the nets' weights, their test figures, the match."""
    run = Path(result["report"]).parents[1]
    match = json.loads((run / "evaluation" / "match.json").read_text())
    weights = {head: (run / "supervised" / head / f"{head}.safetensors").read_bytes() for head in HEAD_NAMES}
    tests = {head: json.loads((run / "supervised" / head / "metrics.json").read_text())["test"] for head in HEAD_NAMES}
    summary = json.loads((run / "records" / "summary.json").read_text())
    return {"weights": weights, "tests": tests, "match": match["players"], "records": summary}


def test_a_run_killed_in_three_stages_ends_like_one_that_was_not(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    whole = finish_here(other, capsys)
    assert list(whole["stages"]) == STAGES
    assert (Path(whole["report"]).parent / "game.html").read_text().count("<script") == 2
    for page in ("game_best_1.html", "game_worst_1.html"):
        assert f'<a href="{page}">' in Path(whole["report"]).read_text()
        assert (Path(whole["report"]).parent / page).read_text().startswith("<!DOCTYPE html>")
    assert (
        undeclared_files(
            Path(whole["report"]).parents[1], pipeline_stages(load_recipe(LAPTOP, [*SMALL_LAPTOP.items()]))
        )
        == []
    )
    for marker in ("records/started.json", "supervised/chow/started.json", "evaluation/started.json"):
        kill_when(marker, runs)
    continued = finish(runs)
    assert continued["run_id"] == whole["run_id"]
    assert list(continued["stages"]) == STAGES
    assert continued["stages"]["supervised/riichi"]["status"] == "kept"
    assert outcome(continued) == outcome(whole)
    assert {stage["status"] for stage in finish_here(runs, capsys)["stages"].values()} == {"kept"}


@pytest.mark.slow
@pytest.mark.records
def test_a_small_run_on_real_records_ends_with_five_nets_a_match_and_a_report(runs: Path, records: Path) -> None:
    recipe = load_recipe(LAPTOP, list(SMALL_LAPTOP.items()))
    source = records / "rare-situations"
    result = run_recipe(recipe, records=source, runs=runs, console=Console())
    assert list(result.stages) == STAGES
    summary = json.loads((result.folder / "records" / "summary.json").read_text())
    assert summary["source"] == "given"
    assert summary["games"] + summary["quarantined"] >= 60
    page = result.report.read_text()
    assert "next to Table 3 of the paper" in page
    assert "Games to look at" in page


def test_records_that_no_stage_reads_are_not_part_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console, ids = Console(), set()

    def run(self: Runner[Recipe]) -> RunResult:
        ids.add(self.run_id)
        return RunResult(run_id="x", folder=tmp_path, tracking_uri="")

    monkeypatch.setattr(Runner, "run", run)
    (tmp_path / "a.mjlog").write_text("one")
    recipe = load_recipe(LAPTOP.with_name("rl_basic.toml"), [("initial_agent", '"models:/suphx@champion"')])
    for records in (None, tmp_path / "a.mjlog"):
        run_recipe(recipe, records=records, runs=tmp_path / "runs", console=console)
    assert len(ids) == 1
    assert console.warnings == ["rl_basic has no stage that reads game records: --records is ignored"]


@pytest.mark.parametrize("is_given", [False, True])
def test_a_recipe_for_records_warns_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_given: bool
) -> None:
    console = Console()
    monkeypatch.setattr(Runner, "run", lambda self: RunResult(run_id="x", folder=tmp_path, tracking_uri=""))
    (tmp_path / "a.mjlog").write_text("one")
    recipe = load_recipe(LAPTOP.with_name("rl_basic.toml"))
    run_recipe(recipe, records=tmp_path / "a.mjlog" if is_given else None, runs=tmp_path / "runs", console=console)
    told = "rl_basic is meant for game records: without --records DIR it learns from games that the agent ukeire plays"
    assert [warning.startswith(told) for warning in console.warnings] == ([] if is_given else [True])


VALUES = {"reinforcement.learner.algorithm": "monte_carlo", "reinforcement.engine.epsilon": "0.1"}
NO_SELF_PLAY = {"reinforcement.max_updates": "0", "reinforcement.max_minutes": "0"}


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("agent_comparison", NO_SELF_PLAY, "agents .* set reinforcement.max_updates"),
        ("agent_comparison", {"reinforcement.start": "random"}, "agents .*set reinforcement.start"),
        ("agent_comparison", {"reinforcement.reward": "round_score"}, "agents .*set reinforcement.reward"),
        ("agent_comparison", {"oracle.max_updates": "0"}, "agents .*set oracle.max_updates"),
        ("agent_comparison", {"reinforcement.learner.oracle_critic": "false"}, "agents .*oracle_critic to true"),
        ("agent_comparison", {"playouts.num_decisions": "1000"}, "agents .*set playouts.num_decisions to 0"),
        ("agent_comparison", {"reinforcement.weight_sync_interval": "8"}, "updates_per_step is 5: use a multiple .*8"),
        (
            "reinforcement",
            VALUES | {"oracle.max_updates": "1", "oracle_distillation.max_updates": "1"},
            "set oracle_distillation.max_updates to 0",
        ),
        ("reinforcement", {"playouts.num_decisions": "100"}, "playouts.num_decisions needs supervised learning"),
        ("laptop", {"initial_agent": "a/b", "reinforcement.start": "random"}, "initial_agent has no effect"),
    ],
)
def test_what_does_not_fit_together_is_refused_before_anything_runs(
    name: str, settings: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        pipeline_stages(load_recipe(LAPTOP.with_stem(name), [*settings.items()]))


@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        ({}, {"evaluation": SUPERVISED, "sample_game": [*SUPERVISED, "evaluation"]}),
        (
            {"reinforcement.max_updates": "9", "playouts.num_decisions": "10"},
            {"playouts": SUPERVISED, "reinforcement": [*SUPERVISED, "playouts"], "sample_game": ["reinforcement"]},
        ),
        (
            {"oracle.max_updates": "4", "oracle_decay.steps": "2", "oracle_distillation.max_updates": "2",
             "reinforcement.weight_sync_interval": "1"},
            {"oracle": SUPERVISED, "oracle_decay": [*SUPERVISED, "oracle"], "sample_game": ["oracle_decay"],
             "oracle_distillation": [*SUPERVISED, "oracle"]},
        ),
        (
            {"initial_agent": "a/b", "reinforcement.max_updates": "9", "playouts.num_decisions": "10",
             "reinforcement.reward": "global_prediction"},
            {"reward_predictor": ["records"], "playouts": ["initial_agent"], "evaluation": ["initial_agent"],
             "reinforcement": ["initial_agent", "playouts", "reward_predictor"]},
        ),
    ],
)  # fmt: skip
def test_stages_are_there_if_they_are_wanted_with_what_they_need(
    settings: dict[str, str], needs: dict[str, list[str]]
) -> None:
    stages = {stage.name: stage for stage in pipeline_stages(load_recipe(LAPTOP, [*settings.items()]))}
    assert {name: sorted(stages[name].needs) for name in needs} == {name: sorted(each) for name, each in needs.items()}
    optional = {"playouts", "reinforcement", "oracle", "oracle_decay", "oracle_distillation"}
    assert optional & stages.keys() == optional & needs.keys()


@pytest.mark.parametrize(
    ("settings", "keys"),
    [
        ({}, []),
        (NO_SELF_PLAY, ["reinforcement.max_updates"]),
        (NO_SELF_PLAY | {"playouts.num_decisions": "9", "playouts.final_hanchans": "0"},
         ["reinforcement.max_updates", "playouts.final_hanchans"]),
        ({"oracle_decay.steps": "4"}, ["oracle_decay.steps"]),
        ({"reinforcement.reward": "global_prediction", "reinforcement.global_reward.predictor": "a.safetensors",
          "reward_predictor.target.room": "phoenix"}, ["reward_predictor.target"]),
    ],
)  # fmt: skip
def test_what_is_left_out_is_said_with_the_key_that_brings_it(settings: dict[str, str], keys: list[str]) -> None:
    notes = left_out(load_recipe(LAPTOP.with_stem("reinforcement"), [*settings.items()]))
    assert len(notes) == len(keys)
    assert all(key in note for key, note in zip(keys, notes, strict=True))
