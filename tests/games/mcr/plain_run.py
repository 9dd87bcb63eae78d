"""Runs scripts without the compiler on positions of tables; as a script, prints a digest of what nets see there.

As in the player for Botzone, a table is then an object of Python numbers and of arrays of them.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mcr.features import LAYOUT, encode, fill_mask, forced_move, kind_of
from suphx.games.mcr.names import DECISIONS
from suphx.games.mcr.table import TABLE
from suphx.kernel.record import Records
from tests.repository import REPOSITORY


def run_plain(module: str, tables: Records, folder: Path) -> str:
    """Return what a module prints as a script that gets ``tables`` by ``given_tables``, without a word on the way."""
    np.save(folder / "tables.npy", tables.view(np.uint8))
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-m", module, str(folder / "tables.npy")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert not finished.stderr
    return finished.stdout


def given_tables() -> list[Any]:
    """Return the tables of ``run_plain``."""
    return [plain(table) for table in np.load(sys.argv[1]).view(TABLE)]


def plain(table: np.void) -> Any:
    """Return a table record as such an object."""
    assert TABLE.names is not None
    fields = {name: table[name] for name in TABLE.names}
    return SimpleNamespace(
        **{
            name: value.astype(object) if isinstance(value, np.ndarray) else int(value)
            for name, value in fields.items()
        }
    )


def encoded(tables: Any) -> str:
    """Return a digest of what nets see and may choose at ``tables``."""
    digest = hashlib.sha256()
    for table in tables:
        kind, row = kind_of(table), np.zeros(LAYOUT.observation_bytes, np.uint8)
        mask = np.zeros(DECISIONS[kind].num_choices, np.uint8)
        encode(table, load_suits(), row)
        fill_mask(table, kind, mask)
        digest.update(bytes([kind, forced_move(table) % 256]) + row.tobytes() + mask.tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    print(encoded(given_tables()))
