"""A new database of MLflow appears whole: MLflow makes its tables in many steps, and cannot repair half of them."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from suphx_platform.tracking.client.mlflow_client import quiet_client


def make_database(path: Path) -> None:
    """Let MLflow create the sqlite database ``path`` unless it is there; OSError if the folder cannot be written.

    A process that is stopped meanwhile leaves none. Of two that create it at once, the first one's stays.
    """
    if path.exists():
        return
    with TemporaryDirectory(dir=path.parent, prefix=".mlflow-", ignore_cleanup_errors=True) as space:
        new = Path(space) / path.name
        store = quiet_client(f"sqlite:///{new}")._tracking_client.store
        store.search_experiments(max_results=1)
        store.engine.dispose()
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            new.replace(path)
