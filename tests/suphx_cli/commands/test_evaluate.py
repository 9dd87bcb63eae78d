"""``suphx evaluate`` with agents by every kind of name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from suphx_cli import cli
from suphx_cli.commands import evaluate as command_module
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random

pytestmark = pytest.mark.usefixtures("short_games")


def evaluate(runs: Path, candidate: str) -> int:
    options = ["--hanchans", "8", "--workers", "1", "--runs", str(runs), "--json"]
    return cli.main(["evaluate", "--candidate", candidate, "--opponent", "tsumogiri", *options])


def test_the_champion_plays_under_its_name(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    store = TrackingStore(runs)
    nets = save_random(tmp_path / "nets")
    tracker = store.start("night", key="night")
    ModelRegistry(store, RegistryConfig()).promote(nets, tracker, Promotion(digest="a", replaces=None, night="1"))
    assert evaluate(runs, "models:/suphx@champion:sampled") == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["candidate"], result["opponent"]) == ("models:/suphx@champion:sampled", "tsumogiri")


def test_all_seatings_are_three_matches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    common = ["evaluate", "--candidate", "ukeire", "--opponent", "tsumogiri", "--hanchans", "24"]
    common += ["--workers", "1", "--runs", str(tmp_path)]
    assert cli.main([*common, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert cli.main([*common, "--seating", "all", "--json", "--keep-games", str(tmp_path / "games")]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    others = result.pop("other_seatings")
    assert alone.pop("other_seatings") == {}
    assert result | {"seconds": 0} == alone | {"seconds": 0}
    assert {name: match["seating"] for name, match in others.items()} == {"2v2": "2v2", "3v1": "3v1"}
    assert all(match["games"] == 24 for match in others.values())
    assert len(list((tmp_path / "games").rglob("*.tsv.xz"))) == 3
    assert cli.main([*common, "--seating", "3v1", "--json"]) == 0
    single = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert single["paired_difference"] == others["3v1"]["paired_difference"]
    assert cli.main([*common, "--seating", "all"]) == 0
    output = capsys.readouterr().out
    assert "other seatings:" in output
    assert "2v2" in output
    assert "3v1" in output


def test_the_progress_of_a_match_that_stops_early_ends_with_its_games_on_new_walls(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_module, "_FRESH_HANCHANS", 48)
    options = ["--sequential", "0.5", "--hanchans", "4000", "--workers", "1", "--runs", str(runs), "--json"]
    assert cli.main(["evaluate", "--candidate", "ukeire", "--opponent", "tsumogiri", *options]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out.splitlines()[-1])
    assert (result["verdict"], result["fresh_match"]["games"]) == ("better", 48)
    done, total = re.findall(r"([0-9,]+) of ([0-9,]+) hanchans", printed.err)[-1]
    assert done == total


def evaluate_deals(runs: Path, candidate: str, *more: str) -> int:
    options = ["--deals", "20", "--workers", "1", "--runs", str(runs)]
    return cli.main(["evaluate", "--candidate", candidate, "--opponent", "tsumogiri", *options, *more])


def test_deals_give_points_per_kyoku(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate_deals(tmp_path, "ukeire", "--json") == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["candidate"], result["opponent"], result["hanchans"]) == ("ukeire", "tsumogiri", 2)
    low, high = result["paired_difference"]["interval"]
    assert low <= result["paired_difference"]["points_per_kyoku"] <= high
    assert 0.9 < result["changed_share"] <= 1
    assert {"deals", "seed", "seconds"} <= set(result)
