"""A database of MLflow that loses everything while clients use it, as when a server starts again without its disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def forget_everything(runs: Path) -> None:
    """Leave the database empty, also without MLflow's own experiment, as after `mlflow gc`."""
    with closing(sqlite3.connect(runs / "mlflow.db")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in set(tables) - {"alembic_version", "workspaces"}:
            database.execute(f"DELETE FROM {table}")
        database.commit()
