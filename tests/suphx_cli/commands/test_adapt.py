from __future__ import annotations

import json
import shutil
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.features.encoder import find_encoder
from suphx.models.net_config import NetConfig
from suphx.models.reward_predictor import RewardHeader, save_reward_predictor
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.agents.policy_set import random_policy_set, save_policy_set
from suphx.training.adapter import AdaptiveAgent, TrialResults
from suphx.training.config import AdaptationConfig
from suphx_cli import cli
from suphx_platform.agents.adaptation_experiment import AdaptationExperiment, experiment_key, make_report
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.outbox import Outbox
from suphx_platform.tracking.tracking import TrackingStore, begin_message
from tests.models.random_nets import EXPERT_8_DAN, small_predictor

SMALL = NetConfig(size="tiny", channels=4, num_blocks=1, head_channels=2, head_hidden_1=4, head_hidden_2=4)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agent")
    encoder = find_encoder("mini")
    nets = random_policy_set(encoder.name, SMALL, 0)
    save_policy_set(folder, nets, encoder.name, rules="tenhou", step=0, extra={})
    return folder


def adapt(agent: Path, *arguments: str) -> dict[str, Any]:
    options = ("--hands", "3", "--tests", "20", "--rollouts", "16", "--learning-rate", "0.01", "--json")
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main(["adapt", "--agent", str(agent), *options, *arguments])
    assert code == 0, err.getvalue()
    values: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return values


@dataclass(frozen=True)
class Experiment:
    """An experiment by one process."""

    values: dict[str, Any]
    runs: Path


