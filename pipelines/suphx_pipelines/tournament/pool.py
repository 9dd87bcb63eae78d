"""The pool stage of a tournament: who plays tonight, their nets copied, so that nothing changes until it is over.

Leaves ``pool.json``, the nets under ``agents/<number in the pool>``, the games of earlier nights in ``history.json``,
and ``note.md``: the links to earlier nights for MLflow.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

from suphx_pipelines.json_file import write_json
from suphx_pipelines.runs.stage import write_note
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.tournament.entrants import COPIES, POOL_NAME, Entrant, Pool
from suphx_pipelines.tournament.history import HISTORY_NAME, earlier_nights, history_json
from suphx_pipelines.tournament.kind import Context, Kind, kind_of
from suphx_platform.agents.agent_source import BUCKET, AgentSource
from suphx_platform.tracking.model_registry import ModelRegistry
from suphx_platform.tracking.tracking_ui import artifact_pages

_LINKED_NIGHTS = 30
"""The newest ones have a link in MLflow, whose descriptions are short."""
_MAX_LEFT_OUT = 50
"""Checkpoints that cannot play are fetched all the same; with so many, something else is wrong."""
Enter = Callable[[Path, int, str, str, bool], Entrant]
"""Copies the nets of an agent into the folder: (folder, number in the pool, name, address, whether it is optional)."""


def run(context: Context) -> dict[str, float]:
    """Settle who plays. ValueError for an unknown agent, or if too few play."""
    recipe, kind = context.recipe, kind_of(context.recipe)
    source = AgentSource(context.tracker.store, recipe.storage)
    location = newest_from(context)
    if recipe.pool.newest:
        try:
            source.check(location)
        except ValueError as error:
            raise ValueError(f"pool.newest_from: {error}") from error
        if recipe.pool.newest_from and not source.newest(location, kind.game):
            context.console.warn(
                f"pool.newest_from: {location} has no checkpoint with all nets: nobody can be promoted"
            )
    version = ModelRegistry(context.tracker.store, recipe.registry).champion()
    enter = partial(kind.enter, recipe, source)
    wanted = _wanted(context, kind, source, version)
    entrants, left_out = enter_agents(context, wanted, enter, least=kind.least)
    champion = [entrant.name for entrant in entrants].index(recipe.registry.address) if version else None
    named = recipe.decision.opponent if version is None else ""
    opponent = enter(context.folder, len(entrants), named, named, False) if named else None
    pool = Pool(entrants=tuple(entrants), champion=champion, version=version, left_out=left_out, opponent=opponent)
    write_json(context.folder / POOL_NAME, asdict(pool))
    code, folder = kind.code(recipe), context.folder
    earlier = earlier_nights(recipe.name, folder.parent.name, folder.parents[1], recipe.storage, code)
    write_json(folder / HISTORY_NAME, history_json(earlier, code))
    pages = artifact_pages(context.tracker.store, f"{recipe.name}-", REPORT_NAME)
    texts = ["Under *Artifacts*: `live.html` is written every minute while games are played."]
    shown = [  # a night that was tracked elsewhere has no link
        f"[{night['night']}]({pages[night['run']]})" if night["run"] in pages else night["night"]
        for night in earlier.nights[: -_LINKED_NIGHTS - 1 : -1]
    ]
    texts += [f"Reports of earlier nights: {', '.join(shown)}"] if shown else []
    write_note(folder, "\n\n".join(texts))
    return {"agents": len(entrants), "candidates": sum(entrant.is_candidate for entrant in entrants)}


def _wanted(context: Context, kind: Kind, source: AgentSource, version: str | None) -> Iterator[tuple[str, str, bool]]:
    """Yield name, address and whether it is a candidate: the champion first, so that its twins are left out."""
    recipe = context.recipe
    if version is not None:
        yield recipe.registry.address, f"models:/{recipe.registry.model}/{version}", False
    for name in recipe.pool.agents:
        if name != recipe.registry.address:
            yield name, name, False
    if recipe.pool.newest and not kind.can_promote:
        context.console.say(f"nets of {kind.game} cannot be promoted yet: name those to be rated in pool.agents")
    elif recipe.pool.newest:
        for found in source.newest(newest_from(context), kind.game):
            yield found.name, found.address, True


def enter_agents(
    context: Context, wanted: Iterable[tuple[str, str, bool]], enter: Enter, *, least: int
) -> tuple[list[Entrant], dict[str, str]]:
    """Return who plays, and of those left out the name and why; ``wanted``: name, address, and whether it is optional.

    One that is optional and cannot play, or has the nets of another one, is left out, and the next one takes its place:
    ``pool.newest`` of them play, if there are as many. ValueError and OSError for the others, ValueError if fewer than
    ``least`` play.
    """
    entrants: list[Entrant] = []
    left_out: dict[str, str] = {}
    for name, address, is_optional in wanted:
        if sum(entrant.is_candidate for entrant in entrants) == context.recipe.pool.newest and is_optional:
            break
        if len(left_out) >= _MAX_LEFT_OUT:
            context.console.warn(f"{len(left_out)} checkpoints cannot play: older ones are not tried")
            break
        try:
            entrant = enter(context.folder, len(entrants), name, address, is_optional)
            twin = next((other.name for other in entrants if other.digest == entrant.digest), None)
            reason = f"the same nets as {twin}" if twin else None
        except (ValueError, FileNotFoundError, PermissionError) as error:  # not a full disk or a storage that is away
            if not is_optional:
                raise
            reason = str(error)
        if reason is None:
            entrants.append(entrant)
        else:
            left_out[name] = reason
            context.console.say(f"{name} does not play: {reason}")
    if len(entrants) < least:
        there = ", ".join(entrant.name for entrant in entrants) or "none"
        raise ValueError(
            f"only {len(entrants)} agents play ({there}), {least} are needed, and {newest_from(context)} has no other "
            "checkpoints: set pool.newest_from to a folder or storage with runs, or name more in pool.agents"
        )
    shutil.rmtree(context.folder / COPIES / str(len(entrants)), ignore_errors=True)  # of the last one if left out
    return entrants, left_out


def newest_from(context: Context) -> str:
    """Return the folder or storage in which checkpoints are looked for."""
    recipe = context.recipe
    own = recipe.storage.address if recipe.storage.address.startswith(BUCKET) else str(context.folder.parents[1])
    location: str = recipe.pool.newest_from or own
    return location
