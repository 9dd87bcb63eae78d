"""The id that a run has unless it is named: derived from its recipe and its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suphx_pipelines.engine.provenance import digest_json
from suphx_pipelines.recipe.recipe_file import to_table, without

if TYPE_CHECKING:
    from suphx_pipelines.engine.stage import RunRecipe

_DIGEST_LENGTH = 10


def derived_run_id(recipe: RunRecipe, records_digest: str | None = None) -> str:
    """Return the recipe's name and a digest of what influences the results: its settings and the records.

    >>> derived_run_id(load_tournament_recipe(Path("nightly.toml"), [("night", "2026-11-27")]))
    """
    identity = without(to_table(recipe), recipe.free_keys)
    return f"{recipe.name}-{digest_json([identity, records_digest])[:_DIGEST_LENGTH]}"
