"""Three nights in a row with the shipped recipe, the real command, whole hanchans and a real MLflow store."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suphx_cli import cli
from suphx_pipelines.json_file import read_json
from suphx_platform.tracking.model_registry import CLAIM_TAG, ModelRegistry, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.repository import RECIPES
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.tile_keeper import save_keeper

NIGHTS = ("2026-11-21", "2026-11-22", "2026-11-23")
CHAMPION = RegistryConfig().address
SMALL = {
    "leaderboard.hanchans": "40",
    "decision.hanchans": "400",
    "decision.fresh_hanchans": "40",
    "decision.opponent": "",
    "decision.test.difference": "0.4",
    "decision.test.error": "0.05",
    "pool.newest": "1",
    "workers": "2",
}


def play_night(runs: Path, night: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    settings = [f"--set={key}={value}" for key, value in {**SMALL, "night": night}.items()]
    assert cli.main(["tournament", str(RECIPES / "nightly.toml"), "--runs", str(runs), "--json", *settings]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return result


def save_newest(folder: Path, number: int) -> None:
    for path in folder.glob("*.safetensors"):
        os.utime(path, (1000 * number, 1000 * number))


@pytest.mark.slow
def test_three_nights_leave_a_history_and_evidence(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save: dict[str, Callable[[Path], Path]] = {
        "a-1": save_random,
        "b-1": save_keeper,
        "c-1": lambda folder: save_random(folder, seed=2),
    }
    results = []
    for number, (night, (name, save_nets)) in enumerate(zip(NIGHTS, save.items(), strict=True), 1):
        save_newest(save_nets(runs / name / "reinforcement"), number)
        results.append(play_night(runs, night, capsys))
    assert [result["promoted"] for result in results] == [True, True, False]
    assert [result["champion"] for result in results] == ["models:/suphx/1", "models:/suphx/2", "models:/suphx/2"]
    check_history(runs, results)
    check_evidence(runs, results)


def check_history(runs: Path, results: list[dict[str, Any]]) -> None:
    """The page of the last night shows all three and links the earlier ones; ratings are of all games."""
    folder = runs / str(results[-1]["run_id"])
    table = read_json(folder / "leaderboard" / "table.json")
    assert [night["night"] for night in table["nights"]] == list(NIGHTS)
    assert (table["walls"], table["earlier_hanchans"]) == (10, 80)
    digests = {row["name"]: row["digest"] for row in table["agents"]}
    histories = {name: [digest in night["ratings"] for night in table["nights"]] for name, digest in digests.items()}
    assert histories["ukeire"] == [True, True, True]
    assert histories[CHAMPION] == [False, True, True], "the nets of the second night, whatever they are called"
    assert histories["c-1/reinforcement"] == [False, False, True]
    for page in ("report/report.html", "leaderboard/live.html"):
        text = (folder / page).read_text(encoding="utf-8")
        for night, earlier in zip(NIGHTS, results[:-1], strict=False):
            assert night in text
            link = f"../../{earlier['run_id']}/report/report.html"
            assert f'href="{link}"' in text
            assert (folder / "report" / link).is_file()


def check_evidence(runs: Path, results: list[dict[str, Any]]) -> None:
    """Each version of the registry tells the night, the match and the figure on new walls that promoted it."""
    store = TrackingStore(runs)
    assert ModelRegistry(store, RegistryConfig()).champion() == "2"
    first, second = (store.client.get_model_version("suphx", version) for version in ("1", "2"))
    loser = store.client.get_model_version_by_alias("suphx", "candidate")
    assert str(loser.version) == "3", "the candidate of the third night"
    assert CLAIM_TAG not in loser.tags, "the third night promoted nobody"
    assert loser.tags["verdict"] != "better"
    for version, night, result in zip((first, second), NIGHTS, results, strict=False):
        assert f"by the tournament `{result['run_id']}` (night {night})" in (version.description or "")
    assert "is the first that played" in results[0]["reason"]
    decision = read_json(runs / str(results[1]["run_id"]) / "decision" / "decision.json")
    assert second.tags["opponent"] == CHAMPION
    assert second.tags["hanchans"] == "40"
    assert float(second.tags["difference"]) < 0
    assert int(second.tags["decision_hanchans"]) == decision["test"]["hanchans"] <= 400
    assert "over 40 hanchans on new walls" in (second.description or "")
    assert results[2]["reason"].startswith("no promotion: c-1/reinforcement did not beat")
