"""The kind of a tournament, by its recipe."""

from __future__ import annotations

from typing import Any

from suphx.games.registry import DEFAULT_GAME
from suphx_pipelines.recipe.tournament_recipe import SideTournamentRecipe
from suphx_pipelines.tournament.kind import Kind
from suphx_pipelines.tournament.seats import SeatKind
from suphx_pipelines.tournament.sides import SideKind


def kind_of(recipe: Any) -> Kind:
    """Return what the stages of the tournament of a recipe ask."""
    if isinstance(recipe, SideTournamentRecipe):
        return SideKind(recipe.game)
    return SeatKind(recipe.game or DEFAULT_GAME)
