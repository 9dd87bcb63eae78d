"""A head pod with the autoscaler's container ends soon after SIGTERM, while it starts and while a run saves.

The commands of both containers are real; an API server answers the autoscaler, so that it works as on a cluster.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.cluster.run_manifest import run_objects
from tests.certificates import Authority
from tests.cluster.pod_cluster import RayJobClient, wait
from tests.cluster.pod_network import GATEWAY, PodNetwork, missing, pod_network
from tests.cluster.ray_pod import ApiAccess, ContainerPlan, PodPlan, RayPod, pod_plans
from tests.cluster.services import bare_template
from tests.suphx_pipelines.runs import stopped_run
from tests.suphx_pipelines.runs.stopped_run import RUN, STATE_FILE, WORKING
from tests.suphx_platform.cluster.fake_api_server import NAMESPACE, TOKEN, api_server

Object = dict[str, Any]

JOB = "ends"
END_SECONDS = 30
SAVE_SECONDS = 4
TIMES = 10
MONITOR_WORKS = "Starting autoscaler metrics server"
"""What the autoscaler logs when it has found the head and the API server."""

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]


@pytest.fixture
def network() -> Iterator[PodNetwork]:
    with pod_network() as made:
        yield made


@pytest.fixture
def job() -> Object:
    """A run with the chart's smallest preset."""
    template = bare_template(autoscaling={"enabled": True})
    return run_objects(template, preset=None, run_id=JOB, recipe="", overrides=[]).job


@pytest.fixture
def plan(job: Object, network: PodNetwork) -> PodPlan:
    network.add("head")
    return pod_plans(job, secrets={})[0]


