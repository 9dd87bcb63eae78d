from __future__ import annotations

from typing import Any

import pytest

from suphx.training.config import SupervisedConfig
from suphx_pipelines.stages.supervised import training_end, training_warnings


def metrics(**changes: Any) -> dict[str, Any]:
    test = {"samples": 5000, "loss": 0.31, "prior_loss": 0.66, "ece": 0.04} | changes.pop("test", {})
    return {"train_samples": 80_000, "history": [{"step": 700}], "test": test, "calibrated": {"ece": 0.02}} | changes


@pytest.mark.parametrize(
    ("changes", "warnings"),
    [
        ({}, []),
        ({"train_samples": 90}, ["only about 90 training samples"]),
        ({"history": [{"step": 32}]}, ["only 32 training steps"]),
        ({"test": {"loss": 0.65}}, ["has not learned"]),
        ({"calibrated": {"ece": 0.35}}, ["wrong by 35%"]),
        ({"calibrated": None, "test": {"ece": 0.35}}, ["wrong by 35%"]),
        ({"test": {"samples": 20, "loss": 9.0}}, ["tested on only 20 samples"]),
        ({"test": {"loss": 0.001, "prior_loss": 0.0}}, []),  # all samples have one answer: it may be right at once
        ({"test": {"loss": 0.3, "prior_loss": 0.0}}, ["has not learned"]),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], warnings: list[str]) -> None:
    found = training_warnings("kong", metrics(**changes))
    assert len(found) == len(warnings)
    assert all(text in warning for text, warning in zip(warnings, found, strict=True))


LIMITS = SupervisedConfig(max_epochs=4, min_steps=300, max_steps=900, max_minutes=2, total_minutes=0.5, patience=3)


def trained(step: int, seconds: float, epochs: float = 1.0, worse: int = 0) -> dict[str, Any]:
    """What a training leaves whose last validation took two seconds."""
    history = [{"step": step - 10 * left, "seconds": seconds - 2} for left in range(worse, -1, -1)]
    limits = {"epochs": epochs, "max_epochs": 4.0}
    return {"history": history, "seconds": seconds, "best_step": history[0]["step"], **limits}


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (trained(900, 20), "stopped by max_steps (900)"),
        (trained(600, 20, epochs=4.0), "stopped by max_epochs: 4 passes over the training games"),
        (trained(600, 121), "stopped by max_minutes (2 min 0 s)"),
        (trained(600, 31), "stopped by its share of total_minutes (30 s)"),
        (trained(300, 45), "stopped after min_steps (300), which took longer than its share of total_minutes (30 s)"),
        (trained(280, 20, worse=3), "stopped by patience: no lower validation loss in 3 validations"),
    ],
)
def test_what_ended_a_training_is_named(left: dict[str, Any], text: str) -> None:
    assert training_end(LIMITS, left) == text
