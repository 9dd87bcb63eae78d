"""The store of games that nets learn from, as the stages of a run open it."""

from __future__ import annotations

from pathlib import Path

from suphx.games.riichi import KyokuStore


def open_store(folder: Path) -> KyokuStore:
    """Return the store in ``folder``; ValueError if there is none, or one of another version."""
    return KyokuStore.open(folder)