@pytest.fixture
def api(job: Object, network: PodNetwork, tmp_path: Path) -> Iterator[ApiAccess]:
    """An API server with the RayCluster, whose groups are empty so that there is nothing to scale."""
    account = tmp_path / "account"
    account.mkdir()
    authority = Authority(tmp_path)
    (account / "ca.crt").write_bytes(authority.file.read_bytes())
    (account / "token").write_text(TOKEN)
    with api_server(tmp_path, GATEWAY, authority.server(GATEWAY)) as (cluster, kubeconfig):
        spec = {**job["spec"]["rayClusterSpec"], "workerGroupSpecs": []}
        cluster.put("rayclusters", {"metadata": {"name": JOB, "namespace": NAMESPACE}, "spec": spec})
        labels = {"ray.io/cluster": JOB, "ray.io/node-type": "head", "ray.io/group": "headgroup"}
        cluster.put("pods", {"metadata": {"name": "head", "labels": labels}, "status": {"phase": "Running"}})
        address = json.loads(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        yield ApiAccess(host=GATEWAY, port=int(address.rpartition(":")[2]), folder=account)


def log(tmp_path: Path, name: str) -> str:
    file = tmp_path / "head" / name
    return file.read_text(errors="replace") if file.is_file() else ""


def is_scaling(tmp_path: Path) -> bool:
    return MONITOR_WORKS in log(tmp_path, "autoscaler.log")


@pytest.mark.parametrize("seconds", [0.1, 0.5, 1, 2, 3, 4, 6, 8, 11, 15])
def test_a_head_that_starts_ends(
    plan: PodPlan, network: PodNetwork, api: ApiAccess, tmp_path: Path, seconds: float
) -> None:
    pod = RayPod(plan, network, tmp_path, tmp_path / "runs", api)
    try:
        time.sleep(seconds)  # so long after its start it is deleted
        began = time.monotonic()
        ends = pod.delete(is_replaced=False)
        assert {name: end.is_killed for name, end in ends.items()} == {"ray-head": False, "autoscaler": False}
        assert time.monotonic() - began < END_SECONDS
    finally:
        pod.remove()


@pytest.mark.parametrize("_number", range(TIMES))
def test_a_head_whose_driver_works_ends_when_it_has_saved(
    plan: PodPlan, network: PodNetwork, api: ApiAccess, tmp_path: Path, _number: int
) -> None:
    runs = tmp_path / "runs"
    pod = RayPod(plan, network, tmp_path, runs, api)
    try:
        work(runs, network.addresses["head"])
        wait("the autoscaler works", lambda: is_scaling(tmp_path), 240)
        ends = pod.delete(is_replaced=False)
        assert {name: end.is_killed for name, end in ends.items()} == {"ray-head": False, "autoscaler": False}
        assert ends["ray-head"].seconds < END_SECONDS  # after the save
        assert ends["ray-head"].hook_seconds > SAVE_SECONDS
        assert (runs / RUN / "numbers" / STATE_FILE).is_file()
        assert json.loads(pod.message) == {"stopped": {RUN: "saved"}}
    finally:
        pod.remove()


def work(runs: Path, address: str) -> None:
    """Have the head run a driver that needs some seconds to save; return when it works."""
    client = RayJobClient(address)
    driver = [sys.executable, "-m", stopped_run.__name__, str(runs), str(SAVE_SECONDS), "saves"]

    def is_taken() -> bool:
        try:
            client.submit(RUN, shlex.join(driver))
        except OSError:
            return False
        return True

    wait("the head takes the job", is_taken, 240)
    wait("the driver works", lambda: WORKING in client.log(RUN), 240)


def test_a_submitter_in_the_head_pod_ends_long_before_the_driver_has_saved(
    plan: PodPlan, network: PodNetwork, api: ApiAccess, tmp_path: Path
) -> None:
    """Why the chart does not use SidecarMode: KubeRay 1.7 takes the end of this container for that of the attempt.

    The next attempt could then begin while this driver still saves (docs/kubernetes.md#how-a-run-is-stopped).
    """
    runs, address = tmp_path / "runs", "http://127.0.0.1:8265"
    driver = shlex.join([sys.executable, "-m", stopped_run.__name__, str(runs), str(SAVE_SECONDS), "saves"])
    script = f"until ray job list --address {address} > /dev/null 2>&1; do sleep 2; done; "
    script += f"ray job submit --address {address} --submission-id {RUN} -- {driver}"
    tokens = {name: value for name, value in plan.containers[0].environment.items() if name.startswith("RAY_AUTH_")}
    variables = {**tokens, "PYTHONUNBUFFERED": "1"}
    submitter = ContainerPlan("ray-job-submitter", ("/bin/bash", "-ce", "--", script), variables)
    pod = RayPod(replace(plan, containers=(*plan.containers, submitter)), network, tmp_path, runs, api)
    try:
        wait("the driver works", lambda: WORKING in log(tmp_path, "ray-job-submitter.log"), 480)
        ends = pod.delete(is_replaced=False)
        assert json.loads(pod.message) == {"stopped": {RUN: "saved"}}
        assert ends["ray-job-submitter"].seconds < SAVE_SECONDS < ends["ray-head"].hook_seconds
    finally:
        pod.remove()


def test_without_a_shared_namespace_of_processes_the_autoscaler_ends_by_sigkill_only(
    plan: PodPlan, network: PodNetwork, api: ApiAccess, tmp_path: Path
) -> None:
    pod = RayPod(replace(plan, shares_processes=False, grace_seconds=40), network, tmp_path, tmp_path / "runs", api)
    try:
        wait("the autoscaler works", lambda: is_scaling(tmp_path), 240)
        ends = pod.delete(is_replaced=False)
        assert ends["autoscaler"].is_killed
        assert not ends["ray-head"].is_killed
    finally:
        pod.remove()


def test_a_head_that_fails_is_replaced_soon(plan: PodPlan, network: PodNetwork, api: ApiAccess, tmp_path: Path) -> None:
    pod = RayPod(plan, network, tmp_path, tmp_path / "runs", api)
    try:
        wait("the autoscaler works", lambda: is_scaling(tmp_path), 240)
        began = time.monotonic()
        pod.fail()
        wait("a new head", lambda: pod.number == 2, 240)
        assert time.monotonic() - began < END_SECONDS
    finally:
        pod.remove()
