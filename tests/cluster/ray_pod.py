"""Ray pods of a RayJob without Kubernetes: each in namespaces of its own, started as KubeRay would start it.

Commands, environment and places come from the chart's manifest. What an image has in fixed places is elsewhere here:
its variables HOME and SUPHX_CACHE are those of the machine, /recipes and /runs folders of the test.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.pod_network import PREFIX, PodNetwork
from tests.repository import REPOSITORY

OF_THE_IMAGE = ("HOME", "SUPHX_CACHE")
TOKEN = "0123456789abcdef0123456789abcdef"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PodPlan:
    """What runs on one host."""

    name: str
    role: str
    command: str
    environment: Mapping[str, str]


def pod_plans(job: Object, *, secrets: Mapping[str, str]) -> list[PodPlan]:
    """Return the pods of a RayJob, head first; ``secrets``: variables whose values the manifest only refers to."""
    cluster = job["spec"]["rayClusterSpec"]
    plans = [_plan("head", "head", cluster["headGroupSpec"], secrets)]
    for group in cluster["workerGroupSpecs"]:
        role = group["groupName"]
        plans += [_plan(f"{role}-{number}", role, group, secrets) for number in range(group["replicas"])]
    return plans


def _plan(name: str, role: str, group: Object, secrets: Mapping[str, str]) -> PodPlan:
    container = group["template"]["spec"]["containers"][0]
    environment = {one["name"]: one.get("value") or secrets[one["name"]] for one in container["env"]}
    for variable in OF_THE_IMAGE:
        environment.pop(variable, None)
    environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_ADDRESS": "head:6379"}
    environment |= {"GRPC_DNS_RESOLVER": "native"}  # names stand in /etc/hosts: there is no DNS server
    return PodPlan(name, role, _ray_start(role, group, container), environment)


def _ray_start(role: str, group: Object, container: Object) -> str:
    """Return the command that KubeRay makes of ``rayStartParams`` and the container's limits."""
    parameters = {"num-cpus": str(container["resources"]["limits"]["cpu"]), **group["rayStartParams"]}
    parameters["metrics-export-port"] = "8080"
    if group.get("resources"):
        parameters["resources"] = json.dumps({name: float(number) for name, number in group["resources"].items()})
    words = ["--head"] if role == "head" else ["--address=head:6379"]
    words += [f"--{name}={value}" for name, value in parameters.items()]
    return shlex.join(["ray", "start", *words, "--block"])


class RayPod:
    """A pod that is made again whenever it ends, as the operator does, until it is removed."""

    def __init__(self, plan: PodPlan, network: PodNetwork, folder: Path) -> None:
        self.plan = plan
        self._network, self._folder = network, folder / plan.name
        self._is_wanted = True
        self._process = self._start()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def kill(self) -> None:
        """End all processes of the pod at once; a new one takes its place."""
        self._process.kill()

    def remove(self) -> None:
        """End the pod for good."""
        self._is_wanted = False
        self._process.kill()
        self._keeper.join(timeout=60)

    def _keep(self) -> None:
        while True:
            self._process.wait()
            while not self._network.is_empty(self.plan.name):  # its processes end after it, and still answer until then
                time.sleep(0.1)
            if not self._is_wanted:
                return
            self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        ray, hosts = self._folder / "ray", self._folder / "hosts"
        ray.mkdir(parents=True, exist_ok=True)
        Path("/tmp/ray").mkdir(exist_ok=True)
        hosts.write_text(self._network.hosts())
        script = (
            f"hostname {self.plan.name} && mount --bind {hosts} /etc/hosts && mount --bind {ray} /tmp/ray && "
            f"mount -t tmpfs -o size=2g tmpfs /dev/shm && exec {self.plan.command}"
        )
        spaces = ["ip", "netns", "exec", PREFIX + self.plan.name, "unshare", "--mount", "--uts", "--pid", "--fork"]
        command = [*spaces, "--mount-proc", "--kill-child", "bash", "-c", script]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env=_environment(self.plan.environment))


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a pod: those of the manifest, and where the program is on this machine."""
    binaries = str(Path(sys.executable).parent)
    paths = [str(REPOSITORY / name) for name in ("", "platform", "pipelines")]
    kept = {name: os.environ[name] for name in (*OF_THE_IMAGE, "LANG") if name in os.environ}
    return {**kept, "PATH": f"{binaries}:{os.environ['PATH']}", "PYTHONPATH": ":".join(paths), **own}
