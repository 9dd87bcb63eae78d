"""Agents on their way to another machine: addresses, and the checkpoints that these name.

>>> packed = PackedAgents.pack(plan)
>>> with packed.unpacked() as addresses:  # there
...     agents = replace(plan, addresses=addresses).load_agents()
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suphx.evaluation.workers.play_plan import PlayPlan
from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx_platform.agents.agent_forms import is_program, split_wrapper


@dataclass(frozen=True, slots=True)
class PackedAgents:
    """Addresses of agents, and the files of their nets. A program stays a command line: the machine must have it."""

    addresses: tuple[str, ...]
    files: Mapping[str, Mapping[str, bytes]]
    """Folder of checkpoints -> name of a file -> content; nets of several agents are there once."""

    @classmethod
    def pack(cls, plan: PlayPlan) -> PackedAgents:
        """Read the nets of the agents of a plan. ValueError if one is missing, OSError if it cannot be read."""
        files: dict[str, dict[str, bytes]] = {}
        for address in plan.addresses:
            folder, words = (None, set[str]()) if address in plan.scripted_agents else _folder(address)
            if folder is None:
                continue
            content = files.setdefault(folder, {})
            for path in plan.net_files(Path(folder), words):
                if path.name not in content:
                    content[path.name] = path.read_bytes()
        return cls(plan.addresses, files)

    @contextmanager
    def unpacked(self) -> Iterator[tuple[str, ...]]:
        """Yield the addresses on this machine; the files are removed at the end of the block."""
        with tempfile.TemporaryDirectory(prefix="suphx-agents-") as space:
            places = {folder: Path(space, str(number)) for number, folder in enumerate(self.files)}
            for folder, place in places.items():
                place.mkdir()
                for name, content in self.files[folder].items():
                    (place / name).write_bytes(content)
            yield tuple(_moved(address, places) for address in self.addresses)


def _folder(address: str) -> tuple[str | None, set[str]]:
    """Return the folder of an agent's checkpoints (None: it has none) and the options of its address."""
    if is_program(address):
        return None, set()
    location, words = split_address(split_wrapper(address)[1])
    return (location if Path(location).is_dir() else None), words


def _moved(address: str, places: Mapping[str, Path]) -> str:
    if is_program(address):
        return address
    wrapper, nets = split_wrapper(address)
    location, words = split_address(nets)
    if location not in places:
        return address
    return f"{wrapper}{places[location]}{':' if words else ''}{','.join(sorted(words))}"
