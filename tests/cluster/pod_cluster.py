"""The pods of one run, made from what ``suphx launch`` would create, and Ray's job API as the submitter uses it."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from suphx_platform.cluster.run_manifest import RunObjects
from tests.cluster.ray_pod import TOKEN, RayPod, pod_plans

_ANSWER_SECONDS = 120
"""A dashboard beside a driver that starts answers late where cores are few; the test has its own limits."""


class RayJobClient:
    """Usage: ``client.submit("a", "suphx run …")``, then ``client.status("a")``."""

    def __init__(self, head: str) -> None:
        self._address = f"http://{head}:8265"

    def submit(self, job: str, entrypoint: str) -> None:
        """Have the head run a command; OSError while it is not there yet."""
        self._call("/api/jobs/", {"submission_id": job, "entrypoint": entrypoint})

    def stop(self, job: str) -> None:
        """Send a command SIGTERM, as the operator does for a RayJob that is deleted."""
        self._call(f"/api/jobs/{job}/stop", {})

    def status(self, job: str) -> str:
        """Return PENDING, RUNNING, SUCCEEDED, FAILED or STOPPED."""
        return str(self._call(f"/api/jobs/{job}")["status"])

    def log(self, job: str) -> str:
        """Return what the command has printed."""
        return str(self._call(f"/api/jobs/{job}/logs")["logs"])

    def _call(self, path: str, body: Any = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._address + path, data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


class PodCluster:
    """Usage: ``cluster.start(1)``, then ``cluster.client.status(cluster.job)``, at last ``cluster.stop()``."""

    def __init__(self, made: RunObjects, secrets: dict[str, str], folder: Path, network: Any) -> None:
        self.plans = pod_plans(made.job, secrets=secrets)
        self.addresses = {plan.name: network.add(plan.name) for plan in self.plans}
        self.run_id, self.network, self.folder = made.run_id, network, folder
        self.client = RayJobClient(self.addresses["head"])
        (folder / "recipes").mkdir()
        (folder / "recipes" / "recipe.toml").write_text(made.recipe["data"]["recipe.toml"])
        self.entrypoint = str(made.job["spec"]["entrypoint"]).replace("/recipes", str(folder / "recipes"))
        self.pods: dict[str, RayPod] = {}
        self.job = ""

    def start(self, attempt: int) -> None:
        """Make all pods and submit the run, as the operator does for each attempt of a RayJob."""
        folder, runs = self.folder / f"attempt{attempt}", self.runs(attempt)
        self.pods = {plan.name: RayPod(plan, self.network, folder, runs) for plan in self.plans}
        self.job = f"{self.run_id}-{attempt}"
        wait("the head takes the job", lambda: self._submit(str(runs)), 240)

    def runs(self, attempt: int) -> Path:
        """Return the folder of runs on the head's disk, which goes with the head."""
        return self.folder / f"attempt{attempt}" / "runs"

    def delete(self) -> str:
        """Do what ``kubectl delete rayjob`` causes: the operator stops the job, and all pods are deleted at once.

        Returns the termination message of the head.
        """
        self.client.stop(self.job)
        with ThreadPoolExecutor(len(self.pods)) as pool:
            list(pool.map(lambda pod: pod.delete(is_replaced=False), self.pods.values()))
        return self.pods["head"].message

    def stop(self) -> None:
        """End all pods at once, as if their nodes were lost."""
        for pod in self.pods.values():
            pod.remove()

    def _submit(self, runs: str) -> bool:
        try:
            self.client.submit(self.job, self.entrypoint.replace("--runs /runs", f"--runs {runs}"))
        except OSError:
            return False
        return True


def wait(what: str, is_so: Callable[[], bool], seconds: float) -> None:
    """Wait until something is so."""
    ends_at = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends_at, f"not in {seconds:.0f} s: {what}"
        time.sleep(1)
