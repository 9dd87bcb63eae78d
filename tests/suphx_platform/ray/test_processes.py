"""What processes of Ray are given, use and leave, and how Ray is started: with a real Ray where it can be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
import ray

from suphx.selfplay.layout import BESIDE, MAX_BUFFERS, PLACE
from suphx_platform.ray.process import cpu_seconds
from suphx_platform.ray.session import RayStartError, ray_session, reserve_room


@contextmanager
def session(num_learners: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setenv("CUDA_VISIBLE_DEVICES", "0")  # what processes would inherit
        with ray_session(num_cpus=1, resources={"learner": num_learners}):
            yield


@pytest.mark.ray
def test_a_process_that_reserves_no_gpu_sees_none_and_a_dead_actor_leaves_the_place_of_its_learners() -> None:
    @ray.remote(num_cpus=0)
    def visible_gpus() -> str | None:
        return os.environ.get("CUDA_VISIBLE_DEVICES")

    class Reserving:
        def reserve(self) -> int:
            reserve_room({"learner": 1.0}, 2, name="learners of a run")
            return os.getpid()

    with session(2):
        assert ray.get(visible_gpus.remote()) == ""
        actor: Any = ray.remote(num_cpus=0, max_restarts=1, max_task_retries=1)(Reserving).remote()
        first = ray.get(actor.reserve.remote())
        ray.kill(actor, no_restart=False)
        assert ray.get(actor.reserve.remote()) != first
        ray.kill(actor)


@pytest.mark.ray
@pytest.mark.slow
def test_a_learner_fits_on_a_node_with_the_largest_number_of_buffers() -> None:
    """The resources of all actors that may be on one node for a learner, as Ray counts them."""
    from ray.util.placement_group import placement_group

    beside = MAX_BUFFERS + len(["parameter server", "driver of several learners"])
    with session(1):
        actors = [{"learner": PLACE}, *({"learner": BESIDE} for _ in range(beside))]
        assert placement_group(actors).wait(60)


class SlowNodes:
    """Stands for ``ray.init`` on a machine that is too busy for the first ``num_slow`` nodes."""

    def __init__(self, num_slow: int) -> None:
        self.num_slow = num_slow
        self.num_starts = 0

    def __call__(self, **settings: Any) -> None:
        self.num_starts += 1
        if self.num_starts <= self.num_slow:
            raise Exception("The current node timed out during startup")


@pytest.mark.parametrize("num_slow", [2, 9])
def test_ray_that_was_too_slow_to_start_is_started_again_and_in_the_end_it_is_said_where_to_look(
    monkeypatch: pytest.MonkeyPatch, num_slow: int
) -> None:
    nodes = SlowNodes(num_slow)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", nodes)
    message = r"in 3 attempts \(The current node timed out.* try again later\. .*session_latest/logs"
    fails = pytest.raises(RayStartError, match=message) if num_slow > 2 else nullcontext()
    with fails, ray_session(num_cpus=1):
        assert nodes.num_starts == 3


# A process of its own: in that of the tests, threads and caches of others give memory back meanwhile.
MEASURED = """
import json, os
import numpy as np
from suphx_platform.ray.process import peak_bytes, private_bytes
sizes = {"before": private_bytes()}
block = np.ones(2**26, np.uint8)
sizes |= {"with_block": private_bytes(os.getpid()), "peak": peak_bytes()}
del block
print(json.dumps(sizes | {"after": private_bytes(), "peak_after": peak_bytes(os.getpid())}))
"""


def test_memory_that_is_written_counts_until_it_is_given_back_and_the_peak_stays() -> None:
    sizes = json.loads(subprocess.run([sys.executable, "-c", MEASURED], check=True, capture_output=True).stdout)
    assert sizes["with_block"] - sizes["before"] > 0.9 * 2**26
    assert sizes["after"] - sizes["before"] < 2**24
    assert sizes["peak"] >= 2**26
    assert sizes["peak_after"] > 0.99 * sizes["peak"], "threads report late, so the kernel is a little off"


def test_cpu_time_is_that_of_all_threads() -> None:
    def compute() -> None:
        while time.thread_time() < 0.3:
            pass

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    before, measured, after = time.process_time(), cpu_seconds(os.getpid()), time.process_time()
    assert before - 0.1 < measured < after + 0.1