@pytest.fixture(scope="module")
def one_process(agent: Path, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    runs = tmp_path_factory.mktemp("adapted") / "runs"
    return Experiment(adapt(agent, "--workers", "1", "--runs", str(runs)), runs)


def test_the_experiment_says_how_often_adapting_was_ahead(one_process: Experiment) -> None:
    values = one_process.values
    assert (values["hands"], values["rollouts"], values["tests"]) == (3, 16, 20)
    assert values["win_rate_adapted_over_base"] * 6 == pytest.approx(round(values["win_rate_adapted_over_base"] * 6))
    low, high = values["interval"]
    assert 0 <= low <= values["win_rate_adapted_over_base"] <= high <= 1
    difference = values["adapted"]["points"] - values["base"]["points"]
    assert values["points_difference"]["mean"] == pytest.approx(difference)
    assert values["seconds_per_hand"] > 0
    assert values["config"]["learning_rate"] == 0.01
    artifacts = list((one_process.runs / "artifacts").glob("*/artifacts/hands.json"))
    assert len(json.loads(artifacts[0].read_text())["adapted_points"]) == 3


def test_two_processes_find_what_one_finds(agent: Path, one_process: Experiment) -> None:
    one, two = one_process.values, adapt(agent, "--workers", "2")
    for key in ("win_rate_adapted_over_base", "interval", "points_difference", "base", "adapted"):
        assert one[key] == two[key]


def test_a_stopped_experiment_goes_on_from_its_file(agent: Path, one_process: Experiment, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    adapt(agent, "--workers", "1", "--results", str(file), "--hands", "1")
    done = file.read_bytes()
    values = adapt(agent, "--workers", "1", "--results", str(file))
    assert file.read_bytes().startswith(done)
    assert len(file.read_bytes()) > len(done)
    assert values["win_rate_adapted_over_base"] == one_process.values["win_rate_adapted_over_base"]
    for key in ("points_difference", "base", "adapted"):  # hands are paired differently: sums in another order
        expected = {name: pytest.approx(value) for name, value in one_process.values[key].items()}
        assert values[key] == expected
    assert adapt(agent, "--workers", "1", "--results", str(file), "--hands", "2")["hands"] == 2  # all from the file


def small_experiment(agent: Path) -> AdaptationExperiment:
    """Return the experiment of ``adapt``."""
    config = AdaptationConfig(num_rollouts=16, learning_rate=0.01)
    return AdaptationExperiment(agent=str(agent), num_hands=3, num_tests=20, config=config)


def test_the_same_command_continues_its_run_and_sends_what_waits(agent: Path, tmp_path: Path) -> None:
    runs, key = tmp_path / "runs", experiment_key(small_experiment(agent))

    def away(*_: object) -> None:
        raise TrackingError("MLflow is away")

    with closing(Outbox(runs / key / ".mlflow-queue", send=away, probe=away)) as outbox:
        outbox.put(begin_message("adapt", key=key, tags=None, params={"seed": 0}))
        outbox.put({"do": "tags", "key": key, "tags": {"left": "by the first"}})
    ids = [adapt(agent, "--workers", workers, "--runs", str(runs))["run_id"] for workers in ("1", "2")]
    assert ids[0] == ids[1]
    run = TrackingStore(runs).find(key)
    assert run is not None
    assert (run.info.run_id, run.info.status, run.data.params["seed"]) == (ids[0], "FINISHED", "0")
    assert (run.data.tags["left"], run.data.tags["suphx.workers"]) == ("by the first", "2")
    assert not (runs / key).exists()


def test_every_hand_is_sent_by_the_same_command_when_files_are_taken_again(agent: Path, tmp_path: Path) -> None:
    runs, file = tmp_path / "runs", tmp_path / "results.jsonl"
    command = ("--workers", "1", "--runs", str(runs), "--results", str(file))
    TrackingStore(runs).experiment_id()
    artifacts = runs / "artifacts"
    artifacts.touch()  # in the place of the folder
    run_id = adapt(agent, *command)["run_id"]
    (folder,) = runs.glob("adapt-*")
    assert (folder / "hands.json").is_file()
    artifacts.unlink()
    assert adapt(agent, *command)["run_id"] == run_id
    assert len(json.loads((artifacts / run_id / "artifacts" / "hands.json").read_text())["adapted_points"]) == 3
    assert not folder.exists()


def test_other_settings_and_other_nets_are_other_runs(agent: Path, tmp_path: Path) -> None:
    copy = tmp_path / "agent"
    shutil.copytree(agent, copy)
    experiment = small_experiment(copy)
    keys = {experiment_key(each) for each in (experiment, replace(experiment, workers=4))}
    assert len(keys) == 1
    keys |= {experiment_key(each) for each in (replace(experiment, seed=1), replace(experiment, num_hands=4))}
    nets = random_policy_set(find_encoder("mini").name, SMALL, 1)
    save_policy_set(copy, nets, find_encoder("mini").name, rules="tenhou", step=0, extra={})
    assert len(keys | {experiment_key(experiment)}) == 4


def test_results_of_other_nets_under_the_same_name_are_refused(
    agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy, file = tmp_path / "agent", tmp_path / "results.jsonl"
    shutil.copytree(agent, copy)
    adapt(copy, "--workers", "1", "--results", str(file), "--hands", "1")
    nets = random_policy_set(find_encoder("mini").name, SMALL, 1)
    save_policy_set(copy, nets, find_encoder("mini").name, rules="tenhou", step=0, extra={})
    options = ["--hands", "1", "--tests", "20", "--rollouts", "16", "--learning-rate", "0.01", "--results", str(file)]
    assert cli.main(["adapt", "--agent", str(copy), *options]) == 1
    assert "another experiment (sha256.chow.safetensors: " in capsys.readouterr().err


def test_the_error_of_a_hand_and_the_spread_of_hands_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(30.0, 40.0, 4000)
    measured = results([0.0] * 4000, (true + rng.normal(0.0, 60.0, 4000)).tolist())
    report = make_report(AdaptationExperiment(agent="a"), replace(measured, difference_errors=np.full(4000, 60.0)))
    assert report.test_error == pytest.approx(60.0)
    assert report.hand_spread == pytest.approx(40.0, rel=0.1)
    alike = results([0.0] * 50, [5.0] * 50)
    assert make_report(AdaptationExperiment(agent="a"), alike).hand_spread == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kl-target", "0.02", "--learning-rate", "1e-3"), "--learning-rate has no effect with --kl-target"),
        (("--kl-target", "0.02", "--batch-rollouts", "64"), "--batch-rollouts has no effect with --kl-target"),
        (("--kl-target", "0.02", "--max-ratio", "3"), "--max-ratio has no effect with --kl-target"),
        (("--critic-deals", "100"), "--critic-deals has no effect without --baseline critic"),
        (("--gae-lambda", "0.8"), "gae_lambda is 0.8, which needs a critic"),
    ],
)
def test_settings_without_an_effect_are_refused(
    agent: Path, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["adapt", "--agent", str(agent), *options]) == 2
    assert message in capsys.readouterr().err


def test_what_counts_may_be_a_prediction_of_the_game(agent: Path, one_process: Experiment, tmp_path: Path) -> None:
    predictor = small_predictor()
    path = tmp_path / "reward_predictor.safetensors"
    header = RewardHeader(net=predictor.config, points=EXPERT_8_DAN, rules_version="tenhou", step=0)
    save_reward_predictor(path, predictor.state_dict(), header)
    plain, predicted = one_process.values, adapt(agent, "--workers", "1", "--reward-predictor", str(path))
    assert plain["base"]["win_rate"] == predicted["base"]["win_rate"]
    assert plain["base"]["points"] != predicted["base"]["points"]


@pytest.mark.usefixtures("short_games")
def test_an_agent_that_adapts_plays_matches(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--candidate", f"adapt-8:{agent}", "--opponent", str(agent), "--hanchans", "8", "--workers", "1"]
    assert cli.main(["evaluate", *options, "--json"]) == 0
    values = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert sum(values["placements"]) == 8
    assert values["candidate"] == f"adapt-8:{agent}"


def test_addresses_say_how_much_to_adapt(agent: Path) -> None:
    for words, rollouts, seconds in (("", 1024, 0.0), ("-16", 16, 0.0), ("+0.5s", 1024, 0.5), ("-64+2s", 64, 2.0)):
        adaptive = load_any_agent(f"adapt{words}:{agent}")
        assert isinstance(adaptive, AdaptiveAgent)
        assert (adaptive.adapter.config.num_rollouts, adaptive.move.seconds) == (rollouts, seconds)
    assert isinstance(load_any_agent(f"{agent}:sampled"), NetAgent)
    with pytest.raises(ValueError, match="'adapt-x:"):
        load_any_agent(f"adapt-x:{agent}")


def results(base: list[float], adapted: list[float]) -> TrialResults:
    ones = np.ones(len(base))
    return TrialResults(np.array(base), np.array(adapted), ones, ones, ones, ones, ones, ones)


@pytest.mark.parametrize(
    ("num_ahead", "num_equal", "is_better"), [(5, 0, False), (6, 0, True), (5, 40, False), (6, 14, True)]
)
def test_five_hands_that_differ_decide_nothing(num_ahead: int, num_equal: int, is_better: bool) -> None:
    num_hands = num_ahead + num_equal
    report = make_report(
        AdaptationExperiment(agent="a"), results([0.0] * num_hands, [9.0] * num_ahead + [0.0] * num_equal)
    )
    assert ("is better" in report.verdict()) is is_better
    assert (report.win_interval.low > 0.5, report.points_interval.low > 0) == (is_better, is_better)
    assert report.win_interval.low < 1


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--agent", "ukeire"], "'ukeire' has no nets that could be adapted", 1),
        (["--agent", "nowhere"], "is no agent", 1),
        (["--agent", "ukeire", "--rollouts", "10", "--rollouts-per-deal", "4"], "multiple of rollouts_per_deal", 2),
    ],
)
def test_what_cannot_be_adapted_is_refused(
    arguments: list[str], message: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["adapt", *arguments, "--hands", "1", "--workers", "1"]) == code
    assert message in capsys.readouterr().err
