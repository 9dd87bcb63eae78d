from __future__ import annotations

from pathlib import Path

import pytest

from suphx.models.tensor_file import read_tensors, tensors_digest
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import run_recipe
from suphx_platform.console.console import Console
from tests.suphx_pipelines.recipe.small_recipe import LAPTOP, SMALL_LAPTOP, load_recipe

pytestmark = pytest.mark.usefixtures("short_games")

PLAYOUTS = {
    "playouts.num_decisions": "400",
    "playouts.round_decisions": "200",
    "playouts.report_every": "1",
    "playouts.final_hanchans": "8",
    "playouts.branches.num_tables": "16",
    "reinforcement.max_updates": "2",
    "reinforcement.evaluate_every": "1",
    "reinforcement.evaluation_hanchans": "8",
    "reinforcement.evaluation_weak": "false",
    "reinforcement.final_sampled": "false",
    "reinforcement.simulator.num_tables": "16",
    "reinforcement.buffer.batch_size": "100",
}


def test_supervised_nets_learn_from_playouts_and_self_play_goes_on_with_them(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = load_recipe(LAPTOP, [*(SMALL_LAPTOP | PLAYOUTS).items()])
    done = run_recipe(recipe, records=None, runs=runs, console=Console())
    stages = list(done.stages)
    assert stages[-5:] == ["evaluation", "playouts", "reinforcement", "sample_game", "report"]
    folder = done.folder
    metrics = done.stages["playouts"].metrics
    assert metrics["decisions"] >= 400
    assert "discard_gain" in metrics
    assert metrics["start_hanchans"] == 8
    assert metrics["start_difference_low"] <= metrics["start_difference"] <= metrics["start_difference_high"]
    assert sum(table["games"] for table in read_json(folder / "playouts" / "records" / "index.json")["tables"]) == 8
    told = capsys.readouterr().err
    assert "points per decision against the start (± 95 % interval): discard " in told
    matches = read_json(folder / "reinforcement" / "metrics.json")["matches"]
    assert [match["updates"] for match in matches] == [0, 1, 2], "the first one is that of the nets from the playouts"
    learned = done.stages["reinforcement"].metrics
    assert (learned["before_difference"], learned["before_hanchans"]) == (matches[0]["difference"], 8)
    assert [learned["before_difference_low"], learned["before_difference_high"]] == matches[0]["interval"]
    heads = {head: folder / "supervised" / head / f"{head}.safetensors" for head in ("discard", "chow")}
    for head, path in heads.items():
        supervised, playouts, opponent, learned_nets = (
            tensors_digest(read_tensors(file)[0])
            for file in (
                path,
                *(folder / name / path.name for name in ("playouts", "reinforcement/start", "reinforcement")),
            )
        )
        assert playouts != supervised == opponent
        assert (learned_nets == playouts) == (head == "chow"), "self-play continues with the nets from the playouts"
    page = done.report.read_text(encoding="utf-8")
    assert "games of the last match against supervised nets (8 hanchans)" in page
    assert "Learning from playouts" in page
    assert "Gain of the discard net" in page
