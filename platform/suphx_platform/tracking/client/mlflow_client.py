"""MLflow's client, without what it sends and prints by itself."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from suphx_platform.tracking.client.mlflow_call import QUIET

if TYPE_CHECKING:
    from mlflow import MlflowClient


def quiet_client(uri: str) -> MlflowClient:
    """Return a client of MLflow that sends no telemetry and prints nothing by itself."""
    os.environ.update(QUIET)  # before the import, in which MLflow decides on telemetry
    os.environ.setdefault("MLFLOW_ALLOW_HTTP_REDIRECTS", "false")  # a POST would become a GET, which means another call
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient(tracking_uri=uri)
