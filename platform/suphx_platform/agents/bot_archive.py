"""An agent as a zip for arenas that run submitted bots: that of the game, or for mjai bot.py, the code and the nets.

mjai.app starts ``python bot.py SEAT`` in the unpacked folder; an archive may have 1000 MB.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.games.registry import GAMES, agent_names, find_game, load_game
from suphx.selfplay.agents.checkpoint_folder import WEAK, find_checkpoints, find_nets, split_address
from suphx_platform.agents import bot_script
from suphx_platform.agents.agent_forms import split_wrapper
from suphx_platform.code_archive import Contents, code_files, pinned, write_zip

MAX_BYTES = 1000 * 1000 * 1000
"""Of a submission to mjai.app."""
REQUIREMENTS = ("lazy-loader", "numba", "numpy", "safetensors", "torch")


@dataclass(frozen=True, slots=True)
class WrittenBot:
    """What was written."""

    names: tuple[str, ...]
    """Files in the archive."""
    data: tuple[Path, ...]
    """Files beside the archive, for which it had no room."""


def write_bot(address: str, path: Path, game: str) -> WrittenBot:
    """Write the archive of an agent on this machine.

    ``address``: a scripted agent, a folder of checkpoints with its options, or an adapting one. What has no room in the
    archive is written beside it. ValueError if a checkpoint is missing, for options that a bot does not have, if no
    arena plays the game, and if the archive is larger than arenas take; then nothing is left.
    """
    program, more, max_bytes = _bot_files(address, game)
    data: Mapping[str, bytes] = {}
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        write_zip(part, {**program, **more})
        if more and part.stat().st_size > max_bytes:
            data = more
            write_zip(part, program)
        if (size := part.stat().st_size) > max_bytes:
            raise ValueError(f"{path} would have {size:,} bytes, but arenas take {max_bytes:,}: use smaller nets")
        beside = {path.with_name(name): content for name, content in data.items()}
        for place, content in beside.items():
            write_atomically(place, [content])
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    names = program if data else {**program, **more}
    return WrittenBot(tuple(sorted(names)), tuple(beside))


def _bot_files(address: str, game: str) -> tuple[Contents, Mapping[str, bytes], int]:
    """Return what the archive has, what may be beside it, and how large it may be."""
    entry = find_game(game)
    if entry.has_mjai:
        return _mjai_files(address, game), {}, MAX_BYTES
    bot = load_game(game).bot
    if bot is None:
        titles = [each.title for name, each in GAMES.items() if each.has_mjai or load_game(name).bot is not None]
        raise ValueError(f"no arena is known that runs bots of {entry.title}: use {', '.join(titles)}")
    place, words = split_address(address)
    if words - {WEAK}:
        raise ValueError(f"{address!r}: a bot of {entry.title} plays what is most probable: leave the options out")
    files = bot.files(place, find_nets(address, game))
    return files.program, files.data, bot.max_bytes


def _mjai_files(address: str, game: str) -> Contents:
    wrapper, nets = split_wrapper(address)
    place, words = split_address(nets)
    is_scripted = place in agent_names(game)
    options = f":{','.join(sorted(words))}" if words else ""
    texts = {
        bot_script.AGENT_FILE: place if is_scripted else f"{wrapper}{{{bot_script.NETS}}}{options}",
        "requirements.txt": "".join(f"{line}\n" for line in pinned(REQUIREMENTS)),
    }
    files = {"bot.py": Path(bot_script.__file__), **code_files()}
    if not is_scripted:
        found = find_checkpoints(Path(place), game=game, is_weak=WEAK in words)
        files |= {f"{bot_script.NETS}/{each.name}": each for each in found}
    return {**{name: text.encode() for name, text in texts.items()}, **files}
