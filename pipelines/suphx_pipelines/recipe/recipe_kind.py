"""Which command a recipe is for: each of them names the other one for the other's recipes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import Table, read_table
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe

Kind = Literal["run", "tournament"]
_KINDS: dict[Kind, type[Any]] = {"run": Recipe, "tournament": TournamentRecipe}


def check_kind(path: Path, kind: Kind) -> None:
    """Raise ValueError if the recipe has keys that only recipes of another kind than ``kind`` have."""
    table = read_table(path)
    for other in _KINDS:
        foreign = _foreign_keys(table, kind, other)
        if foreign:
            raise ValueError(
                f"{path} is a recipe of another command, as it has the key {foreign[0]}: use suphx {other} {path}"
            )


def kind_of(table: Table) -> Kind:
    """Return which command the tables of a recipe are for."""
    return "tournament" if _foreign_keys(table, "run", "tournament") else "run"


def _foreign_keys(table: Table, kind: Kind, other: Kind) -> list[str]:
    """Return the keys that recipes of the ``other`` kind have and those of ``kind`` do not."""
    keys = {each: {field.name for field in fields(recipe)} for each, recipe in _KINDS.items()}
    return sorted((set(table) & keys[other]) - keys[kind])
