"""Which command a recipe is for: each of them names the other one for the other's recipes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe, load_monte_carlo_recipe
from suphx_pipelines.recipe.recipe import Recipe, load_recipe
from suphx_pipelines.recipe.recipe_file import Table, flatten, read_table, shipped_recipes, to_table
from suphx_pipelines.recipe.side_tournament_recipe import SideTournamentRecipe
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_platform.cluster.runs.run_manifest import RunNeeds

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeSummary:
    """A line of ``suphx recipes``."""

    name: str
    command: Command
    """``suphx run`` or ``suphx tournament``."""
    needs_records: bool
    minutes: int
    """On two idle cores; 0 = not measured."""
    about: str

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read."""
        return asdict(self)


def shipped_summaries() -> list[RecipeSummary]:
    """Return a summary of each shipped recipe: runs before tournaments, short before long."""
    found = []
    for name, path in shipped_recipes().items():
        table = read_table(path)
        found.append(
            RecipeSummary(
                name=name,
                command=command_of(table),
                needs_records=bool(table.get("needs_records", False)),
                minutes=int(table.get("minutes", 0)),
                about=str(table.get("about", "")),
            )
        )
    return sorted(found, key=lambda each: (each.command != "run", each.needs_records, each.minutes == 0, each.minutes))


RunRecipe: TypeAlias = Recipe | MonteCarloRecipe

_SELF_PLAY_GROUPS = ("simulator", "inference")
_CHART = "reinforcement."
"""What the chart's settings of the cluster begin with, as in a recipe for riichi."""
_SAME_KEYS = ("cluster.on_ray", "cluster.num_simulators", "cluster.gpus_per_learner")


def load_run_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> RunRecipe:
    """Read a recipe with overrides; ValueError names the file, the key and what is allowed."""
    check_kind(path, "run")
    if is_of_another_game(read_table(path)):
        return load_monte_carlo_recipe(path, overrides)
    return load_recipe(path, overrides)


def check_memory(recipe: RunRecipe) -> None:
    """Raise ValueError if a key of the recipe asks for more memory than this machine has.

    With a cluster (``RAY_ADDRESS``) the parts are on other machines, whose memory the chart limits.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for key, value in flatten(to_table(recipe)).items():
        if key.endswith("_bytes") and value > memory and not os.environ.get("RAY_ADDRESS"):
            raise ValueError(
                f"{key} is {value:,}, and this machine has {memory:,} bytes of memory: use {memory // 4:,} or less"
            )


def needs_of(recipe: RunRecipe) -> RunNeeds:
    """Return what a recipe uses of the cluster that the chart describes."""
    if isinstance(recipe, Recipe):
        return RunNeeds(unused_groups=() if recipe.has_self_play else _SELF_PLAY_GROUPS)
    keys = {f"{_CHART}{key}": key for key in _SAME_KEYS} | {"storage.address": "storage.address"}
    return RunNeeds(unused_groups=("inference",), keys=keys, takes_records=False)
