"""What a run on the chart's smallest preset finds besides its pods: an MLflow server, and the template of the chart."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import yaml
from helm_python import Chart

from tests.cluster.pod_cluster import wait
from tests.cluster.pod_network import GATEWAY
from tests.repository import REPOSITORY
from tests.suphx_platform.storage.s3_server import BUCKET

MLFLOW_PORT = 5077
MLFLOW = f"http://{GATEWAY}:{MLFLOW_PORT}"
SMALL_RUN = {
    "reinforcement.max_updates": "0",
    "reinforcement.max_minutes": "9",
    "reinforcement.evaluate_every": "0",
    "reinforcement.evaluation_hanchans": "8",
    "reinforcement.evaluation_deals": "0",
    "reinforcement.final_hanchans": "0",
    "reinforcement.report_every": "2",
    "reinforcement.save_seconds": "10",
    "reinforcement.simulator.num_tables": "32",
    "reinforcement.buffer.batch_size": "512",
    "reinforcement.cluster.hang_seconds": "20",
    "reinforcement.cluster.learner_copy_interval": "4",
}
"""Settings of a run that makes updates every few seconds."""


def run_template(endpoint: str) -> dict[str, Any]:
    """Return the ConfigMap from which ``suphx launch`` makes a run; ``endpoint``: URL of the S3 server."""
    return bare_template(
        storage={"address": f"s3://{BUCKET}/runs", "endpointUrl": endpoint, "secretName": "keys"},
        tracking={"uri": MLFLOW},
    )


def bare_template(**values: Any) -> dict[str, Any]:
    """Return the same with nothing but ``values`` of the chart besides its smallest preset."""
    values = {"preset": "laptop-kind", "autoscaling": {"enabled": False}, **values}
    texts = Chart.load(REPOSITORY / "helm" / "suphx").render(values, name="suphx", namespace="suphx")
    template: dict[str, Any] = yaml.safe_load(texts["suphx/templates/run/template.yaml"])
    return template


@contextmanager
def mlflow_server(folder: Path) -> Iterator[None]:
    """Have a server at ``MLFLOW`` while the block runs."""
    folder.mkdir()
    store = [f"--backend-store-uri=sqlite:///{folder}/mlflow.db", f"--artifacts-destination={folder}/artifacts"]
    place = [f"--host={GATEWAY}", f"--port={MLFLOW_PORT}", f"--allowed-hosts={GATEWAY}:{MLFLOW_PORT}", "--workers=1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "mlflow", "server", *store, *place], stdout=log, stderr=log)
        try:
            wait("MLflow", lambda: _answers(f"{MLFLOW}/health"), 300)
            yield
        finally:
            process.terminate()
            process.wait(timeout=60)


def _answers(url: str) -> bool:
    try:
        return bool(urlopen(url, timeout=5).status == 200)
    except (URLError, OSError):
        return False
