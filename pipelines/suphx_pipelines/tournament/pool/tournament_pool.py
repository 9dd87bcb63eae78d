"""The pool stage of a tournament: who plays tonight, their nets copied, so that nothing changes until it is over.

Leaves ``pool.json``, the nets under ``agents/<number in the pool>``, the games of earlier nights in ``history.json``,
and ``note.md``: the links to earlier nights for MLflow.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from suphx.evaluation.rating.tournament import SEATS
from suphx.models.checkpoint import load_header
from suphx.models.net_config import HEAD_NAMES
from suphx.selfplay.agents.checkpoint_folder import WEAK, checkpoint_names, find_checkpoint, split_address
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_pipelines.runs.stage import StageContext, write_note
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.tournament.pool.candidate_versions import CandidateVersions, mark_named
from suphx_pipelines.tournament.pool.game_code import GameCode
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_history import earlier_nights, history_json
from suphx_platform.agents.agent_forms import split_wrapper
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.agent_source import BUCKET, AgentSource, FoundCheckpoint
from suphx_platform.tracking.model_registry import ModelRegistry
from suphx_platform.tracking.tracking_ui import artifact_pages

HISTORY_NAME = "history.json"
"""The games and ratings of earlier nights, as they were when the night began."""
POOL_NAME = "pool.json"
_LINKED_NIGHTS = 30
"""The newest ones have a link in MLflow, whose descriptions are short."""
Context = StageContext[TournamentRecipe]


FILES: Mapping[str, str] = {
    "pool.json, agents/<n>/": (
        "`entrants` [{name, address, digest, is_candidate, stored [versions in the storage]}], `champion` (its "
        "index among them) and `version` (in the registry) or null, `left_out` {name: reason}, `opponent` (an entrant "
        "that only plays the deciding match, or null); the nets"
    ),
    "history.json": (
        "games of earlier nights as they were when the night began: `rules`, `engine`, `agents` and `games` as in "
        "`leaderboard/games.json`, `nights` as in `leaderboard/table.json`"
    ),
    "note.md": (
        "additional text for the description of the run in MLflow: where the live page is, links to the reports of "
        "earlier nights"
    ),
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """An agent of the pool."""

    name: str
    """In tables."""
    address: str
    """For ``load_agent``, as seen from the stage's folder where the nets are copied there."""
    digest: str
    """Of the nets that play, the early ones of ``:weak``; the address where there are none."""
    is_candidate: bool = False
    """One of the newest checkpoints: may become the champion."""
    stored: tuple[str, ...] = ()
    """Versions in a storage that the nets were copied from."""

    @property
    def has_nets(self) -> bool:
        """Whether its nets were copied; a scripted agent and an outside program have none."""
        return split_wrapper(self.address)[1].startswith(COPIES)

    def address_in(self, folder: Path) -> str:
        """Return the address with the stage's folder in front of copied nets."""
        wrapper, nets = split_wrapper(self.address)
        return f"{wrapper}{folder / nets}" if self.has_nets else self.address

    def nets_in(self, folder: Path) -> Path:
        """Return the folder of copied nets."""
        return folder / split_address(split_wrapper(self.address)[1])[0]

    def net_agent_in(self, folder: Path) -> str:
        """Return the address of the agent of the copied nets, whatever wraps it and however it selects actions."""
        _, words = split_address(split_wrapper(self.address)[1])
        return f"{self.nets_in(folder)}{f':{WEAK}' if WEAK in words else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What ``pool.json`` says."""

    entrants: tuple[Entrant, ...]
    champion: int | None
    """Number of the champion in the pool; None if there is none."""
    version: str | None
    """Of the champion in the model registry."""
    left_out: dict[str, str]
    """Name of an agent that could not play, and why."""
    opponent: Entrant | None = None
    """Of the deciding match while there is no champion; it does not play on the leaderboard."""


