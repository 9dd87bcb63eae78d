"""The pool stage of a tournament in a game of two sides: who plays tonight, their nets copied.

Leaves what the pool stage of riichi leaves (tournament_pool.py): ``pool.json``, the nets under
``agents/<number in the pool>``, the games of earlier nights in ``history.json``, and ``note.md``.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

from suphx.games.registry import candidate_game, find_game
from suphx.training.monte_carlo.value_nets import file_names
from suphx_pipelines.engine.json_file import write_json
from suphx_pipelines.engine.provenance import digest_json
from suphx_pipelines.engine.run_note import write_note
from suphx_pipelines.engine.stage import StageContext
from suphx_pipelines.recipe.side_tournament_recipe import SideTournamentRecipe
from suphx_pipelines.tournament.pool.tournament_history import GameCode, earlier_nights, history_json
from suphx_pipelines.tournament.pool.tournament_pool import (
    COPIES,
    HISTORY_NAME,
    POOL_NAME,
    Entrant,
    Pool,
    newest_from,
    night_note,
)
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.agents.side_agent import find_side_nets, load_side_agent, newest_side_nets
from suphx_platform.tracking.tracking_ui import artifact_pages

MIN_AGENTS = 2
SideContext: TypeAlias = StageContext[SideTournamentRecipe]
_NETS_MODULE = "suphx/training/monte_carlo/value_nets.py"
"""Makes the moves of nets, with what it imports."""


def game_code(recipe: SideTournamentRecipe) -> GameCode:
    """Return by which rules and code the games of a tournament are played."""
    module = str(find_game(recipe.game).module)
    return GameCode(
        rules=digest_json([recipe.game, asdict(recipe.rules)]),
        num_seats=len(candidate_game(recipe.game).sides),
        modules=(f"{module.replace('.', '/')}.py", _NETS_MODULE),
    )


def run(context: SideContext) -> dict[str, float]:
    """Settle who plays. ValueError for an unknown agent or fewer than two."""
    recipe = context.recipe
    _check_newest_from(context)
    entrants: list[Entrant] = []
    left_out: dict[str, str] = {}
    for name, address, is_newest in _wanted(context):
        try:
            entrant = _enter(context, len(entrants), name, address)
            twin = next((other.name for other in entrants if other.digest == entrant.digest), None)
            reason = f"the same nets as {twin}" if twin else None
        except (ValueError, FileNotFoundError, PermissionError) as error:  # not a full disk or a storage that is away
            if not is_newest:
                raise
            reason = str(error)
        if reason is None:
            entrants.append(entrant)
        else:
            left_out[name] = reason
            context.console.say(f"{name} does not play: {reason}")
    if len(entrants) < MIN_AGENTS:
        there = ", ".join(entrant.name for entrant in entrants) or "none"
        raise ValueError(
            f"only {len(entrants)} agents play ({there}), {MIN_AGENTS} are needed, and {newest_from(context)} has no "
            "other nets: set pool.newest_from to a folder or storage with runs, or name more in pool.agents"
        )
    shutil.rmtree(context.folder / COPIES / str(len(entrants)), ignore_errors=True)  # of the last one if left out
    pool = Pool(entrants=tuple(entrants), champion=None, version=None, left_out=left_out)
    write_json(context.folder / POOL_NAME, asdict(pool))
    runs, run_id, code = context.folder.parents[1], context.folder.parent.name, game_code(recipe)
    earlier = earlier_nights(recipe.name, run_id, runs, recipe.storage, code)
    write_json(context.folder / HISTORY_NAME, history_json(earlier, code))
    pages = artifact_pages(context.tracker.store, f"{recipe.name}-", "report.html")
    write_note(context.folder, night_note(earlier.nights, pages))
    return {"agents": len(entrants), "with_nets": sum(entrant.has_nets for entrant in entrants)}


def _wanted(context: SideContext) -> Iterator[tuple[str, str, bool]]:
    """Yield name, address and whether it is one of the newest: named agents first, so that their twins are left out."""
    recipe = context.recipe
    for address in recipe.pool.agents:
        yield address, address, False
    game = candidate_game(recipe.game)
    for found in newest_side_nets(game, newest_from(context), recipe.pool.newest, recipe.storage):
        yield found.name, found.address, True


def _check_newest_from(context: SideContext) -> None:
    """Raise ValueError or OSError if the place of new nets is wrong."""
    if context.recipe.pool.newest:
        try:
            AgentSource(context.tracker.store, context.recipe.storage).check(newest_from(context))
        except ValueError as error:
            raise ValueError(f"pool.newest_from: {error}") from error


def _enter(context: SideContext, number: int, name: str, address: str) -> Entrant:
    """Copy the nets of an agent, if it has any, and see that it can play by the rules of the recipe."""
    recipe, folder = context.recipe, context.folder
    game = candidate_game(recipe.game)
    copy, space = folder / COPIES / str(number), folder / COPIES / f"fetched-{number}"
    for remains in (copy, space):
        shutil.rmtree(remains, ignore_errors=True)  # of one that did not play, or of a killed attempt
    nets = find_side_nets(address, game, space, recipe.storage)
    if nets is None:
        return Entrant(name=name, address=address, digest=address)
    copy.mkdir(parents=True)
    for file in file_names(game):
        shutil.copy2(nets / file, copy)
    shutil.rmtree(space, ignore_errors=True)
    learned = load_side_agent(str(copy), game, space).rules
    if len(game.candidate_columns(learned)) != len(game.candidate_columns(recipe.rules)):
        raise ValueError(f"{name} learned rules with other moves than those of the recipe: change its table rules")
    return Entrant(name=name, address=f"{COPIES}{number}", digest=_digest([copy / file for file in file_names(game)]))


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
