"""Agents by address in a game that is learned by Deep Monte-Carlo: scripted ones, and nets in a folder or a bucket.

>>> with TemporaryDirectory() as space:
...     agent = load_side_agent("runs/RUN/learning", candidate_game("doudizhu"), Path(space))
...     agent.player
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from suphx.games.candidate_game import CandidateGame, Player
from suphx.suggestion import did_you_mean
from suphx.training.monte_carlo.value_nets import file_names, load_value_nets
from suphx_platform.agents.agent_source import BUCKET
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig


@dataclass(frozen=True, slots=True)
class SideAgent:
    """An agent that is ready to play."""

    address: str
    player: Player
    rules: Any | None
    """The rules that its nets learned; None of a scripted agent, which plays by any."""


def load_side_agent(address: str, game: CandidateGame, folder: Path) -> SideAgent:
    """Return the agent at ``address``; what is in a bucket is copied into ``folder``.

    ValueError if there is none of ``game``; the error says what is missing.
    """
    if address in game.agents:
        return SideAgent(address, game.scripted_player(address), None)
    place = _fetched(address, folder) if address.startswith(BUCKET) else Path(address)
    if not place.is_dir():
        hint = did_you_mean(address, game.agents) or f"use {', '.join(game.agents)}, or a folder of nets"
        raise ValueError(f"{address!r} is no agent for {game.name}: {hint}".strip())
    missing = [name for name in file_names(game) if not (place / name).is_file()]
    if missing:
        raise ValueError(
            f"{address!r} has no nets for {game.name} ({', '.join(missing)} missing): name a folder such as "
            "runs/RUN/learning of a finished run"
        )
    trained = load_value_nets(place)
    return SideAgent(address, trained.player(), trained.rules)


def common_rules(game: CandidateGame, *agents: SideAgent) -> Any:
    """Return the rules by which all ``agents`` can play; ValueError if their nets know different moves."""
    learned = [agent for agent in agents if agent.rules is not None]
    if not learned:
        return game.new_rules({})
    sizes = {len(game.candidate_columns(agent.rules)) for agent in learned}
    if len(sizes) > 1:
        names = " and ".join(agent.address for agent in learned)
        raise ValueError(f"{names} learned rules with different moves: they cannot play each other")
    return learned[0].rules


def _fetched(address: str, folder: Path) -> Path:
    bucket, _, name = address.removeprefix(BUCKET).strip("/").partition("/")
    storage = Storage(replace(StorageConfig(), address=BUCKET + bucket))
    if not name or storage.load_newest(name, folder) is None:
        raise ValueError(
            f"{address} has no checkpoint: use what `storage.address` of a run was, its id and a stage, such as "
            "s3://bucket/runs/<run id>/learning"
        )
    return folder
