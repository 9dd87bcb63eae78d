"""The folder of a self-play: the nets that matches are against, and to which run a state belongs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES, RIICHI_HEAD
from suphx.models.checkpoint import load_header
from suphx.models.net_config import Calibration, checkpoint_name
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx.training.learner_config import OracleConfig
from suphx_platform.selfplay.policy_trainer import PolicyTrainer
from suphx_platform.selfplay.run_folder import MeasuredNets, RunFolder, strength
from suphx_platform.selfplay.self_play_match import START_FOLDER
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_platform.selfplay.small_trainer import CONFIG, new_play, new_trainer, weights

CALIBRATED = Calibration(temperature=2.0, yes_threshold=0.3)


@pytest.mark.parametrize("heads", [("discard",), ("discard", "riichi")])
def test_the_nets_of_the_start_play_in_matches_as_self_play_sampled_them(
    heads: tuple[str, ...], tmp_path: Path
) -> None:
    play = new_play()
    calibrated = (CALIBRATED,) * len(play.start.nets)
    play = replace(play, start=replace(play.start, calibrations=calibrated), weak=play.start)
    RunFolder(tmp_path, replace(CONFIG, heads=heads), play).write_start()
    found = load_policy_set(tmp_path / START_FOLDER, "mini", game="riichi").calibrations
    assert found[DISCARD_HEAD] == Calibration()
    assert found[RIICHI_HEAD] == (Calibration() if "riichi" in heads else CALIBRATED)


def test_a_named_opponent_is_sampled_as_the_nets_that_learn(tmp_path: Path) -> None:
    play = new_play()
    other = small_policy_set(9)
    opponent = replace(other, calibrations=(CALIBRATED,) * len(other.nets))
    RunFolder(tmp_path, CONFIG, replace(play, opponent=opponent)).write_start()
    written = load_policy_set(tmp_path / START_FOLDER, "mini", game="riichi")
    assert written.digest() == replace(opponent, calibrations=written.calibrations).digest()
    learns = [head in CONFIG.head_numbers for head in range(len(HEAD_NAMES))]
    assert list(written.calibrations) == [Calibration() if own else CALIBRATED for own in learns]


def test_a_state_is_not_continued_from_other_nets(tmp_path: Path) -> None:
    new_trainer(tmp_path, replace(CONFIG, max_updates=1)).run()
    other = replace(new_play(), start=small_policy_set(9))
    with pytest.raises(ValueError, match=r"belongs to another training \(weights of the start was"):
        PolicyTrainer(CONFIG, other, tmp_path)


def test_steps_with_nearly_the_same_keep_probability_have_folders_of_their_own(tmp_path: Path) -> None:
    oracle = OracleConfig(policy=True, steps=12, ratio=0.5, updates_per_step=2)
    play = new_play()
    folder = RunFolder(tmp_path, replace(CONFIG, oracle=oracle), play)
    for updates in range(2, 24, 2):
        folder.write_nets_of_step(play.start.weights(CONFIG.head_numbers), updates)
    found = sorted(path.name for path in tmp_path.iterdir())
    assert len(found) == 11
    assert {"keep-1-0.500", "keep-10-0.001", "keep-11-0.000"} <= set(found)
    header = load_header(tmp_path / "keep-11-0.000" / "discard.safetensors")
    assert header.extra["keep_probability"] == pytest.approx(0.5**11)


def entry(updates: int, difference: float, opponent: str = "start", policy: str = "argmax") -> dict[str, Any]:
    return {"updates": updates, "difference": difference, "opponent": opponent, "policy": policy}


def test_nets_are_stored_with_the_strength_that_their_match_measured_later(tmp_path: Path) -> None:
    nets = {updates: small_policy_set(updates).weights(CONFIG.head_numbers) for updates in (10, 20, 30)}
    storage = Storage(StorageConfig(address=str(tmp_path / "storage"), keep_last=1, keep_best=1))
    with UploadQueue(storage) as uploads:

        def keep(entry: Mapping[str, Any], folder: Path) -> None:
            uploads.save("run-1/reinforcement/best", folder, number=entry["updates"], score=strength(entry))
            uploads.flush()

        measured = MeasuredNets(RunFolder(tmp_path / "reinforcement", CONFIG, new_play()), keep)
        for updates, own in nets.items():
            measured.note(updates, own)
        measured.add(entry(10, -0.1))
        measured.add(entry(20, -0.3, opponent="weak"))
        measured.add(entry(20, -0.3))
        measured.add(entry(30, 0.2))
        measured.add(entry(30, 0.2, policy="sampled"))
    versions = storage.versions("run-1/reinforcement/best")
    names = sorted(checkpoint_name(head) for head in HEAD_NAMES)
    assert [(version.number, version.score, sorted(version.files)) for version in versions] == [
        (20, 0.3, names),
        (30, -0.2, names),
    ]
    storage.load(versions[0], tmp_path / "best")
    np.testing.assert_equal(weights(tmp_path / "best"), nets[20]["discard"])


@pytest.mark.parametrize(("decides", "expected"), [({}, -0.5), ({"decides": "points"}, 0.5)])
def test_nets_that_win_more_points_are_stronger_and_those_with_larger_places_weaker(
    decides: dict[str, str], expected: float, tmp_path: Path
) -> None:
    play, found = new_play(), list[float]()
    measured = MeasuredNets(RunFolder(tmp_path, CONFIG, play), lambda entry, folder: found.append(strength(entry)))
    measured.note(5, play.start.weights(CONFIG.head_numbers))
    measured.add(entry(5, 0.5) | decides)
    assert found == [expected]
