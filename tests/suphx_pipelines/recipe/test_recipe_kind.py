from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import is_dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from suphx_cli import cli
from suphx_pipelines.recipe import tournament_recipe
from suphx_pipelines.recipe.recipe import MonteCarloRecipe, Recipe
from suphx_pipelines.recipe.recipe_file import load_config, recipe_fields
from suphx_pipelines.recipe.recipe_kind import (
    Command,
    check_kind,
    check_memory,
    load_run_recipe,
    load_tournament_recipe,
)
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe, tonight
from tests.repository import RECIPES

NIGHTLY = RECIPES / "nightly.toml"


def test_a_tournament_gets_tonights_date_unless_it_has_a_night() -> None:
    assert len(load_tournament_recipe(NIGHTLY).night) == len("2026-11-21")
    assert load_tournament_recipe(NIGHTLY, [("night", "x")]).night == "x"


def test_a_night_is_that_for_which_its_job_was_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    scheduled = now - timedelta(hours=30)
    for name, night in (
        (f"suphx-nightly-{int(scheduled.timestamp()) // 60}", scheduled),
        ("nightly-now", now),
        ("nightly-20261125", now),
    ):
        monkeypatch.setenv("SUPHX_CRON_JOB", name)
        assert tonight() == f"{night:%Y-%m-%d}"


def test_two_nights_around_a_change_of_the_clocks_have_two_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_recipe, "_LATE", timedelta(days=10**4))
    monkeypatch.setenv("SUPHX_TIME_ZONE", "Europe/Berlin")
    for time in ("2027-03-28T00:30", "2027-03-28T23:30"):  # in UTC; both at 1:30 there
        minutes = int(datetime.fromisoformat(f"{time}+00:00").timestamp()) // 60
        monkeypatch.setenv("SUPHX_CRON_JOB", f"suphx-nightly-{minutes}")
        assert tonight() == f"2027-03-2{'8' if time.endswith('00:30') else '9'}"
    monkeypatch.setenv("SUPHX_TIME_ZONE", "Nowhere/City")
    assert tonight() == "2027-03-28"


TOURNAMENTS = {"nightly", "doudizhu_tournament"}
NAMES = sorted(path.stem for path in RECIPES.glob("*.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_each_recipe_is_for_one_command(name: str) -> None:
    path = RECIPES / f"{name}.toml"
    kind: Command = "tournament" if name in TOURNAMENTS else "run"
    other: Command = "run" if name in TOURNAMENTS else "tournament"
    check_kind(path, kind)
    with pytest.raises(ValueError, match=rf"is a recipe of another command: use suphx {kind} .*{name}\.toml"):
        check_kind(path, other)


NOT_POSSIBLE = ("4611686018427387904", "1000000000000", "-1", "nan", "inf")


def number_keys(cls: type[Any], prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Yield all keys of a recipe that take numbers, and whether each takes a list of them."""
    hints = get_type_hints(cls)
    for field in recipe_fields(cls):
        hint = hints[field.name]
        if isinstance(hint, type) and is_dataclass(hint):
            yield from number_keys(hint, f"{prefix}{field.name}.")
        elif {int, float} & {hint, *get_args(hint)}:
            yield prefix + field.name, hint not in (int, float)


@pytest.mark.parametrize(
    ("cls", "recipe"),
    [
        (Recipe, "laptop"),
        (TournamentRecipe, "nightly"),
        (MonteCarloRecipe, "doudizhu"),
        (TournamentRecipe, "doudizhu_tournament"),
    ],
)
def test_no_key_of_any_recipe_takes_a_number_that_no_run_can_have(cls: type[Any], recipe: str) -> None:
    keys = list(number_keys(cls))
    assert len(keys) > 15
    for key, is_list in keys:
        for text in NOT_POSSIBLE:
            with pytest.raises(ValueError, match=rf"\b{key.rpartition('.')[2]}\b"):
                load_config(cls, RECIPES / f"{recipe}.toml", [(key, f"[{text}]" if is_list else text)])


@pytest.mark.parametrize(
    ("recipe", "key"),
    [
        ("laptop", "stream.buffer_bytes"),
        ("reinforcement", "reinforcement.buffer.capacity_bytes"),
        ("doudizhu", "cluster.object_store_bytes"),
    ],
)
def test_more_memory_than_the_machine_has_is_refused_before_the_run(
    recipe: str, key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**21}.__getitem__)
    arguments = ["run", recipe, "--set", f"{key}={2**38}", "--runs", str(tmp_path / "runs")]
    for more, code in (([], 1), (["--dry-run"], 0)):  # another machine may be meant by the latter
        assert cli.main([*arguments, *more]) == code
        assert f"{key} is 274,877,906,944, and this machine has 8,589,934,592 bytes" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    check_memory(load_run_recipe(Path(recipe), [(key, str(2**38))]))
