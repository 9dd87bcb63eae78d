"""The real pipeline on real records, small; the stages in detail are tested where they live."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from suphx_pipelines.pipeline import run_recipe
from suphx_pipelines.recipe import load_recipe
from suphx_platform.console import Console

from suphx.features.head import HEAD_NAMES

RECIPE = Path(__file__).resolve().parents[2] / "pipelines" / "recipes" / "laptop.toml"
SMALL = {
    "records.max_games": "60",
    "supervised.max_steps": "20",
    "supervised.validate_every": "10",
    "split.max_test_samples": "500",
    "split.max_validation_samples": "200",
    "stream.num_workers": "0",
}


@pytest.mark.slow
@pytest.mark.records
def test_a_small_run_on_real_records_ends_with_five_nets_and_a_report(runs: Path, records: Path) -> None:
    recipe = load_recipe(RECIPE, list(SMALL.items()))
    source = records / "rare-situations"
    result = run_recipe(recipe, records=source, runs=runs, console=Console())
    assert {stage.status for stage in result.run.stages.values()} == {"finished"}
    for head in HEAD_NAMES:
        assert (result.run.folder / "supervised" / head / f"{head}.safetensors").is_file()
    summary = json.loads((result.run.folder / "records" / "summary.json").read_text())
    assert summary["games"] + summary["quarantined"] >= 60
    page = result.report.read_text()
    assert "Test accuracy beside the paper" in page
    again = run_recipe(recipe, records=source, runs=runs, console=Console())
    assert {stage.status for stage in again.run.stages.values()} == {"kept"}
    assert json.loads(json.dumps(again.to_json()))["report"] == str(result.report)
