"""Which command a recipe is for: each of them names the other one for the other's recipes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import Table, read_table
from suphx_pipelines.recipe.side_tournament_recipe import SideTournamentRecipe
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe

Command = Literal["run", "tournament"]
_RECIPES: dict[Command, type[Any]] = {"run": Recipe, "tournament": TournamentRecipe}
_RECIPES_OF_OTHER_GAMES: dict[Command, type[Any]] = {"run": MonteCarloRecipe, "tournament": SideTournamentRecipe}
GAME_KEY = "game"
"""Recipes of other games than riichi have it (monte_carlo_recipe.py, side_tournament_recipe.py)."""


def check_kind(path: Path, command: Command) -> None:
    """Raise ValueError if the recipe has keys that only recipes of another command have."""
    table = read_table(path)
    for other in _RECIPES:
        foreign = _foreign_keys(table, command, other)
        if foreign:
            raise ValueError(
                f"{path} is a recipe of another command, as it has the key {foreign[0]}: use suphx {other} {path}"
            )


def is_of_another_game(table: Table) -> bool:
    """Tell whether the tables of a recipe are for another game than riichi."""
    return GAME_KEY in table


def recipe_class(command: Command, table: Table) -> type[Any]:
    """Return the dataclass of recipes of ``command``, for the game of the tables of a recipe."""
    return (_RECIPES_OF_OTHER_GAMES if is_of_another_game(table) else _RECIPES)[command]


def command_of(table: Table) -> Command:
    """Return which command the tables of a recipe are for."""
    return "tournament" if _foreign_keys(table, "run", "tournament") else "run"


def _foreign_keys(table: Table, command: Command, other: Command) -> list[str]:
    """Return the keys that recipes of the ``other`` command have and those of ``command`` do not, for the same game."""
    recipes = _RECIPES_OF_OTHER_GAMES if is_of_another_game(table) else _RECIPES
    keys = {each: {field.name for field in fields(recipe)} for each, recipe in recipes.items()}
    return sorted((set(table) & keys[other]) - keys[command])
