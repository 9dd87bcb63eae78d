"""Which class reads a recipe: by the command it is for, and by its key ``game``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import psutil

from suphx.games.registry import DEFAULT_GAME, find_game, has_candidates
from suphx.usable_cores import MachineError
from suphx_pipelines.recipe.recipe import EXPERIMENT_KEY, FanfouRecipe, MonteCarloRecipe, Recipe
from suphx_pipelines.recipe.recipe_file import Table, flatten, load_config, read_table, shipped_recipes, to_table
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe, tonight
from suphx_platform.cluster.run_manifest import RunNeeds

Command = Literal["run", "tournament"]
RunRecipe: TypeAlias = Recipe | MonteCarloRecipe | FanfouRecipe
GAME_KEY = "game"
_SELF_PLAY_GROUPS = ("simulator", "inference")
_CHART = "reinforcement."
"""What the chart's settings of the cluster begin with, as in a recipe for riichi."""
_SAME_KEYS = ("cluster.on_ray", "cluster.num_simulators", "cluster.gpus_per_learner")


def check_kind(path: Path, command: Command) -> None:
    """Raise ValueError if the recipe is for another command, or for a game that is unknown."""
    table = read_table(path)
    try:
        found = command_of(table)
    except ValueError as error:
        raise ValueError(f"{path}: {GAME_KEY}: {error}") from error
    if found != command and _foreign_keys(table, command, found):
        raise ValueError(f"{path} is a recipe of another command: use suphx {found} {path}")


def recipe_class(command: Command, table: Table) -> type[Any]:
    """Return the dataclass of recipes of ``command``, for the game of the tables of a recipe; ValueError if unknown."""
    game = find_game(str(table.get(GAME_KEY, DEFAULT_GAME)))
    if command == "tournament":
        return TournamentRecipe
    if EXPERIMENT_KEY in table:
        return FanfouRecipe
    return MonteCarloRecipe if has_candidates(game.name) else Recipe


def command_of(table: Table) -> Command:
    """Return which command the tables of a recipe are for."""
    return "tournament" if _foreign_keys(table, "run", "tournament") else "run"


def _foreign_keys(table: Table, command: Command, other: Command) -> set[str]:
    """Return the keys that recipes of the ``other`` command have and those of ``command`` do not, for the same game."""
    own, foreign = ({field.name for field in fields(recipe_class(each, table))} for each in (command, other))
    return (set(table) & foreign) - own


class RecipeSummary(NamedTuple):
    """A line of ``suphx recipes``."""

    name: str
    command: Command
    """``suphx run`` or ``suphx tournament``."""
    needs_records: bool
    minutes: int
    """On two idle cores; 0 = not measured."""
    about: str


def shipped_summaries() -> list[RecipeSummary]:
    """Return a summary of each shipped recipe: runs before tournaments, short before long."""
    found = []
    for name, path in shipped_recipes().items():
        table = read_table(path)
        known = table.get("needs_records", False), table.get("minutes", 0), table.get("about", "")
        found.append(RecipeSummary(name, command_of(table), *known))
    return sorted(found, key=lambda each: (each.command != "run", each.needs_records, each.minutes == 0, each.minutes))


def load_run_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> RunRecipe:
    """Read a recipe with ``("a.b", "value")`` overrides; ValueError names the file, the key and what is allowed."""
    recipe: RunRecipe = _load("run", path, overrides)
    return recipe


def load_tournament_recipe(path: Path, overrides: Sequence[tuple[str, str]] = ()) -> TournamentRecipe:
    """Read the recipe of a tournament as ``load_run_recipe`` does, its night settled."""
    recipe: TournamentRecipe = _load("tournament", path, overrides)
    return recipe if recipe.night else replace(recipe, night=tonight())


def _load(command: Command, path: Path, overrides: Sequence[tuple[str, str]]) -> Any:
    check_kind(path, command)
    return load_config(recipe_class(command, read_table(path)), path, overrides)


def check_memory(recipe: RunRecipe) -> None:
    """Raise MachineError if a key of the recipe asks for more memory than this machine has.

    With a cluster (``RAY_ADDRESS``) the parts are on other machines, whose memory the chart limits.
    """
    memory = psutil.virtual_memory().total
    for key, value in flatten(to_table(recipe)).items():
        if key.endswith("_bytes") and value > memory and not os.environ.get("RAY_ADDRESS"):
            raise MachineError(
                f"{key} is {value:,}, and this machine has {memory:,} bytes of memory: use {memory // 4:,} or less"
            )


def needs_of(recipe: RunRecipe) -> RunNeeds:
    """Return what a recipe uses of the cluster that the chart describes."""
    if isinstance(recipe, Recipe):
        return RunNeeds(unused_groups=() if recipe.has_self_play else _SELF_PLAY_GROUPS)
    keys = {"storage.address": "storage.address"}
    if isinstance(recipe, FanfouRecipe):
        return RunNeeds(unused_groups=_SELF_PLAY_GROUPS, keys=keys, takes_records=False)
    keys |= {f"{_CHART}{key}": key for key in _SAME_KEYS}
    return RunNeeds(unused_groups=("inference",), keys=keys, takes_records=False)
