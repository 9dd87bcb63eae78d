"""What Ray gives to the processes of actors, and takes from them, with a real Ray."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import ray

from suphx_platform.ray.session import ray_session, reserve_room


@pytest.fixture(scope="module", autouse=True)
def _session() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.setenv("CUDA_VISIBLE_DEVICES", "0")  # what processes would inherit
        with ray_session(num_cpus=1, resources={"learner": 2}):
            yield


@pytest.mark.ray
def test_a_process_that_reserves_no_gpu_sees_none() -> None:
    @ray.remote(num_cpus=0)
    def visible_gpus() -> str | None:
        return os.environ.get("CUDA_VISIBLE_DEVICES")

    assert ray.get(visible_gpus.remote()) == ""


@pytest.mark.ray
def test_an_actor_that_died_leaves_the_place_of_its_learners_to_its_next_life() -> None:
    class Reserving:
        def reserve(self) -> int:
            reserve_room({"learner": 1.0}, 2, name="learners of a run")
            return os.getpid()

    actor: Any = ray.remote(num_cpus=0, max_restarts=1, max_task_retries=1)(Reserving).remote()
    first = ray.get(actor.reserve.remote())
    ray.kill(actor, no_restart=False)
    assert ray.get(actor.reserve.remote()) != first
    ray.kill(actor)
