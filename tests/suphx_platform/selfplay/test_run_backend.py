from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from suphx.training.local_backend import LocalBackend
from suphx_platform.selfplay.policy_trainer import run_backend, run_metrics
from tests.suphx_platform.selfplay.small_trainer import CONFIG


def test_a_run_without_ray_has_all_parts_in_one_process_and_no_metrics_for_prometheus() -> None:
    assert run_backend(CONFIG) is LocalBackend
    assert run_metrics(CONFIG) is None


@pytest.mark.ray
def test_a_run_over_ray_has_actors() -> None:
    from suphx_platform.evaluation.ray_game_workers import MatchThread
    from suphx_platform.on_ray.ray_backend import RayBackend

    backend = run_backend(replace(CONFIG, cluster=replace(CONFIG.cluster, on_ray=True)))
    assert isinstance(backend, partial)
    assert (backend.func, backend.keywords) == (RayBackend, {"new_matches": MatchThread})
