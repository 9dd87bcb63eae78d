"""Folders with a checkpoint for each kind of decision, and their addresses: ``runs/a/supervised:weak,sampled``."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from suphx.games.registry import agent_names, decision_names
from suphx.models.net_config import ActionSelection, checkpoint_name

WEAK = "weak"
INITIAL = "initial_agent"
"""Folder in that of a run: copies of the nets of the agent that the run began with."""

WORDS = (WEAK, *get_args(ActionSelection))


def split_address(address: str) -> tuple[str, set[str]]:
    """Return the location and the options after its colon; a colon before anything else belongs to the location.

    ValueError for options that exclude each other.
    """
    location, _, text = address.rpartition(":")
    words = set(text.split(","))
    if not location or not words <= set(WORDS):
        return address, set()
    if len(words - {WEAK}) > 1:
        raise ValueError(
            f"{address!r} has two ways to select actions: use one of {', '.join(get_args(ActionSelection))}"
        )
    return location, words


def find_folder(address: str, game: str) -> tuple[Path, set[str]]:
    """Return the folder that the address of nets names, and the options behind it; ValueError if there is none."""
    names = decision_names(game)
    if not names:
        raise ValueError(
            f"{address!r} is not an agent of {game}, which has no nets: use {', '.join(agent_names(game))}"
        )
    location, words = split_address(address)
    folder = Path(location)
    if not folder.is_dir():
        raise ValueError(
            f"{address!r} is not an agent: name a scripted one ({', '.join(agent_names(game))}) or a folder with a "
            f"checkpoint for each head ({names[0]}.safetensors …), behind it perhaps "
            f"{', '.join(':' + word for word in WORDS)}"
        )
    return folder, words


def checkpoint_names(*, game: str, is_weak: bool = False) -> tuple[str, ...]:
    """Return the file name of the checkpoint of each decision: an agent's nets."""
    return tuple(checkpoint_name(decision, is_weak=is_weak) for decision in decision_names(game))


def find_checkpoint(folder: Path, decision: str, *, is_weak: bool) -> Path:
    """Return the path of the checkpoint of a decision, in ``folder`` or in a folder of its name; ValueError if none."""
    name = checkpoint_name(decision, is_weak=is_weak)
    for path in (folder / name, folder / decision / name):
        if path.is_file():
            return path
    raise ValueError(f"{folder} has no checkpoint of the {decision} net: expected {name} or {decision}/{name} in it")


def find_checkpoints(folder: Path, *, game: str, is_weak: bool = False) -> list[Path]:
    """Return the path of the checkpoint of each decision, in ``folder`` or in a folder of its name.

    ValueError if one is missing, or if the game has no nets.
    """
    if not (decisions := decision_names(game)):
        raise ValueError(f"{folder} is not an agent of {game}, which has no nets: use {', '.join(agent_names(game))}")
    return [find_checkpoint(folder, decision, is_weak=is_weak) for decision in decisions]


def find_nets(address: str, game: str) -> list[Path]:
    """Return the path of each checkpoint of an agent as ``load_agent`` takes it, none of a scripted agent.

    ValueError if one is missing.
    """
    if address in agent_names(game):
        return []
    location, words = split_address(address)
    return find_checkpoints(Path(location), is_weak=WEAK in words, game=game)


def weak_address(folder: Path, game: str) -> str:
    """Return the address of the nets of an early step in ``folder``; that of its nets if it has none."""
    return f"{folder}:{WEAK}" if has_nets(folder, is_weak=True, game=game) else str(folder)


def has_nets(folder: Path, *, game: str, is_weak: bool = False) -> bool:
    """Tell whether a folder has a checkpoint for each kind of decision."""
    try:
        find_checkpoints(folder, is_weak=is_weak, game=game)
    except ValueError:
        return False
    return True
