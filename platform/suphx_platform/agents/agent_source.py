"""Where agents come from: names from outside this machine become addresses that ``load_agent`` takes.

>>> source = AgentSource(MlflowStore(Path("runs")))
>>> source.fetch("models:/suphx@champion", folder, "riichi")  # copies the nets into the folder
>>> source.fetch("ukeire", folder, "riichi")  # "ukeire": nothing to do
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from suphx.games.registry import decision_names
from suphx.models.net_config import checkpoint_name
from suphx.selfplay.agents.checkpoint_folder import (
    INITIAL,
    checkpoint_names,
    find_checkpoints,
    has_nets,
    split_address,
)
from suphx_platform.agents.agent_forms import is_program, split_wrapper
from suphx_platform.storage.manifest import CheckpointVersion
from suphx_platform.storage.storage import BEST, Storage
from suphx_platform.storage.storage_config import STORAGE_SCHEMES, StorageConfig
from suphx_platform.tracking import model_registry
from suphx_platform.tracking.logged_models import PREFIX
from suphx_platform.tracking.mlflow_store import MlflowStore


@dataclass(frozen=True, slots=True)
class FoundCheckpoint:
    """Nets that a run has left, or is still learning."""

    name: str
    """``<run id>/<stage>``."""
    address: str
    """What ``AgentSource.fetch`` takes."""
    saved: float
    """When, in seconds since 1970."""


class AgentSource:
    """Copies nets here from a bucket or the model registry."""

    def __init__(self, store: MlflowStore, storage: StorageConfig | None = None) -> None:
        """``storage`` says how buckets are reached; its address does not matter."""
        self._store = store
        self._storage = storage or StorageConfig()
        self.stored: dict[str, list[str]] = {}
        """Versions in a bucket that were copied, by the address that was given."""

    def fetch(self, address: str, folder: Path, game: str) -> str:
        """Return ``address`` as that of an agent here, the nets that it names copied into ``folder`` if elsewhere.

        ValueError if there is nothing of that name.
        """
        if is_program(address):
            return address
        wrapper, nets = split_wrapper(address)
        if wrapper:
            return wrapper + self.fetch(nets, folder, game)
        location, words = split_address(address)
        if location.startswith(PREFIX):
            model_registry.fetch_model(self._store, location, folder)
            if not any(has_nets(folder, game=game, is_weak=is_weak) for is_weak in (False, True)):
                raise ValueError(f"{address!r} has nets of another game than {game}: name a model of {game}")
        elif location.startswith(STORAGE_SCHEMES):
            scheme, _, path = location.partition("://")
            bucket, _, name = path.strip("/").partition("/")
            storage, name = Storage(replace(self._storage, address=f"{scheme}://{bucket}")), name.strip("/")
            found = fetch_stored(storage, name, folder, game)
            self.stored[address] = [f"{storage.config.address}/{version.path}" for version in found]
        else:
            return address
        return f"{folder}:{','.join(sorted(words))}" if words else str(folder)

    def check(self, location: str) -> None:
        """Raise ValueError if ``location`` is not a folder, OSError if it is a storage that does not answer."""
        if location.startswith(STORAGE_SCHEMES):
            Storage(replace(self._storage, address=location.rstrip("/"))).reach()
        elif not Path(location).is_dir():
            raise ValueError(
                f"{location} is not a folder of runs: check the path, or name a storage (s3://bucket/prefix)"
            )

    def newest(self, location: str, game: str) -> list[FoundCheckpoint]:
        """Return all nets of a game, newest first, of a folder of runs or of the storage ``s3://…``."""
        if location.startswith(STORAGE_SCHEMES):
            location = location.rstrip("/")
            found = list(stored_checkpoints(Storage(replace(self._storage, address=location)), game))
            found = [replace(each, address=f"{location}/{each.name}") for each in found]
        else:
            found = list(checkpoints_of_runs(Path(location), game))
        return sorted(found, key=lambda each: (each.saved, each.name), reverse=True)


_STAGES = ("*", "agent_comparison/*")
"""Patterns of folders of agents in that of a run."""


def checkpoints_of_runs(runs: Path, game: str) -> Iterator[FoundCheckpoint]:
    """Yield the stages ``<run id>/<stage>`` of a folder of runs that have all nets of a game, also compared agents."""
    if not (names := decision_names(game)):
        return
    first, file = names[0], checkpoint_name(names[0])
    folders = [path.parent for stage in _STAGES for path in runs.glob(f"*/{stage}/{file}")]
    folders += [path.parent.parent for path in runs.glob(f"*/*/{first}/{file}")]
    for folder in sorted(set(folders)):
        is_hidden = any(part.startswith(".") for part in folder.relative_to(runs).parts)  # .reinforcement.replaced
        if is_hidden or folder.name == INITIAL:  # nets of others
            continue
        with suppress(ValueError):  # of a stage that has not learned them all yet
            saved = max(file.stat().st_mtime for file in find_checkpoints(folder, game=game))
            yield FoundCheckpoint(folder.relative_to(runs).as_posix(), str(folder), saved)


def stored_checkpoints(storage: Storage, game: str) -> Iterator[FoundCheckpoint]:
    """Yield the names of a storage whose newest version has all nets of a game; ``address`` is the name."""
    newest = {name: versions[-1] for name in storage.names() if (versions := storage.versions(name))}
    nets = {decision: checkpoint_name(decision) for decision in decision_names(game)}
    for name, version in newest.items():
        parent, _, last = name.rpartition("/")
        if last in (BEST, INITIAL):  # nets that the stage itself has, or had; those of another run
            continue
        if all(file in version.files for file in nets.values()):
            yield FoundCheckpoint(name, name, version.saved)
        elif last == next(iter(nets)):
            stages = {decision: newest.get(f"{parent}/{decision}") for decision in nets}
            found = [each for net, each in stages.items() if each is not None and nets[net] in each.files]
            if len(found) == len(nets):
                yield FoundCheckpoint(parent, parent, max(each.saved for each in found))


def fetch_stored(storage: Storage, name: str, folder: Path, game: str) -> list[CheckpointVersion]:
    """Copy the nets of a game that a storage has under ``name``, or under ``name/<decision>``, into ``folder``.

    Weak ones that are beside them are copied too, nothing else. Returns where they came from. Of ``…/best`` these are
    the nets that were the strongest in a match, of all other names the newest. ValueError if there are none;
    FileNotFoundError if a run removes its versions faster than they are fetched.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    files = (*checkpoint_names(game=game), *checkpoint_names(is_weak=True, game=game))
    if name.rpartition("/")[2] == BEST:
        scored = [version for version in storage.versions(name) if version.score is not None]
        whole = storage.load_first(sorted(scored, key=lambda version: version.score or 0.0)[::-1], folder, files=files)
    else:
        whole = storage.load_newest(name, folder, files=files) if name else None
    if whole is not None:
        return [whole]
    found = []
    for decision in decision_names(game):
        folder.mkdir(exist_ok=True)
        version = storage.load_newest(f"{name}/{decision}", folder / decision, files=files)
        if version is None:
            raise ValueError(
                f"{storage.config.address}/{name} has no checkpoint of the {decision} net: use what `storage.address` "
                "of a run was, its id and a stage, such as s3://bucket/runs/<run id>/supervised"
            )
        found.append(version)
    return found
