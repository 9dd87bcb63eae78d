from __future__ import annotations

from suphx.training.local_backend import LocalBackend
from suphx_platform.selfplay.policy_trainer import run_backend, run_metrics
from tests.suphx_platform.selfplay.small_trainer import CONFIG


def test_a_run_without_ray_has_all_parts_in_one_process_and_no_metrics_for_prometheus() -> None:
    assert run_backend(CONFIG) is LocalBackend
    assert run_metrics(CONFIG) is None
