"""``suphx evaluate`` with agents by every kind of name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suphx_platform import cli
from suphx_platform.model_registry import ModelRegistry, RegistryConfig
from suphx_platform.promotion import Promotion
from suphx_platform.tracking import TrackingStore
from tests.suphx_pipelines.tile_keeper import save_random


def evaluate(runs: Path, candidate: str) -> int:
    options = ["--hanchans", "8", "--workers", "1", "--runs", str(runs), "--json"]
    return cli.main(["evaluate", "--candidate", candidate, "--baseline", "tsumogiri", *options])


def test_the_champion_plays_under_its_name(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    store = TrackingStore(runs)
    nets = save_random(tmp_path / "nets")
    tracker = store.start("night", key="night")
    ModelRegistry(store, RegistryConfig()).promote(nets, tracker, Promotion(digest="a", replaces=None, night="1"))
    assert evaluate(runs, "models:/suphx@champion:sampled") == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (result["candidate"], result["baseline"]) == ("models:/suphx@champion:sampled", "tsumogiri")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", "'nobody' is no agent: use random, tsumogiri or ukeire; a folder"),
        ("models:/nobody@champion", "it has no models yet"),
        ("models:/suphx", "use models:/NAME@ALIAS or models:/NAME/VERSION"),
        ("ukeire:weak,matched,sampled", "has two ways to answer"),
    ],
)
def test_an_unknown_agent_is_one_line_and_exit_code_1(
    runs: Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(runs, name) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("suphx: ")
    assert message in last


def test_the_folders_inside_are_named_where_a_folder_has_no_nets_itself(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs / "laptop-1"
    for stage in ("reinforcement", "reinforcement/start"):
        save_random(run / stage)
    (run / "records").mkdir()
    assert evaluate(runs, str(run)) == 1
    told = f"name one of the folders in it, {run}/reinforcement, {run}/reinforcement/start"
    assert capsys.readouterr().err.splitlines()[-1].endswith(told)


def test_people_see_both_sides_in_one_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--hanchans", "8", "--workers", "1", "--runs", str(tmp_path)]
    assert cli.main(["evaluate", "--candidate", "ukeire", "--baseline", "tsumogiri", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["hanchans:", "8"]
    table = lines[lines.index("figures:") + 1 :]
    assert table[0].split() == ["candidate", "95", "%", "interval", "baseline"]
    assert [line.split("  ")[1] for line in table[1:4]] == ["placements", "average placement", "stable rank"]
    assert max(map(len, lines)) <= 100
