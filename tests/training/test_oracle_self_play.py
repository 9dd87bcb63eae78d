"""Self-play in which the learning nets see what is hidden, each bit with a probability that falls to 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.features.oracle import ORACLE
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.models.checkpoint import load_header
from suphx.models.net_config import NetConfig
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.policy_set import load_policy_set, seeing_hidden
from suphx.selfplay.config import InferenceEngineConfig
from suphx.training.learner_config import DistillationConfig, OracleConfig
from suphx_platform.selfplay.policy_trainer import PolicyTrainer
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_platform.selfplay.small_trainer import (
    CONFIG,
    KilledError,
    Run,
    new_play,
    new_trainer,
    numbers,
    weights,
)

GUIDED = replace(
    CONFIG,
    report_every=1,
    engine=InferenceEngineConfig(precision="fp32"),
    oracle=OracleConfig(policy=True, steps=3, updates_per_step=4),
)


pytestmark = pytest.mark.usefixtures("short_games")


@pytest.fixture(scope="module")
def guided(tmp_path_factory: pytest.TempPathFactory, short_games: None) -> Run:
    """The run of GUIDED from its start to its end."""
    folder = tmp_path_factory.mktemp("guided")
    return Run(folder, new_trainer(folder, GUIDED).run(), [])


def hidden_weights(folder: Path) -> np.ndarray:
    return weights(folder)["trunk.stem.conv.weight"][:, -ORACLE.num_planes :]


def test_keep_probability_falls_by_version_and_each_step_leaves_an_agent(guided: Run) -> None:
    folder, metrics = guided.folder, guided.metrics
    keep_probabilities = [2 / 3] * 4 + [1 / 3] * 4 + [0.0] * 4
    assert [point["keep_probability"] for point in metrics["history"]] == pytest.approx(keep_probabilities)
    for step, keep_probability in enumerate(("0.667", "0.333", "0.000"), 1):
        load_agent(str(folder / f"keep-{step}-{keep_probability}"))
        header = load_header(folder / f"keep-{step}-{keep_probability}" / "discard.safetensors")
        assert header.extra["keep_probability"] == pytest.approx(float(keep_probability), abs=1e-3)
        assert isinstance(header.net, NetConfig)
        assert header.net.num_oracle_planes == ORACLE.num_planes
    assert not hidden_weights(folder / "start").any()
    assert hidden_weights(folder / "keep-1-0.667").any()
    # At keep probability 0 nothing hidden reaches the net: its weights for that change only by old decisions.
    assert np.abs(hidden_weights(folder) - hidden_weights(folder / "keep-2-0.333")).max() < 0.01


def test_the_mask_that_acted_is_the_mask_that_learns(tmp_path: Path) -> None:
    """As long as the weights are those that acted, every importance ratio is 1; another mask would give others."""
    learner = replace(GUIDED.learner, precision="fp32", learning_rate=0.01)
    config = replace(GUIDED, max_updates=4, learner=learner, oracle=OracleConfig(policy=True, keep_probability=0.5))
    trained = new_trainer(tmp_path / "a", replace(config, max_updates=30)).run()
    assert trained["updates"] == 30
    assert np.abs(hidden_weights(tmp_path / "a")).mean() > 0.02
    play = replace(new_play(), start=load_policy_set(tmp_path / "a", "mini", game="riichi"))
    history = PolicyTrainer(config, play, tmp_path / "b").run()["history"]
    assert history[0]["discard_ratio_low"] == pytest.approx(1, abs=1e-4)
    assert history[0]["discard_ratio_max"] == pytest.approx(1, abs=1e-4)


def test_a_killed_run_goes_on_with_the_numbers_of_the_unbroken_one(guided: Run, tmp_path: Path) -> None:
    config = replace(GUIDED, save_seconds=0.0)

    def kill(updates: int, _: object) -> None:
        if updates == 7:
            raise KilledError

    with pytest.raises(KilledError):
        new_trainer(tmp_path, config, keep=kill).run()
    resumed = new_trainer(tmp_path, config).run()
    assert numbers(resumed) == numbers(guided.metrics)
    np.testing.assert_equal(weights(tmp_path), weights(guided.folder))


def test_a_policy_that_stays_near_its_teacher_is_nearer_to_it(tmp_path: Path) -> None:
    """The teacher is another net; with the distance in the loss it comes down, without it does not."""
    teacher = seeing_hidden(small_policy_set(3), [DISCARD_HEAD])
    for parameter in teacher.nets[DISCARD_HEAD].output.parameters():
        parameter.data *= 20  # a teacher who is sure of something
    distances = []
    for weight in (1e-9, 30.0):
        distillation = DistillationConfig(weight=weight, bound=0.0)
        learner = replace(CONFIG.learner, learning_rate=0.003, distillation=distillation)
        config = replace(CONFIG, report_every=1, learner=learner)
        play = replace(new_play(), teacher=teacher)
        history = PolicyTrainer(config, play, tmp_path / str(weight)).run()["history"]
        distances.append([point["discard_teacher_distance"] for point in history])
    assert distances[0][0] == pytest.approx(distances[1][0])
    half = len(distances[0]) // 2
    assert sum(distances[1][half:]) < 0.9 * sum(distances[0][half:])
