from __future__ import annotations

from collections.abc import Callable

import pytest

from suphx_cli import cli
from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_kind import Command, check_kind
from suphx_pipelines.recipe.side_tournament_recipe import SideTournamentRecipe
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from tests.repository import RECIPES

TOURNAMENTS = {"nightly", "doudizhu_tournament"}
NAMES = sorted(path.stem for path in RECIPES.glob("*.toml"))


@pytest.mark.parametrize("recipe", [Recipe, MonteCarloRecipe, TournamentRecipe, SideTournamentRecipe])
@pytest.mark.parametrize(
    ("heading", "message"),
    [
        ({"name": ""}, "name is '': use 1 to 63 lower-case letters"),
        ({"name": "My Run"}, "name is 'My Run': use 1 to 63 lower-case letters"),
        ({"name": "-run"}, "name is '-run'"),
        ({"name": "run", "minutes": -5}, "minutes is -5: use 0"),
    ],
)
def test_no_recipe_has_a_name_that_is_no_folder_name_or_a_negative_duration(
    recipe: Callable[..., object], heading: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        recipe(**heading)


@pytest.mark.parametrize("name", NAMES)
def test_each_recipe_is_for_one_command(name: str) -> None:
    path = RECIPES / f"{name}.toml"
    kind: Command = "tournament" if name in TOURNAMENTS else "run"
    other: Command = "run" if name in TOURNAMENTS else "tournament"
    check_kind(path, kind)
    with pytest.raises(ValueError, match=rf"has the key \w+: use suphx {kind} .*{name}\.toml"):
        check_kind(path, other)


@pytest.mark.parametrize(
    ("command", "name"),
    [("run", "nightly"), ("tournament", "laptop"), ("run", "doudizhu_tournament"), ("tournament", "doudizhu")],
)
def test_a_command_names_the_other_one(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, str(RECIPES / f"{name}.toml")]) == 1
    assert "is a recipe of another command" in capsys.readouterr().err
