"""MLflow's system metrics: CPU, memory, disk, network and GPUs of this machine, and of others that somebody asks.

MLflow's variables apply: MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING=false turns them off,
MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL and MLFLOW_SYSTEM_METRICS_SAMPLES_BEFORE_LOGGING set how often they are logged,
MLFLOW_SYSTEM_METRICS_NODE_ID names the machine. GPUs need nvidia-ml-py.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from suphx_platform.tracking.mlflow_client import QUIET
from suphx_platform.tracking.tracking import Tracker

_PREFIX, _SECONDS = "system/", 10.0
Figures = Mapping[str, float]
OtherMachines = Callable[[], Mapping[str, Figures]]
"""Returns name of a machine -> its figures."""

_logger = logging.getLogger(__name__)


class Machine:
    """The figures of the machine of this process."""

    def __init__(self) -> None:
        os.environ.update(QUIET)
        from mlflow import environment_variables as variables
        from mlflow.system_metrics.metrics.cpu_monitor import CPUMonitor
        from mlflow.system_metrics.metrics.disk_monitor import DiskMonitor
        from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor
        from mlflow.system_metrics.metrics.network_monitor import NetworkMonitor
        from mlflow.system_metrics.metrics.rocm_monitor import ROCMMonitor

        self.name = str(variables.MLFLOW_SYSTEM_METRICS_NODE_ID.get() or "")
        """Empty without MLFLOW_SYSTEM_METRICS_NODE_ID."""
        self.seconds = float(variables.MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL.get() or _SECONDS)
        """Between two samples."""
        self.num_samples = int(variables.MLFLOW_SYSTEM_METRICS_SAMPLES_BEFORE_LOGGING.get() or 1)
        """Of a point."""
        self._monitors: list[Any] = [CPUMonitor(), DiskMonitor(), NetworkMonitor()]
        for gpus in (GPUMonitor, ROCMMonitor):
            with suppress(ImportError, RuntimeError):  # no such GPU, or not the package that reads it
                self._monitors.append(gpus())

    def sample(self) -> None:
        """Measure."""
        for monitor in self._monitors:
            monitor.collect_metrics()

    def take(self) -> dict[str, float]:
        """Return the means of the samples, and forget them."""
        figures: dict[str, float] = {}
        for monitor in self._monitors:
            figures |= monitor.aggregate_metrics()
            monitor.clear_metrics()
        return figures


@contextmanager
def system_metrics(tracker: Tracker, started: float, others: OtherMachines = dict) -> Iterator[None]:
    """Log the metrics of this machine, and those of ``others``, to the run of ``tracker`` while the block runs.

    ``started``: when the run was begun first, in seconds since 1970; a point's step is the seconds since.
    """
    from mlflow.environment_variables import MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING as ENABLED

    if ENABLED.is_set() and not ENABLED.get():
        yield
        return
    is_over = threading.Event()
    arguments = (tracker, started, others, is_over)
    thread = threading.Thread(target=_log_samples, args=arguments, name="system metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _log_samples(tracker: Tracker, started: float, others: OtherMachines, is_over: threading.Event) -> None:
    try:
        machine = Machine()
        while True:
            for _ in range(machine.num_samples):
                machine.sample()
                if is_over.wait(machine.seconds):
                    return
            found = {machine.name: machine.take(), **others()}
            point = {
                f"{_PREFIX}{node}{'/' if node else ''}{name}": value
                for node, figures in found.items()
                for name, value in figures.items()
            }
            tracker.log_metrics(point, step=max(0, round(time.time() - started)))
    except Exception as error:  # noqa: BLE001 - of a machine that hides its figures: the run continues without them
        _logger.warning("system metrics are not logged: %s", error)
