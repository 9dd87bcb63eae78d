"""Versions of the model registry that a recipe names: marked there, so that no other tournament deletes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx_pipelines.tournament.pool.night_recipe import NightRecipe
from suphx_platform.agents.agent_forms import is_program, split_wrapper
from suphx_platform.tracking.client.mlflow_call import TrackingRefusedError
from suphx_platform.tracking.lost_versions import mark_needed
from suphx_platform.tracking.mlflow_store import MlflowStore
from suphx_platform.tracking.model_registry import VERSION_ADDRESS


def named_versions(agents: Iterable[str]) -> set[str]:
    """Return the addresses ``models:/NAME/VERSION`` of the nets of agents; those by an alias are not among them."""
    nets = (split_address(split_wrapper(agent)[1])[0] for agent in agents if not is_program(agent))
    return {address for address in nets if VERSION_ADDRESS.fullmatch(address)}


def mark_named(store: MlflowStore, recipe: NightRecipe, warn: Callable[[str], None]) -> None:
    """Mark the versions that the recipe names, and take the mark from those that it names no more.

    A server that does not allow it is a warning. TrackingError if it does not answer.
    """
    try:
        mark_needed(store, recipe.name, recipe.night, named_versions(recipe.pool.agents))
    except TrackingRefusedError as error:
        warn(f"the versions in pool.agents are not marked as needed, another tournament may delete them: {error}")
