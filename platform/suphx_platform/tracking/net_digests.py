"""The SHA-256 of nets, by which a file that is damaged or was replaced is found before it is loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path


def net_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each net in a folder, by file name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.safetensors"))}


def differences(found: Mapping[str, str], recorded: Mapping[str, str]) -> list[str]:
    """Return a phrase for each file that is not as ``recorded``, such as ``chow.safetensors is missing``."""
    told = []
    for name in sorted(found.keys() | recorded.keys()):
        if name not in found:
            told.append(f"{name} is missing")
        elif name not in recorded:
            told.append(f"{name} was added")
        elif found[name] != recorded[name]:
            told.append(f"{name} has the SHA-256 {found[name]} instead of {recorded[name]}")
    return told
