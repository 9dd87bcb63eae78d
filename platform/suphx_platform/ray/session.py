"""A connection to Ray: to the cluster that this process is part of, or to one of its own on this machine."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from suphx.usable_cores import MachineError

S3_SETTINGS = {"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required", "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required"}
"""Ray writes to buckets through Amazon's C++ library: without these it sends what many other servers refuse (411)."""

LOCAL_SETTINGS = {"RAY_task_events_report_interval_ms": "0", "RAY_max_direct_call_object_size": "1048576"}
"""Nobody reads Ray's events of tasks, and they fill memory. What is up to 1 MiB, as requests to engines are, goes
straight to whom it is meant for instead of through shared memory: a quarter more decisions where engines are processes
of their own. The chart says the same to its pods."""

OWN_GPUS = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "1"}
"""An actor that reserves no GPU sees none: else engines, simulators and workers that are meant for CPUs would use the
first GPU, unreserved."""

_STARTS = 3
"""Ray gives itself 30 s to start, which a busy machine may miss."""


_SAY_SECONDS = 60  # an integer: Ray cuts off the rest
_logger = logging.getLogger(__name__)


class RayStartError(Exception):
    """Ray did not start on this machine."""


@contextmanager
def ray_session(
    *, num_cpus: int, num_gpus: int = 0, resources: Mapping[str, float] | None = None, object_store_bytes: int = 0
) -> Iterator[None]:
    """Be connected to Ray inside the block; a connection that is there already is used and left open.

    With ``RAY_ADDRESS`` set (KubeRay does so) that cluster is used. Else one is started on this machine, with at least
    ``num_cpus`` logical CPUs, so that work never waits for cores that the machine does not have, with ``resources`` and
    an object store of ``object_store_bytes`` (0: as Ray sees fit). Raises ValueError if the machine has fewer GPUs than
    ``num_gpus``, RayStartError if Ray does not start here.
    """
    import ray  # seconds: only when somebody needs it

    if ray.is_initialized():
        yield
        return
    everywhere = S3_SETTINGS | OWN_GPUS
    environment = {"env_vars": {name: os.environ.get(name, value) for name, value in everywhere.items()}}
    logging.getLogger("ray._private.authentication.authentication_token_setup").setLevel(logging.ERROR)
    settings: dict[str, Any] = {"runtime_env": environment, "logging_level": logging.WARNING, "log_to_driver": False}
    handler = signal.getsignal(signal.SIGTERM)
    if os.environ.get("RAY_ADDRESS"):
        ray.init(**settings)
    else:
        check_gpus(num_gpus)
        for name, value in LOCAL_SETTINGS.items():
            os.environ.setdefault(name, value)
        _start(
            address="local",
            num_cpus=max(num_cpus, os.cpu_count() or 1),
            resources=dict(resources or {}),
            object_store_memory=object_store_bytes or None,
            include_dashboard=False,
            **settings,
        )
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)  # Ray takes it over, and its way to end a process is to abort it
    try:
        yield
    finally:
        ray.shutdown()


def _start(**settings: Any) -> None:
    """Start Ray; when its processes were too slow, again, ``_STARTS`` times at most."""
    import ray

    for starts_left in reversed(range(_STARTS)):
        try:
            ray.init(**settings)
        except Exception as error:
            ray.shutdown()
            if type(error) is not Exception:  # what Ray raises for a node that is not there in time has no class
                raise
            if not starts_left:
                raise RayStartError(
                    f"Ray did not start on this machine in {_STARTS} attempts ({error}): if the machine is busy try "
                    "again later. The logs of its processes are in /tmp/ray/session_latest/logs"
                ) from error
        else:
            return


def check_gpus(wanted: int) -> None:
    """Raise MachineError if this machine has fewer GPUs than ``wanted``; without a wish, nothing is imported."""
    if not wanted:
        return
    import torch

    found = torch.cuda.device_count()
    if wanted > found:
        raise MachineError(
            f"{wanted} GPUs are requested, this machine has {found}: lower the setting that requests them "
            "(data_parallel.num_workers or use_gpu, cluster.gpus_per_engine or gpus_per_learner)"
        )


def reserve_room(needs: Mapping[str, float], num_learners: int, *, name: str = "") -> Any:
    """Wait until Ray has room, and return a reservation of ``needs`` for every learner.

    RLlib's group gives it back when it ends. One that a former life has left under ``name`` is freed first.
    """
    import ray

    if name:
        free_room(name)
    bundle = {kind: amount for kind, amount in needs.items() if amount}
    from ray.util.placement_group import placement_group

    room = placement_group([bundle] * num_learners, name=name)
    while not room.wait(_SAY_SECONDS):
        _logger.warning(
            "Ray cannot place %d learners of %s each yet: it has %s left; add nodes, or lower num_learners",
            num_learners, bundle, ray.available_resources(),
        )  # fmt: skip
    return room


def free_room(name: str) -> None:
    """Give back what is reserved under ``name``, if there is something; the learners in it end."""
    from ray.util.placement_group import get_placement_group, remove_placement_group

    with suppress(ValueError):  # there is none
        remove_placement_group(get_placement_group(name))
