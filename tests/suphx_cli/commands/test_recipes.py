from __future__ import annotations

import json

import pytest

from suphx_cli import cli
from suphx_cli.commands.run import duration
from suphx_pipelines.recipe.recipe_file import shipped_recipes


def test_scripts_get_every_recipe_with_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["recipes", "--json"]) == 0
    recipes = {each["name"]: each for each in json.loads(capsys.readouterr().out)["recipes"]}
    assert set(recipes) == set(shipped_recipes())
    assert recipes["laptop"]["needs_records"] is False
    assert recipes["laptop"]["minutes"] > 0
    assert recipes["rl_1"]["needs_records"] is True
    assert recipes["nightly"]["command"] == "tournament"
    assert all(each["about"] for each in recipes.values())


def test_people_get_a_table_that_begins_with_what_runs_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["recipes"]) == 0
    header, first, *others = capsys.readouterr().out.splitlines()
    assert header.split() == ["recipe", "for", "records", "time", "what", "it", "does"]
    assert first.split()[:3] == ["laptop", "no", "5"]
    assert [line.split()[0] for line in others[-2:]] == ["doudizhu_tournament", "nightly"], "they need trained nets"


@pytest.mark.parametrize(("minutes", "text"), [(0, "not measured"), (5, "5 min"), (90, "90 min"), (180, "3 h")])
def test_times_are_in_minutes_or_hours(minutes: int, text: str) -> None:
    assert duration(minutes) == text
