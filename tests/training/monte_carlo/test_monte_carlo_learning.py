from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from suphx.games.doudizhu import Rules
from suphx.games.registry import candidate_game
from suphx.training.loop.metrics_file import METRICS_FILE
from suphx.training.loop.training_watch import StoppedError, TrainingWatch
from suphx.training.monte_carlo import round_backend
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_learning import STATE_FILE, learn_values
from suphx.training.monte_carlo.value_evaluation import Figures

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(
    games=2, batches=2, max_rounds=2, max_minutes=0, evaluate_rounds=1, evaluate_decks=1, threads=1
)


def untimed(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in entry.items() if name != "seconds"} for entry in history]


def test_a_training_that_was_stopped_ends_with_the_same_numbers(tmp_path: Path) -> None:
    reported: list[dict[str, Any]] = []
    trained, progress = learn_values(CONFIG, GAME, Rules(), tmp_path / "whole", report=reported.append)
    learn_values(replace(CONFIG, max_rounds=1), GAME, Rules(), tmp_path / "parts")
    resumed, progress_2 = learn_values(CONFIG, GAME, Rules(), tmp_path / "parts")
    assert (progress.step, len(reported)) == (4, 2)
    assert untimed(progress.history) == untimed(progress_2.history) == untimed(reported)
    assert all(torch.equal(a, b) for a, b in zip(trained.nets.parameters(), resumed.nets.parameters(), strict=True))
    last = reported[-1]
    assert last["games"] == 4
    assert set(last["random"]) == {
        f"{m}_{side}{error}" for m in ("wp", "adp") for side in ("landlord", "peasant") for error in ("", "_error")
    }
    written = json.loads((tmp_path / "parts" / METRICS_FILE).read_text())
    assert written == {"best_step": progress_2.best_step, "curve": progress_2.history}


def test_a_training_that_ends_without_an_evaluation_makes_up_for_it(tmp_path: Path) -> None:
    config = replace(CONFIG, max_rounds=8, evaluate_rounds=7, save_seconds=0)
    with pytest.raises(StoppedError):
        learn_values(config, GAME, Rules(), tmp_path, watch=StopAtOnce())
    trained, progress = learn_values(replace(config, max_rounds=1), GAME, Rules(), tmp_path)
    assert [entry["step"] for entry in progress.history] == [progress.step] == [CONFIG.batches]
    again, progress_2 = learn_values(replace(config, max_rounds=1), GAME, Rules(), tmp_path)
    assert untimed(progress_2.history) == untimed(progress.history)
    assert all(torch.equal(a, b) for a, b in zip(trained.nets.parameters(), again.nets.parameters(), strict=True))


def test_more_batches_than_samples_are_fewer_batches(tmp_path: Path) -> None:
    _, progress = learn_values(replace(CONFIG, games=1, batches=200, max_rounds=1), GAME, Rules(), tmp_path)
    assert progress.step == 200
    assert progress.history[-1]["loss"] >= 0


class StopAtOnce(TrainingWatch):
    """Wants the training to stop after its first round."""

    def is_stopping(self) -> bool:
        return True


def test_the_nets_that_won_most_are_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wins = iter([0.25, 0.75, 0.5])

    def evaluate_nets(*arguments: Any, **options: Any) -> Figures:
        nets: nn.ModuleList = arguments[-1]
        seen.append({name: tensor.clone() for name, tensor in nets.state_dict().items()})
        won = next(wins)
        return {"random": {f"{measure}_{side}": won for measure in ("wp", "adp") for side in GAME.sides}}

    seen: list[dict[str, torch.Tensor]] = []
    monkeypatch.setattr(round_backend, "evaluate_nets", evaluate_nets)
    trained, progress = learn_values(replace(CONFIG, max_rounds=2), GAME, Rules(), tmp_path)
    resumed, _ = learn_values(replace(CONFIG, max_rounds=3), GAME, Rules(), tmp_path)
    assert (progress.best_step, progress.best_loss) == (4, 0.25)
    assert len(seen) == 3
    for found in (trained.nets, resumed.nets):
        assert all(torch.equal(tensor, seen[1][name]) for name, tensor in found.state_dict().items())


def test_a_state_of_other_settings_is_refused(tmp_path: Path) -> None:
    config = replace(CONFIG, games=1, max_rounds=1)
    learn_values(config, GAME, Rules(), tmp_path)
    assert (tmp_path / STATE_FILE).is_file()
    with pytest.raises(ValueError, match=r"epsilon was 0.01, now 0.2; scoring was win, now points"):
        learn_values(replace(config, epsilon=0.2), GAME, Rules(scoring="points"), tmp_path)