_MAX_LEFT_OUT = 50
"""Checkpoints that cannot play are fetched all the same; with so many, something else is wrong."""
COPIES = "agents/"
"""Where the nets of the pool are, in the stage's folder."""
Enter = Callable[[Path, int, str, str, bool], Entrant]
"""Copies the nets of an agent into the folder: (folder, number in the pool, name, address, whether it is optional)."""


def run(context: Context) -> dict[str, float]:
    """Settle who plays. ValueError for an unknown agent or fewer than four."""
    recipe = context.recipe
    source = AgentSource(context.tracker.store, recipe.storage)
    check_newest_from(context, source, source.newest)
    version = ModelRegistry(context.tracker.store, recipe.registry).champion()
    entrants, left_out = enter_agents(context, _wanted(context, source, version), partial(_enter, source), least=SEATS)
    CandidateVersions(source, recipe.name, context.console.warn).pin(entrants)
    names = [entrant.name for entrant in entrants]
    champion = names.index(recipe.registry.address) if version else None
    named = recipe.decision.opponent if version is None else ""
    opponent = _enter(source, context.folder, len(entrants), named, named, False) if named else None
    pool = Pool(entrants=tuple(entrants), champion=champion, version=version, left_out=left_out, opponent=opponent)
    write_json(context.folder / POOL_NAME, asdict(pool))
    mark_named(context.tracker.store, recipe, context.console.warn)
    write_earlier_nights(context, riichi_code())
    return {"agents": len(entrants), "candidates": sum(entrant.is_candidate for entrant in entrants)}


