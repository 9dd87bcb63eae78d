"""The laptop recipe and settings that make its runs small."""

from __future__ import annotations

from tests.repository import RECIPES

RECIPE = RECIPES / "laptop.toml"
SMALL = {
    "records.max_games": "60",
    "records.played_games": "24",
    "net.channels": "8",
    "net.num_blocks": "1",
    "supervised.batch_size": "128",
    "supervised.total_minutes": "0",
    "supervised.min_validations": "0",
    "supervised.max_epochs": "0",
    "supervised.max_steps": "20",
    "supervised.validate_every": "10",
    "split.validation_fraction": "0.1",
    "split.test_fraction": "0.1",
    "split.max_test_samples": "1500",
    "split.max_validation_samples": "200",
    "stream.num_workers": "0",
    "evaluation.hanchans": "8",
    "evaluation.workers": "1",
}
