"""MLflow's system metrics of a run (CPU, memory, disk, network, GPU), sent like all its other points.

MLflow's own thread asks the server at every sample and ends when that is away; this one uses MLflow's monitors and
settings, and the run's queue.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from suphx_platform.tracking.tracking import Tracker

_PREFIX = "system/"
_INTERVAL_SECONDS = 10.0

_logger = logging.getLogger(__name__)


@contextmanager
def system_metrics(tracker: Tracker, started: float) -> Iterator[None]:
    """Log the machine's metrics to the run of ``tracker`` while the block runs.

    ``started``: when the run was begun first, in seconds since 1970; a point's step is the seconds since. MLflow's
    variables apply: MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING=false turns it off, MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL
    and MLFLOW_SYSTEM_METRICS_SAMPLES_BEFORE_LOGGING say how often, MLFLOW_SYSTEM_METRICS_NODE_ID names the machine.
    """
    from mlflow.environment_variables import MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING as ENABLED

    if ENABLED.is_set() and not ENABLED.get():
        yield
        return
    is_over = threading.Event()
    arguments = (tracker, started, is_over)
    thread = threading.Thread(target=_log_samples, args=arguments, name="system metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _log_samples(tracker: Tracker, started: float, is_over: threading.Event) -> None:
    from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor

    try:
        machine = SystemMetricsMonitor("", sampling_interval=_INTERVAL_SECONDS, tracking_uri=tracker.store.uri)
        prefix = _PREFIX + (f"{machine.node_id}/" if machine.node_id else "")
        while True:
            for _ in range(machine.samples_before_logging):
                machine.collect_metrics()
                if is_over.wait(machine.sampling_interval):
                    return
            point = {prefix + name: value for name, value in machine.aggregate_metrics().items()}
            for monitor in machine.monitors:
                monitor.clear_metrics()
            tracker.log_metrics(point, step=max(0, round(time.time() - started)))
    except Exception as error:  # noqa: BLE001 - of a machine that hides its figures: the run goes on without them
        _logger.warning("system metrics are not logged: %s", error)
