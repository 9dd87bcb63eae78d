from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.features.encoder import find_encoder
from suphx.models.net_config import NetConfig
from suphx.models.reward_predictor import RewardHeader, save_reward_predictor
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import random_policy_set, save_policy_set
from suphx.training.adaptation import AdaptiveAgent, TrialResults
from suphx.training.config import AdaptationConfig
from suphx_cli import cli
from suphx_platform.agents import adaptation_experiment
from suphx_platform.agents.adaptation_experiment import AdaptationExperiment, make_report, results_key
from suphx_platform.agents.agent_loading import load_any_agent
from tests.models.random_nets import EXPERT_8_DAN, small_predictor

SMALL = NetConfig(size="tiny", channels=4, num_blocks=1, head_channels=2, head_hidden_1=4, head_hidden_2=4)


@pytest.fixture(scope="module", autouse=True)
def hands_of_few_games() -> Iterator[None]:
    """Hands come from the first deals of 4 games at a time, not of 200."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptation_experiment, "_DRAWN_AT_A_TIME", 4)
        yield


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agent")
    encoder = find_encoder("mini")
    nets = random_policy_set(encoder.name, SMALL, 0, game="riichi")
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


@pytest.fixture(scope="module")
def one_process(agent: Path) -> dict[str, Any]:
    return adapt(agent, "--workers", "1")


def test_the_experiment_says_how_often_adapting_was_ahead(one_process: dict[str, Any]) -> None:
    values = one_process
    assert (values["hands"], values["rollouts"], values["tests"]) == (3, 16, 20)
    assert values["win_rate_adapted_over_base"] * 6 == pytest.approx(round(values["win_rate_adapted_over_base"] * 6))
    low, high = values["interval"]
    assert 0 <= low <= values["win_rate_adapted_over_base"] <= high <= 1
    difference = values["adapted"]["points"] - values["base"]["points"]
    assert values["points_difference"]["mean"] == pytest.approx(difference)
    assert values["seconds_per_hand"] > 0
    assert values["config"]["learning_rate"] == 0.01


def test_two_processes_find_what_one_finds(agent: Path, one_process: dict[str, Any]) -> None:
    one, two = one_process, adapt(agent, "--workers", "2")
    for key in ("win_rate_adapted_over_base", "interval", "points_difference", "base", "adapted"):
        assert one[key] == two[key]


def test_a_stopped_experiment_goes_on_from_its_folder(agent: Path, one_process: dict[str, Any], tmp_path: Path) -> None:
    command = (agent, "--workers", "1", "--results", str(tmp_path / "results"))
    adapt(*command, "--hands", "2")
    (first,) = (tmp_path / "results").rglob("*.json")
    marked = json.loads(first.read_text())
    marked["base_points"][0] += 1e6
    first.write_text(json.dumps(marked))
    values = adapt(*command)
    assert values["base"]["points"] == pytest.approx(one_process["base"]["points"] + 1e6 / 3)
    assert adapt(*command, "--hands", "2")["hands"] == 2  # all from the folder


def test_results_are_those_of_the_same_settings_and_nets(agent: Path, tmp_path: Path) -> None:
    copy = tmp_path / "agent"
    shutil.copytree(agent, copy)
    config = AdaptationConfig(num_rollouts=16, learning_rate=0.01)
    experiment = AdaptationExperiment(agent=str(copy), num_hands=3, num_tests=20, config=config)
    same = (experiment, replace(experiment, workers=4), replace(experiment, num_hands=4))
    keys = {results_key(each) for each in same}
    assert len(keys) == 1
    keys |= {results_key(replace(experiment, seed=1))}
    nets = random_policy_set(find_encoder("mini").name, SMALL, 1, game="riichi")
    save_policy_set(copy, nets, find_encoder("mini").name, rules="tenhou", step=0, extra={})
    assert len(keys | {results_key(experiment)}) == 3


def test_the_error_of_a_hand_and_the_spread_of_hands_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(30.0, 40.0, 4000)
    measured = results([0.0] * 4000, (true + rng.normal(0.0, 60.0, 4000)).tolist())
    report = make_report(AdaptationExperiment(agent="a"), replace(measured, difference_errors=np.full(4000, 60.0)))
    assert report.test_error == pytest.approx(60.0)
    assert report.hand_spread == pytest.approx(40.0, rel=0.1)
    alike = results([0.0] * 50, [5.0] * 50)
    assert make_report(AdaptationExperiment(agent="a"), alike).hand_spread == 0.0


def test_what_counts_may_be_a_prediction_of_the_game(agent: Path, one_process: dict[str, Any], tmp_path: Path) -> None:
    predictor = small_predictor()
    path = tmp_path / "reward_predictor.safetensors"
    header = RewardHeader(net=predictor.config, points=EXPERT_8_DAN, rules_version="tenhou", step=0)
    save_reward_predictor(path, predictor.state_dict(), header)
    plain, predicted = one_process, adapt(agent, "--workers", "1", "--reward-predictor", str(path))
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
    for words, rollouts in (("", 1024), ("-16", 16)):
        adaptive = load_any_agent(f"adapt{words}:{agent}", "riichi")
        assert isinstance(adaptive, AdaptiveAgent)
        assert adaptive.adapter.config.num_rollouts == rollouts
    assert isinstance(load_any_agent(f"{agent}:sampled", "riichi"), NetAgent)
    with pytest.raises(ValueError, match="'adapt-x:"):
        load_any_agent(f"adapt-x:{agent}", "riichi")


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
        (["--agent", "nowhere"], "is not an agent", 1),
        (["--agent", "ukeire", "--rollouts", "10"], "use a multiple of 8", 2),
    ],
)
def test_what_cannot_be_adapted_is_refused(
    arguments: list[str], message: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["adapt", *arguments, "--hands", "1", "--workers", "1"]) == code
    assert message in capsys.readouterr().err


def test_a_folder_of_results_that_cannot_be_written_is_refused_before_the_work(
    agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    command = ["adapt", "--agent", str(agent), "--hands", "1", "--results", str(tmp_path / "file")]
    assert cli.main(command) == 1
    assert "a file is in its place): choose another with --results" in capsys.readouterr().err
