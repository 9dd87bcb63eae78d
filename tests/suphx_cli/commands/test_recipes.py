from __future__ import annotations

import json

import pytest

from suphx_cli import cli
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
