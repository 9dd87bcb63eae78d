"""Whether a net has learned anything, and what ended its training: what to know before anybody trusts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.training.config import SupervisedConfig
from suphx_platform.console.table_text import count_text, duration_text

FEW_SAMPLES = 500
FEW_STEPS = 100
LEAST_GAIN = 0.05
"""Share of the loss without learning that a net must have gained."""
LARGEST_CALIBRATION_ERROR = 0.10
LEAST_TEST_SAMPLES = 200
"""Fewer say little about a net."""


def training_warnings(head: str, metrics: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the training of ``head`` (metrics.json), in sentences; empty if it has learned."""
    warnings = []
    test, steps = metrics["test"], metrics["history"][-1]["step"]
    samples = metrics["train_samples"]
    if samples < FEW_SAMPLES:
        warnings.append(f"the {head} net has only about {samples:,} training samples: add records (--records DIR)")
    if steps < FEW_STEPS:
        warnings.append(
            f"the {head} net has made only {steps:,} training steps: allow more time (supervised.max_minutes, "
            "supervised.total_minutes) or more steps (supervised.max_steps, supervised.max_epochs)"
        )
        return warnings
    if test["samples"] < LEAST_TEST_SAMPLES:
        warnings.append(
            f"the {head} net was tested on only {test['samples']:,} samples, too few for a reliable result: add records"
        )
        return warnings
    loss, prior = test["loss"], test["prior_loss"]
    is_weighted = metrics.get("yes_weight", 1.0) != 1  # such a net may learn what makes this loss larger
    if not is_weighted and loss > max((1 - LEAST_GAIN) * prior, LEAST_GAIN):
        warnings.append(
            f"the {head} net has not learned: its test loss is {loss:.3f}, and {prior:.3f} without any learning; train "
            "longer or add records"
        )
    calibrated = metrics["calibrated"] or test
    if calibrated["ece"] > LARGEST_CALIBRATION_ERROR:
        warnings.append(
            f"the probabilities of the {head} net are wrong by {calibrated['ece']:.0%} on average: train longer or add "
            "records"
        )
    return warnings


def training_seconds(metrics: Mapping[str, Any]) -> float:
    """Return the seconds of the training that left ``metrics`` (metrics.json).

    Results of earlier versions do not count the last validation.
    """
    return float(metrics.get("seconds", metrics["history"][-1]["seconds"]))


def training_end(config: SupervisedConfig, metrics: Mapping[str, Any]) -> str:
    """Return which limit of ``config`` ended a training that left ``metrics`` (metrics.json)."""
    history = metrics["history"]
    last, share = history[-1], 60 * config.total_minutes
    seconds = training_seconds(metrics)
    num_worse = sum(entry["step"] > metrics["best_step"] for entry in history)
    if config.max_steps and last["step"] >= config.max_steps:
        return f"stopped by max_steps ({config.max_steps:,})"
    if metrics["max_epochs"] and metrics["epochs"] >= metrics["max_epochs"]:
        return f"stopped by max_epochs: {metrics['max_epochs']:g} passes over the training games"
    if config.max_minutes and seconds >= 60 * config.max_minutes:
        return f"stopped by max_minutes ({duration_text(60 * config.max_minutes)})"
    if share and seconds >= share and last["step"] >= config.min_steps:
        if last["step"] == config.min_steps:
            took = f"which took longer than its share of total_minutes ({duration_text(share)})"
            return f"stopped after min_steps ({config.min_steps:,}), {took}"
        return f"stopped by its share of total_minutes ({duration_text(share)})"
    if config.patience and num_worse >= config.patience:
        return f"stopped by patience: no lower validation loss in {count_text(num_worse, 'validation')}"
    return "stopped before its limits"
