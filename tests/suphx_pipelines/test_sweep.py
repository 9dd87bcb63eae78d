"""``suphx sweep``: which settings are run, and what compares the runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suphx_cli import cli
from suphx_pipelines.sweep import compared, sweep_settings
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.recipe.small_recipe import MONTE_CARLO


def test_a_grid_has_all_combinations_in_order() -> None:
    heads = '["discard", "chow"],["discard"]'
    assert sweep_settings([("net.size", "tiny,small"), ("heads", heads), ("seed", "7")]) == [
        {"net.size": size, "heads": head, "seed": "7"}
        for size in ("tiny", "small")
        for head in ('["discard", "chow"]', '["discard"]')
    ]


def test_drawn_settings_are_in_their_ranges_and_the_same_again() -> None:
    overrides = [("rate", "1e-4..1e-2"), ("steps", "1..9"), ("share", "-0.5..0.5"), ("size", "tiny,small")]
    drawn = sweep_settings(overrides, 200)
    assert drawn == sweep_settings(overrides, 200)
    for key, low, high, middle in (("rate", 1e-4, 1e-2, 1e-3), ("steps", 1, 9, 5), ("share", -0.5, 0.5, 0)):
        values = sorted(float(each[key]) for each in drawn)
        assert low <= values[0] < values[-1] <= high
        below = sum(value < middle for value in values)
        assert 60 < below < 140, key
    assert all(each["steps"].isdigit() for each in drawn)
    assert {each["size"] for each in drawn} == {"tiny", "small"}


@pytest.mark.parametrize(
    ("settings", "num_samples", "message"),
    [
        ([("net.size", "tiny")], 0, "a sweep needs a key with several values"),
        ([("rate", "1e-4..1e-2")], 0, "values of a range are drawn: add --samples N"),
        ([("rate", "9..1")], 3, "write the smaller number first"),
    ],
)
def test_what_is_no_sweep_is_refused(settings: list[tuple[str, str]], num_samples: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sweep_settings(settings, num_samples)


def test_settings_that_change_no_result_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", "laptop", "--runs", str(tmp_path), "--set", "seed=1,2", "--set", "stream.num_workers=1,2"]
    assert cli.main(command) == 1
    assert "--set stream.num_workers: 1 and 2 are the same run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_runs_that_differ_in_their_seed_are_one_row() -> None:
    entries = [
        {"settings": {"net.size": size, "supervised.seed": seed}, "metrics": {"a": {"loss": loss, "games": 9.0}}}
        for size, seed, loss in (("tiny", "1", 0.5), ("small", "1", 0.25), ("tiny", "2", 0.7))
    ]
    columns, rows = compared(entries)
    assert columns == ["net.size", "runs", "a loss"]
    assert rows == [["tiny", "2", "0.6 ± 0.14"], ["small", "1", "0.25"]]


def test_a_sweep_runs_children_of_one_parent_and_continues(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for setting in (*MONTE_CARLO, "learning.seed=1,2") for word in ("--set", setting)]
    command = ["sweep", "doudizhu", "--runs", str(runs), "--json", *words, "--stage"]
    assert cli.main([*command, "nothing"]) == 1
    assert "use one of learning, match, sample_game, report" in capsys.readouterr().err
    assert not [path for path in runs.iterdir() if path.is_dir() and path.name.startswith("doudizhu")]
    assert cli.main([*command, "learning"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [run["settings"] for run in result["runs"]] == [{"learning.seed": "1"}, {"learning.seed": "2"}]
    losses = [run["metrics"]["learning"]["loss"] for run in result["runs"]]
    assert losses[0] != losses[1]
    page = Path(result["report"]).read_text(encoding="utf-8")
    assert "learning loss" in page
    store = TrackingStore(runs)
    parent, *children = (store.find(name) for name in (result["sweep_id"], *(run["run_id"] for run in result["runs"])))
    assert parent is not None
    assert [child and child.data.tags["mlflow.parentRunId"] for child in children] == [parent.info.run_id] * 2
    assert cli.main([*command, "learning"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["runs"] == result["runs"]
    assert cli.main(["runs", "list", "--runs", str(runs), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["runs"]
    assert {run["run_id"] for run in listed} == {run["run_id"] for run in result["runs"]}
