"""Which command a recipe is for: each of them names the other one for the other's recipes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from suphx_pipelines.recipe import Recipe
from suphx_pipelines.recipe_file import read_table
from suphx_pipelines.tournament_recipe import TournamentRecipe

Kind = Literal["run", "tournament"]
_KINDS: dict[Kind, type[Any]] = {"run": Recipe, "tournament": TournamentRecipe}


def check_kind(path: Path, kind: Kind) -> None:
    """Raise ValueError if the file has keys that only recipes of another kind than ``kind`` know."""
    keys = {each: {field.name for field in fields(recipe)} for each, recipe in _KINDS.items()}
    for other in _KINDS:
        foreign = sorted((set(read_table(path)) & keys[other]) - keys[kind])
        if foreign:
            raise ValueError(
                f"{path} is a recipe of another command, it has the key {foreign[0]}: say suphx {other} {path}"
            )
