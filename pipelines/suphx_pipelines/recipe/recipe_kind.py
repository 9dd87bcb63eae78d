"""Which command a recipe is for: each of them names the other one for the other's recipes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import Table, read_table
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe

Command = Literal["run", "tournament"]
_RECIPES: dict[Command, type[Any]] = {"run": Recipe, "tournament": TournamentRecipe}
GAME_KEY = "game"
"""Recipes of other games than riichi have it (monte_carlo_recipe.py)."""


def check_kind(path: Path, command: Command, *, any_game: bool = False) -> None:
    """Raise ValueError if the recipe has keys that only recipes of another command have.

    ``any_game``: the command also takes recipes of other games than riichi.
    """
    table = read_table(path)
    if is_of_another_game(table):
        if any_game:
            return
        raise ValueError(f"{path} is a recipe for {table[GAME_KEY]}: only suphx run and suphx launch take it")
    for other in _RECIPES:
        foreign = _foreign_keys(table, command, other)
        if foreign:
            raise ValueError(
                f"{path} is a recipe of another command, as it has the key {foreign[0]}: use suphx {other} {path}"
            )


def is_of_another_game(table: Table) -> bool:
    """Tell whether the tables of a recipe are for another game than riichi."""
    return GAME_KEY in table


def command_of(table: Table) -> Command:
    """Return which command the tables of a recipe are for."""
    is_tournament = not is_of_another_game(table) and _foreign_keys(table, "run", "tournament")
    return "tournament" if is_tournament else "run"


def _foreign_keys(table: Table, command: Command, other: Command) -> list[str]:
    """Return the keys that recipes of the ``other`` command have and those of ``command`` do not."""
    keys = {each: {field.name for field in fields(recipe)} for each, recipe in _RECIPES.items()}
    return sorted((set(table) & keys[other]) - keys[command])
