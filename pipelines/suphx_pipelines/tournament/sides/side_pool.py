"""The pool stage of a tournament in a game of two sides: who plays tonight, their nets copied.

Leaves what the pool stage of riichi leaves (tournament_pool.py): ``pool.json``, the nets under
``agents/<number in the pool>``, the games of earlier nights in ``history.json``, and ``note.md``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TypeAlias

from suphx.games.candidate_game import candidate_game, net_file_names
from suphx.games.registry import game_modules
from suphx.training.value_nets import load_value_nets
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.tournament_recipe import SideTournamentRecipe
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.tournament.pool.candidate_versions import CandidateVersions, mark_named
from suphx_pipelines.tournament.pool.game_code import GameCode
from suphx_pipelines.tournament.pool.tournament_pool import (
    COPIES,
    POOL_NAME,
    Entrant,
    Pool,
    check_newest_from,
    digest_of_files,
    empty_folders,
    enter_agents,
    newest_from,
    write_earlier_nights,
)
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.agents.side_agent import find_side_nets, have_same_moves, newest_side_nets
from suphx_platform.tracking.model_registry import ModelRegistry

MIN_AGENTS = 2
FILES: Mapping[str, str] = {
    "pool.json, agents/<n>/": "as for riichi, with the nets of each agent",
    "history.json": "games of earlier nights as they were when the night began, as for riichi",
    "note.md": "additional text for the description of the run in MLflow, as for riichi",
}
"""What the stage writes into its folder (docs/result_files.md)."""
SideContext: TypeAlias = StageContext[SideTournamentRecipe]
_NETS_MODULE = "suphx/training/value_nets.py"
"""Makes the moves of nets, with what it imports."""


def game_code(recipe: SideTournamentRecipe) -> GameCode:
    """Return by which rules and code the games of a tournament are played."""
    game = candidate_game(recipe.game)
    own = (f"{module.replace('.', '/')}.py" for module in game_modules(recipe.game))
    return GameCode(
        rules=digest_json([recipe.game, game.rules_values(recipe.rules)]),
        num_seats=len(game.sides),
        modules=(*own, _NETS_MODULE),
    )


def run(context: SideContext) -> dict[str, float]:
    """Settle who plays. ValueError for an unknown agent or fewer than two."""
    recipe = context.recipe
    source = AgentSource(context.tracker.store, recipe.storage)
    game = candidate_game(recipe.game)
    check_newest_from(context, source, lambda place: newest_side_nets(game, place, recipe.storage))
    version = ModelRegistry(context.tracker.store, recipe.registry).champion()
    enter = partial(_enter, recipe, source)
    entrants, left_out = enter_agents(context, _wanted(context, version), enter, least=MIN_AGENTS)
    CandidateVersions(source, recipe.name, context.console.warn).pin(entrants)
    champion = [entrant.name for entrant in entrants].index(recipe.registry.address) if version else None
    pool = Pool(entrants=tuple(entrants), champion=champion, version=version, left_out=left_out)
    write_json(context.folder / POOL_NAME, asdict(pool))
    mark_named(context.tracker.store, recipe, context.console.warn)
    write_earlier_nights(context, game_code(recipe))
    return {"agents": len(entrants), "candidates": sum(entrant.is_candidate for entrant in entrants)}


def _wanted(context: SideContext, version: str | None) -> Iterator[tuple[str, str, bool]]:
    """Yield name, address and whether it is a candidate: the champion first, so that its twins are left out."""
    recipe = context.recipe
    if version is not None:
        yield recipe.registry.address, f"models:/{recipe.registry.model}/{version}", False
    for address in recipe.pool.agents:
        if address != recipe.registry.address:
            yield address, address, False
    if recipe.pool.newest:
        for found in newest_side_nets(candidate_game(recipe.game), newest_from(context), recipe.storage):
            yield found.name, found.address, True


def _enter(
    recipe: SideTournamentRecipe,
    source: AgentSource,
    folder: Path,
    number: int,
    name: str,
    address: str,
    is_candidate: bool,
) -> Entrant:
    """Copy the nets of an agent, if it has any, and see that it can play by the rules of the recipe."""
    game = candidate_game(recipe.game)
    copy, space = empty_folders(folder, number)
    nets = find_side_nets(address, game, space, source)
    if nets is None:
        return Entrant(name=name, address=address, digest=address)
    copy.mkdir(parents=True)
    for file in net_file_names(game):
        shutil.copy2(nets / file, copy)
    shutil.rmtree(space, ignore_errors=True)
    learned = load_value_nets(copy).rules
    if not have_same_moves(game, learned, recipe.rules):
        advice = ", or name another registry.model" if name == recipe.registry.address else ""
        raise ValueError(
            f"{name} learned rules with other moves than those of the recipe: change its table rules{advice}"
        )
    return Entrant(
        name=name,
        address=f"{COPIES}{number}",
        digest=digest_of_files(copy / file for file in net_file_names(game)),
        is_candidate=is_candidate,
        stored=tuple(source.stored.get(address, ())),
    )
