"""An agent as a zip for arenas that run submitted bots, such as mjai.app: bot.py, the code, the nets.

mjai.app starts ``python bot.py SEAT`` in the unpacked folder; an archive may have 1000 MB.
"""

from __future__ import annotations

import os
import zipfile
from importlib.metadata import version
from pathlib import Path

import suphx
import suphx_platform
from suphx.games.registry import agent_names
from suphx.selfplay.agents.checkpoint_folder import WEAK, find_checkpoints, split_address
from suphx_platform.agents import bot_script
from suphx_platform.agents.agent_forms import split_wrapper

MAX_BYTES = 1000 * 1000 * 1000
"""Of a submission to mjai.app."""
REQUIREMENTS = ("lazy-loader", "numba", "numpy", "safetensors", "torch")
_DATE = (1980, 1, 1, 0, 0, 0)  # so that equal contents give equal archives


def write_bot(address: str, path: Path) -> list[str]:
    """Write the archive of an agent on this machine; return the names in it.

    ``address``: a scripted agent, a folder of checkpoints with its options, or an adapting one. ValueError if a
    checkpoint is missing, or if the archive is larger than MAX_BYTES; then nothing is left.
    """
    wrapper, nets = split_wrapper(address)
    place, words = split_address(nets)
    is_scripted = place in agent_names("riichi")
    options = f":{','.join(sorted(words))}" if words else ""
    texts = {
        bot_script.AGENT_FILE: place if is_scripted else f"{wrapper}{{{bot_script.NETS}}}{options}",
        "requirements.txt": "".join(f"{name}=={version(name).partition('+')[0]}\n" for name in REQUIREMENTS),
    }
    files = {"bot.py": Path(bot_script.__file__)}
    for package in (suphx, suphx_platform):
        folder = Path(str(package.__file__)).parent
        code = [each for each in folder.rglob("*") if each.is_file() and each.suffix != ".pyc"]
        files |= {f"{folder.name}/{each.relative_to(folder).as_posix()}": each for each in code}
    if not is_scripted:
        found = find_checkpoints(Path(place), game="riichi", is_weak=WEAK in words)
        files |= {f"{bot_script.NETS}/{each.name}": each for each in found}
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(_entry(name), text)
            for name, file in sorted(files.items()):
                archive.writestr(_entry(name), file.read_bytes())
            names = archive.namelist()
        if (size := part.stat().st_size) > MAX_BYTES:
            raise ValueError(f"{path} would have {size:,} bytes, but arenas take {MAX_BYTES:,}: use smaller nets")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return names


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry
