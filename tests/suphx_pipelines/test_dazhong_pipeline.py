"""``suphx run dazhong`` with seconds of learning: all stages, and an agent that plays matches and tournaments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.dazhong.table import Rules
from suphx.games.dazhong.tables import DazhongTables
from suphx_cli import cli
from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.tournament.kind import load_entrant
from suphx_platform.tracking.pyfunc_form import columns_of
from suphx_platform.tracking.tracking import TrackingStore
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import HAND_PLAYOUTS, HANDS, load_recipe


def run(capsys: pytest.CaptureFixture[str], runs: Path) -> dict[str, Any]:
    capsys.readouterr()
    words = [word for setting in (*HANDS, *HAND_PLAYOUTS) for word in ("--set", setting)]
    assert cli.main(["run", "dazhong", "--runs", str(runs), *words, "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_a_run_learns_plays_and_reports(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, runs)
    stages = [
        "records",
        "supervised/claim",
        "supervised/turn",
        "evaluation",
        "playouts",
        "reinforcement",
        "sample_game",
    ]
    assert {name: stage["status"] for name, stage in result["stages"].items()} == dict.fromkeys(
        [*stages, "report"], "finished"
    )
    folder = runs / result["run_id"]
    assert {"turn.safetensors", "claim.safetensors"} <= {path.name for path in (folder / "reinforcement").iterdir()}
    assert "fanfou_op" in result["verdict"]
    assert (folder / "report" / "game.html").is_file()
    assert {stage["status"] for stage in run(capsys, runs)["stages"].values()} == {"kept"}
    match = ["--opponent", "fanfou_op", "--hanchans", "8", "--runs", str(runs)]
    assert cli.main(["evaluate", "--candidate", str(folder / "reinforcement"), *match]) == 0
    assert "over 8 hands" in capsys.readouterr().err
    assert cli.main(["evaluate", "--game", "dazhong", "--candidate", str(folder / "supervised"), *match]) == 0
    store = TrackingStore(runs)
    models = {each.name: each for each in store.client.search_logged_models([store.experiment_id()])}
    assert {name: each.status for name, each in models.items()} == dict.fromkeys(
        ["supervised", "playouts", "reinforcement"], "READY"
    )
    measured = {metric.key: metric for metric in models["supervised"].metrics or []}
    assert {"paired_difference", "win_rate"} <= measured.keys()
    assert {metric.dataset_name for metric in measured.values()} == {"Dazhong mahjong walls"}
    assert columns_of(folder / "reinforcement").input == "record"
    agent, tables = load_entrant("dazhong", str(folder / "reinforcement")), DazhongTables(4, Rules())
    tables.begin(np.arange(4), range(4))
    while (waiting := tables.waiting()).size:
        tables.advance(waiting, agent.act(tables.state, waiting))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("reinforcement.reward", '"global_prediction"', "reinforcement.reward needs 'game rewards'"),
        ("reinforcement.evaluation_deals", "100", "reinforcement.evaluation_deals has no meaning for Dazhong mahjong"),
        ("oracle.max_updates", "1", "oracle needs 'hidden'"),
        ("encoder", '"mini"', "'mini' is not an encoder: use dazhong"),
    ],
)
def test_what_the_game_does_not_offer_is_refused(key: str, value: str, message: str) -> None:
    recipe = load_recipe(RECIPES / "dazhong.toml", [(key, value)])
    with pytest.raises(ValueError, match=message):
        pipeline_stages(recipe)
