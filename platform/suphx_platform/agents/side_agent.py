"""Agents by address in a game that is learned by Deep Monte-Carlo: scripted ones, and nets.

Nets are in a folder, in a bucket (``s3://…``) or in the model registry (``models:/…``).

>>> source = AgentSource(MlflowStore(Path("runs")))
>>> with TemporaryDirectory() as space:
...     agent = load_side_agent("models:/doudizhu@champion", candidate_game("doudizhu"), Path(space), source)
...     agent.player
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from suphx.games.candidate_game import CandidateGame, candidate_game, net_file_names
from suphx.games.game import CandidateAgent
from suphx.models.net_config import Precision
from suphx.suggestion import did_you_mean
from suphx.training.value_nets import load_value_nets
from suphx_platform.agents.agent_source import BUCKET, AgentSource, FoundCheckpoint
from suphx_platform.storage.storage import BEST, Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import PREFIX


@dataclass(frozen=True, slots=True)
class SideAgent:
    """An agent that is ready to play."""

    address: str
    player: CandidateAgent
    rules: Any | None
    """The rules that its nets learned; None of a scripted agent, which plays by any."""
    files: tuple[Path, ...] = ()
    """Of its nets."""


def load_side_agent(address: str, game: CandidateGame, folder: Path, source: AgentSource) -> SideAgent:
    """Return the agent at ``address``; arguments and errors as for ``find_side_nets``."""
    place = find_side_nets(address, game, folder, source)
    if place is None:
        return SideAgent(address, game.scripted_agent(address), None)
    trained = load_value_nets(place)
    files = tuple(place / name for name in net_file_names(game))
    return SideAgent(address, trained.player(), trained.rules, files)


def load_side_player(game_name: str, address: str, *, precision: Precision = "auto") -> CandidateAgent:
    """Return what plays of a scripted agent, or of nets in a folder here; ValueError if there are none."""
    game = candidate_game(game_name)
    if address in game.agents:
        return game.scripted_agent(address)
    return load_value_nets(_checked(address, Path(address), game)).player(precision)


def find_side_nets(address: str, game: CandidateGame, folder: Path, source: AgentSource) -> Path | None:
    """Return the folder of the nets at ``address``; None of a scripted agent.

    Nets in a bucket or in the model registry are copied to ``folder``. ValueError if there is no agent of ``game``; the
    error says what is missing.
    """
    if address in game.agents:
        return None
    is_fetched = source.fetch_folder(address, folder)
    if address.startswith(BUCKET) and not is_fetched:
        raise ValueError(
            f"{address} has no checkpoint: use what `storage.address` of a run was, its id and a stage, such as "
            "s3://bucket/runs/<run id>/learning"
        )
    return _checked(address, folder if is_fetched else Path(address), game)


def _checked(address: str, place: Path, game: CandidateGame) -> Path:
    """Return the folder of the nets at ``address`` if it has those of all seats; ValueError says what is missing."""
    if not place.is_dir():
        hint = did_you_mean(address, game.agents) or f"use {', '.join(game.agents)}, or a folder of nets"
        raise ValueError(f"{address!r} is no agent for {game.name}: {hint}".strip())
    missing = [name for name in net_file_names(game) if not (place / name).is_file()]
    if missing and address.startswith(PREFIX):
        raise ValueError(f"{address!r} has nets of another game than {game.name}: name a model of {game.name}")
    if missing:
        raise ValueError(
            f"{address!r} has no nets for {game.name} ({', '.join(missing)} missing): name a folder such as "
            "runs/RUN/learning of a finished run"
        )
    return place


def common_rules(game: CandidateGame, *agents: SideAgent) -> Any:
    """Return the rules by which all ``agents`` can play; ValueError if their nets know different moves.

    Where the rules that nets have learned differ, those of the game without options are used.
    """
    learned = [agent for agent in agents if agent.rules is not None]
    if not learned:
        return game.new_rules({})
    if not have_same_moves(game, *(agent.rules for agent in learned)):
        names = " and ".join(agent.address for agent in learned)
        raise ValueError(f"{names} learned rules with different moves: they cannot play each other")
    values = [game.rules_values(agent.rules) for agent in learned]
    common = {name: value for name, value in values[0].items() if all(own.get(name) == value for own in values)}
    return game.new_rules(common)


def have_same_moves(game: CandidateGame, *rules: Any) -> bool:
    """Tell whether all ``rules`` of ``game`` have the same moves, so that a net of one knows those of the others."""
    return len({len(game.candidate_columns(each)) for each in set(rules)}) <= 1


def newest_side_nets(game: CandidateGame, location: str, storage: StorageConfig | None = None) -> list[FoundCheckpoint]:
    """Return all nets of ``game``, newest first, of a folder of runs or of the storage ``s3://…``.

    Only nets of finished trainings are found: a training that goes on has no files of them yet.
    """
    if location.startswith(BUCKET):
        found = list(_stored_nets(game, replace(storage or StorageConfig(), address=location.rstrip("/"))))
    else:
        found = list(_nets_of_runs(game, Path(location)))
    return sorted(found, key=lambda each: (each.saved, each.name), reverse=True)


def _nets_of_runs(game: CandidateGame, runs: Path) -> Iterator[FoundCheckpoint]:
    """Yield the stages ``<run id>/<stage>`` that have the nets of all seats."""
    names = net_file_names(game)
    for folder in sorted({path.parent for path in runs.glob(f"*/*/{names[0]}")}):
        files = [folder / name for name in names]
        if all(file.is_file() for file in files):
            saved = max(file.stat().st_mtime for file in files)
            yield FoundCheckpoint(folder.relative_to(runs).as_posix(), str(folder), saved)


def _stored_nets(game: CandidateGame, config: StorageConfig) -> Iterator[FoundCheckpoint]:
    """Yield the names of a storage whose newest version has the nets of all seats."""
    storage = Storage(config)
    for name in storage.names():
        versions = storage.versions(name) if name.rpartition("/")[2] != BEST else []
        if versions and all(file in versions[-1].files for file in net_file_names(game)):
            yield FoundCheckpoint(name, f"{config.address}/{name}", versions[-1].saved)