def enter_agents(
    context: StageContext[Any], wanted: Iterable[tuple[str, str, bool]], enter: Enter, *, least: int
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


def empty_folders(folder: Path, number: int) -> tuple[Path, Path]:
    """Return where the nets of an agent are copied and where they are fetched, without the remains of another one."""
    copy, space = folder / COPIES / str(number), folder / COPIES / f"fetched-{number}"
    for remains in (copy, space):
        shutil.rmtree(remains, ignore_errors=True)  # of one that did not play, or of a killed attempt
    return copy, space


def digest_of_files(paths: Iterable[Path]) -> str:
    """Return one digest of the contents of files, in their order."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def write_earlier_nights(context: StageContext[Any], code: GameCode) -> None:
    """Write ``history.json`` and ``note.md``; ``code``: of the game. OSError of the storage."""
    recipe, folder = context.recipe, context.folder
    earlier = earlier_nights(recipe.name, folder.parent.name, folder.parents[1], recipe.storage, code)
    write_json(folder / HISTORY_NAME, history_json(earlier, code))
    pages = artifact_pages(context.tracker.store, f"{recipe.name}-", REPORT_NAME)
    write_note(folder, night_note(earlier.nights, pages))


def night_note(nights: Sequence[Mapping[str, Any]], pages: Mapping[str, str]) -> str:
    """Return what the description of the run in MLflow says from the beginning on, in Markdown.

    ``pages``: address of the report by run. A night that was tracked elsewhere is named without a link.
    """
    texts = ["Under *Artifacts*: `live.html` is written every minute while games are played."]
    shown = [
        f"[{night['night']}]({pages[night['run']]})" if night["run"] in pages else night["night"]
        for night in nights[: -_LINKED_NIGHTS - 1 : -1]
    ]
    texts += [f"Reports of earlier nights: {', '.join(shown)}"] if shown else []
    return "\n\n".join(texts)


def read_pool(folder: Path) -> Pool:
    """Return what the stage has left in ``folder``."""
    return pool_of(read_json(folder / POOL_NAME))


def pool_of(file: Mapping[str, Any]) -> Pool:
    """Return the pool of the values of a ``pool.json``."""
    values = dict(file)
    opponent = values.pop("opponent", None)
    entrants = tuple(map(_entrant_of, values.pop("entrants")))
    return Pool(entrants=entrants, opponent=_entrant_of(opponent) if opponent else None, **values)


def _entrant_of(values: Mapping[str, Any]) -> Entrant:
    return Entrant(**{**values, "stored": tuple(values.get("stored", ()))})


def deciding_pair(
    pool: Pool, rows: Sequence[Mapping[str, Any]], folder: Path, opponent: str
) -> tuple[Entrant | None, str, dict[str, Any]]:
    """Return who plays the deciding match: the candidate or None, the address of its opponent, and both names.

    ``rows``: agents of the leaderboard, the strongest first. ``folder``: of the pool. ``opponent``: address of the one
    while there is no champion, if the pool has no copy of it; empty for none. The names are the keys ``candidate`` and
    ``opponent``, perhaps None.
    """
    best = next((row["name"] for row in rows if row["is_candidate"]), None)
    candidate = next((entrant for entrant in pool.entrants if entrant.name == best), None)
    other = pool.opponent if pool.champion is None else pool.entrants[pool.champion]
    names = {"candidate": best, "opponent": other.name if other else opponent or None}
    return candidate, other.address_in(folder) if other else opponent, names


def _wanted(context: Context, source: AgentSource, version: str | None) -> Iterator[tuple[str, str, bool]]:
    """Yield name, address and whether it is a candidate: the champion first, so that its twins are left out."""
    recipe = context.recipe
    if version is not None:
        yield recipe.registry.address, f"models:/{recipe.registry.model}/{version}", False
    for name in recipe.pool.agents:
        if name != recipe.registry.address:
            yield name, name, False
    if recipe.pool.newest:
        for found in source.newest(newest_from(context)):
            yield found.name, found.address, True


def check_newest_from(
    context: StageContext[Any], source: AgentSource, newest: Callable[[str], Sequence[FoundCheckpoint]]
) -> None:
    """Raise ValueError or OSError if the place of new checkpoints is wrong; warn if one that the recipe names has none.

    ``newest``: returns the checkpoints of the game in a place.
    """
    location, pool = newest_from(context), context.recipe.pool
    if not pool.newest:
        return
    try:
        source.check(location)
    except ValueError as error:
        raise ValueError(f"pool.newest_from: {error}") from error
    if pool.newest_from and not newest(location):
        context.console.warn(f"pool.newest_from: {location} has no checkpoint with all nets: nobody can be promoted")


def newest_from(context: StageContext[Any]) -> str:
    """Return the folder or storage in which checkpoints are looked for."""
    recipe = context.recipe
    own = recipe.storage.address if recipe.storage.address.startswith(BUCKET) else str(context.folder.parents[1])
    location: str = recipe.pool.newest_from or own
    return location


def _enter(source: AgentSource, folder: Path, number: int, name: str, address: str, is_candidate: bool) -> Entrant:
    """Copy the nets of an agent, if it has any, and see that it can play."""
    copy, space = empty_folders(folder, number)
    wrapper, nets = split_wrapper(address)
    fetched, words = split_address(source.fetch(nets, space))
    is_net = Path(fetched).is_dir()
    if is_net:
        _copy_nets(Path(fetched), copy)
        shutil.rmtree(space, ignore_errors=True)
        fetched = f"{COPIES}{number}"
    told = ",".join(sorted(words))
    entrant = Entrant(
        name=name,
        address=f"{wrapper}{fetched}{told and ':'}{told}",
        digest=address,
        is_candidate=is_candidate,
        stored=tuple(source.stored.get(nets, ())),
    )
    load_any_agent(entrant.address_in(folder))
    files = [copy / file for file in checkpoint_names(is_weak=WEAK in words)]
    if is_net:
        entrant = replace(entrant, digest=wrapper + digest_of_files(files) + ",".join(sorted(words - {WEAK})))
    if is_candidate and any(load_header(file).net.num_oracle_planes for file in files):
        raise ValueError("it sees what is hidden from players")
    return entrant


def _copy_nets(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for head in HEAD_NAMES:
        shutil.copy2(find_checkpoint(source, head, is_weak=False), target)
        try:
            weak = find_checkpoint(source, head, is_weak=True)
        except ValueError:  # not every training leaves weak ones
            continue
        shutil.copy2(weak, target)
