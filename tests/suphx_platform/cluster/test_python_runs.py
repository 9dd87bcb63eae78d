"""Runs on a cluster from Python: the functions of ``suphx_platform``, against an API server over HTTP."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping

import pytest

import suphx_platform
from suphx_platform import ClusterError
from suphx_platform.cluster.run_manifest import setting
from tests.suphx_platform.cluster.fake_api_server import Cluster
from tests.suphx_platform.cluster.fake_operator import Command, Operator


@pytest.fixture
def run(cluster: Cluster, operator: Operator) -> str:
    return suphx_platform.launch("reinforcement", preset="small").run_id


def test_a_run_is_launched_waited_for_and_not_launched_twice(cluster: Cluster, operator: Operator, run: str) -> None:
    assert suphx_platform.status(run).state == "running"
    ender = threading.Timer(0.2, operator.report, (run, "SUCCEEDED"))
    ender.start()
    ended = suphx_platform.wait(run, seconds=60)
    ender.join()
    assert (ended.run_id, ended.state) == (run, "succeeded")
    assert suphx_platform.launch("reinforcement", preset="small").state == "succeeded"
    assert cluster.names("rayjobs") == [run]


def test_settings_are_those_of_the_command_line(cluster: Cluster, suphx: Command) -> None:
    settings: Mapping[str, object] = {"reinforcement.max_updates": 7, "seed": "3", "report": True}
    with pytest.raises(ValueError, match="report"):
        suphx_platform.launch("reinforcement", settings=settings)
    assert cluster.requests[-1][0] == "GET", "nothing is created for a wrong key"
    found = suphx_platform.launch("reinforcement", settings={"reinforcement.max_updates": 7, "seed": "3"})
    words = ["--set", "reinforcement.max_updates=7", "--set", "seed=3"]
    _, result, _ = suphx("launch", "reinforcement", *words)
    assert result["run_id"] == found.run_id
    assert setting(cluster.objects["rayjobs", found.run_id], "reinforcement.max_updates") == "7"
    assert suphx_platform.launch("reinforcement", settings={"seed": 4}, dry_run=True).state == "starting"
    assert cluster.names("rayjobs") == [found.run_id]


def test_a_run_that_fails_or_takes_too_long_is_an_error(operator: Operator, run: str) -> None:
    with pytest.raises(ClusterError, match=f"{run} has not ended yet"):
        suphx_platform.wait(run, seconds=0.1)
    suphx_platform.stop(run)
    with pytest.raises(ClusterError, match=f"{run} is stopped"):
        suphx_platform.wait(run)
    with pytest.raises(ClusterError, match="there is no run nosuch"):
        suphx_platform.wait("nosuch")


def test_a_run_is_stopped_and_keeps_its_recipe(cluster: Cluster, run: str) -> None:
    assert suphx_platform.stop(run, seconds=60).state == "stopped"
    assert cluster.names("rayjobs") == []
    assert f"{run}-recipe" in cluster.names("configmaps")


def test_options_that_a_recipe_does_not_take_are_errors_without_a_cluster() -> None:
    for recipe, options in (("nightly", {"preset": "small"}), ("reinforcement", {"replace": True})):
        with pytest.raises(ValueError, match="omit it"):
            suphx_platform.launch(recipe, **options)


def test_the_import_is_light_and_the_functions_do_not_need_torch() -> None:
    program = """
import sys, suphx_platform
assert not any(name in sys.modules for name in ("numpy", "yaml", "kubernetes", "suphx_pipelines"))
assert sorted(dir(suphx_platform)) == ["ClusterError", "launch", "status", "stop", "wait"]
for name in dir(suphx_platform):
    getattr(suphx_platform, name)
assert not any(name in sys.modules for name in ("torch", "kubernetes", "mlflow", "ray"))
"""
    subprocess.run([sys.executable, "-c", program], check=True)
