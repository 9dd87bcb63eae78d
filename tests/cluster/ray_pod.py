"""Ray pods of a RayJob without Kubernetes: containers in namespaces, started and ended as KubeRay and kubelet do it.

Commands, environment, hooks and grace periods come from the chart's manifest. What an image has in fixed places is
elsewhere here: its variables HOME and SUPHX_CACHE are those of the machine, /recipes and /runs folders of the test.
Each container has a process namespace of its own, in which its command is process 1 and ignores every signal that it
does not handle; with ``shareProcessNamespace`` it shares that of the pod, whose process 1 is a pause process.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.cluster.pod_network import PREFIX, PodNetwork
from tests.repository import REPOSITORY

OF_THE_IMAGE = ("HOME", "SUPHX_CACHE")
TOKEN = "0123456789abcdef0123456789abcdef"
MESSAGE_FILE = "/dev/termination-log"
_SHELL = ("/bin/bash", "-c", "--")
_MARK = "SUPHX_TEST_CONTAINER"
_LEAST_SECONDS = 2.0
"""What the kubelet leaves a container after its hook, however long that took."""
_PAUSE = "trap '' TERM; while :; do sleep 3600 & wait $!; done"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ContainerPlan:
    """What a container runs."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    pre_stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PodPlan:
    """What runs on one host; the first container is Ray's."""

    name: str
    role: str
    containers: tuple[ContainerPlan, ...]
    grace_seconds: float
    shares_processes: bool


@dataclass(frozen=True, slots=True)
class ContainerEnd:
    """How a container of a deleted pod ended."""

    hook_seconds: float
    seconds: float
    """From SIGTERM to its end."""
    is_killed: bool
    """Whether it took SIGKILL."""


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """Where the pods reach Kubernetes' API, and the folder with ``token`` and ``ca.crt`` of their service account."""

    host: str
    port: int
    folder: Path


def pod_plans(job: Object, *, secrets: Mapping[str, str]) -> list[PodPlan]:
    """Return the pods of a RayJob, head first; ``secrets``: variables whose values the manifest only refers to."""
    cluster = job["spec"]["rayClusterSpec"]
    plans = [_plan("head", "head", cluster["headGroupSpec"], secrets, sidecars=_sidecars(job["metadata"], cluster))]
    for group in cluster["workerGroupSpecs"]:
        role = group["groupName"]
        plans += [_plan(f"{role}-{number}", role, group, secrets) for number in range(group["replicas"])]
    return plans


def _plan(
    name: str, role: str, group: Object, secrets: Mapping[str, str], *, sidecars: tuple[ContainerPlan, ...] = ()
) -> PodPlan:
    spec = group["template"]["spec"]
    container = spec["containers"][0]
    environment = _variables(container["env"], secrets) | {"RAY_ADDRESS": "head:6379"}
    parameters = dict(group["rayStartParams"])
    if sidecars:
        environment |= {"RAY_enable_autoscaler_v2": "true"}
        parameters["no-monitor"] = "true"
    hook = ((container.get("lifecycle") or {}).get("preStop") or {}).get("exec") or {"command": ()}
    command = (*_SHELL, f"ulimit -n ${{RAY_START_ULIMIT_OPEN_FILES:-65536}}; {_ray_start(role, group, parameters)}")
    ray = ContainerPlan(container["name"], command, environment, tuple(hook["command"]))
    return PodPlan(
        name=name,
        role=role,
        containers=(ray, *sidecars),
        grace_seconds=float(spec["terminationGracePeriodSeconds"]),
        shares_processes=bool(spec.get("shareProcessNamespace")),
    )


def _sidecars(metadata: Object, cluster: Object) -> tuple[ContainerPlan, ...]:
    """Return what the operator adds to a head: the autoscaler's container."""
    if not cluster.get("enableInTreeAutoscaling"):
        return ()
    options = cluster.get("autoscalerOptions") or {}
    own = {
        "RAY_CLUSTER_NAME": metadata["name"],
        "RAY_CLUSTER_NAMESPACE": metadata.get("namespace", "suphx"),
        "RAY_HEAD_POD_NAME": "head",
        "KUBERAY_CRD_VER": "v1",
    }
    start = f"ray kuberay-autoscaler --cluster-name {own['RAY_CLUSTER_NAME']} "
    start += f"--cluster-namespace {own['RAY_CLUSTER_NAMESPACE']}"
    command = (*(options.get("command") or _SHELL), *(options.get("args") or (start,)))
    return (ContainerPlan("autoscaler", command, own | _variables(options.get("env") or [], {})),)


def _variables(listed: list[Any], secrets: Mapping[str, str]) -> dict[str, str]:
    found = {one["name"]: one.get("value") or secrets[one["name"]] for one in listed}
    for variable in OF_THE_IMAGE:
        found.pop(variable, None)
    found |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
    return found | {"GRPC_DNS_RESOLVER": "native"}  # names stand in /etc/hosts: there is no DNS server


def _ray_start(role: str, group: Object, own: Mapping[str, str]) -> str:
    """Return the command that KubeRay makes of ``rayStartParams`` and the container's limits."""
    container = group["template"]["spec"]["containers"][0]
    parameters = {"num-cpus": str(container["resources"]["limits"]["cpu"]), **own, "metrics-export-port": "8080"}
    if group.get("resources"):
        parameters["resources"] = json.dumps({name: float(number) for name, number in group["resources"].items()})
    words = ["--head"] if role == "head" else ["--address=head:6379"]
    words += [f"--{name}" if value == "true" else f"--{name}={value}" for name, value in parameters.items()]
    return shlex.join(["ray", "start", *words, "--block"])


class RayPod:
    """A pod that is made again whenever its Ray container ends, as the operator does, until it is removed.

    ``runs``: the folder that is /runs in its hook.
    """

    def __init__(
        self, plan: PodPlan, network: PodNetwork, folder: Path, runs: Path, api: ApiAccess | None = None
    ) -> None:
        self.plan = plan
        self._make = partial(_Pod, plan, network, folder / plan.name, runs, api)
        self._is_wanted = True
        self._pod, self._number = self._make(), 1
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def kill(self) -> None:
        """End all processes of the pod at once; a new one takes its place."""
        self._pod.kill()

    def delete(self, *, is_replaced: bool = True) -> dict[str, ContainerEnd]:
        """End the pod as the kubelet does after ``kubectl delete pod``: hooks, SIGTERM, SIGKILL after the grace period.

        Returns how each container ended. ``is_replaced``: whether a new pod takes its place, as for a worker; that one
        starts then.
        """
        self._is_wanted = is_replaced
        number = self._number
        ends = self._pod.delete()
        while is_replaced and self._number == number:
            time.sleep(0.1)
        return ends

    def remove(self) -> None:
        """End the pod at once and for good."""
        self._is_wanted = False
        self._pod.kill()
        self._keeper.join(timeout=60)

    def fail(self) -> None:
        """End the Ray container alone, as a crash does; the operator then deletes the pod and makes a new one."""
        self._pod.fail()

    @property
    def number(self) -> int:
        """How many pods there have been, with this one."""
        return self._number

    @property
    def message(self) -> str:
        """What the Ray container left in its termination message."""
        return self._pod.message.read_text()

    def _keep(self) -> None:
        while True:
            self._pod.wait()
            self._pod.delete()  # of a pod whose Ray container has ended
            if not self._is_wanted:
                return
            self._pod, self._number = self._make(), self._number + 1


@dataclass
class _Container:
    """A container that runs; ``_holder`` is the process that waits for its first process."""

    plan: ContainerPlan
    spaces: list[str]
    script: str
    environment: Mapping[str, str]
    log: Path
    _holder: subprocess.Popen[bytes] = field(init=False)
    _first: int = field(init=False)

    def __post_init__(self) -> None:
        variables = {**self.environment, _MARK: f"{self.log}"}
        words = [*self.spaces, "bash", "-c", f'{self.script} && exec "$@"', "container", *self.plan.command]
        with self.log.open("ab") as log:
            self._holder = subprocess.Popen(words, stdout=log, stderr=log, env=variables)
        self._first = _child(self._holder)

    def run(self, command: tuple[str, ...], seconds: float) -> None:
        """Run a hook inside of it, as the kubelet does: whatever comes of that, and no longer than ``seconds``."""
        words = ["nsenter", "--target", str(self._first), "--mount", "--uts", "--net", "--pid", *command]
        try:
            subprocess.run(words, env=dict(self.environment), timeout=seconds, capture_output=True)
        except subprocess.TimeoutExpired:
            return

    def wait(self) -> None:
        """Wait until its first process has ended; the runtime then kills the others."""
        self._holder.wait()
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                is_mine = f"{_MARK}={self.log}".encode() in path.read_bytes().split(b"\0")
            except OSError:  # it has ended
                continue
            if is_mine:
                _signal(int(path.parent.name), signal.SIGKILL)

    def end(self, grace_seconds: float) -> ContainerEnd:
        """Hook, SIGTERM to its first process, and SIGKILL when the time is up."""
        began = time.monotonic()
        if self.plan.pre_stop and self._holder.poll() is None:
            self.run(self.plan.pre_stop, grace_seconds)
        hook_seconds = time.monotonic() - began
        began, is_killed = time.monotonic(), False
        if self._holder.poll() is None:
            _signal(self._first, signal.SIGTERM)
            try:
                self._holder.wait(timeout=max(_LEAST_SECONDS, grace_seconds - hook_seconds))
            except subprocess.TimeoutExpired:
                is_killed = True
                _signal(self._first, signal.SIGKILL)
        self.wait()
        return ContainerEnd(hook_seconds=hook_seconds, seconds=time.monotonic() - began, is_killed=is_killed)

    def kill(self) -> None:
        if self._holder.poll() is None:
            _signal(self._first, signal.SIGKILL)


class _Pod:
    """One life of a pod."""

    def __init__(self, plan: PodPlan, network: PodNetwork, folder: Path, runs: Path, api: ApiAccess | None) -> None:
        self._plan, self._network = plan, network
        self._lock, self._ends = threading.Lock(), dict[str, ContainerEnd]()
        tmp, hosts, self.message = folder / "ray", folder / "hosts", folder / "message"
        tmp.mkdir(parents=True, exist_ok=True)
        for path in (Path("/tmp/ray"), runs):
            path.mkdir(parents=True, exist_ok=True)
        Path(MESSAGE_FILE).touch()
        self.message.write_text("")
        hosts.write_text(network.hosts())
        binds = {hosts: "/etc/hosts", tmp: "/tmp/ray", self.message: MESSAGE_FILE}
        steps = [f"hostname {plan.name}", *(f"mount --bind {path} {place}" for path, place in binds.items())]
        steps += ["mount -t tmpfs -o size=2g tmpfs /dev/shm"]
        if plan.role != "head":  # as the operator's init container
            steps += ["until (: < /dev/tcp/head/6379) 2> /dev/null; do sleep 1; done"]
        environment = {}
        if api is not None:
            account = "/run/secrets/kubernetes.io/serviceaccount"
            steps += ["mount -t tmpfs tmpfs /run", f"mkdir -p {account}", f"mount --bind {api.folder} {account}"]
            environment = {"KUBERNETES_SERVICE_HOST": api.host, "KUBERNETES_SERVICE_PORT_HTTPS": str(api.port)}
        host = ["ip", "netns", "exec", PREFIX + plan.name]
        own = ["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child"]
        self._pause = None
        spaces = [*host, *own]
        if plan.shares_processes:
            self._pause = subprocess.Popen([*spaces, "bash", "-c", _PAUSE])
            spaces = [*host, "nsenter", "--target", str(_child(self._pause)), "--pid", "--uts", "unshare", "--mount"]
            steps.insert(0, "mount -t proc proc /proc")
        self._containers = [
            _Container(
                plan=ContainerPlan(
                    one.name, one.command, one.environment, tuple(w.replace("/runs", str(runs)) for w in one.pre_stop)
                ),
                spaces=spaces,
                script=" && ".join(steps),
                environment=_environment({**environment, **one.environment}),
                log=folder / ("log" if number == 0 else f"{one.name}.log"),
            )
            for number, one in enumerate(plan.containers)
        ]

    def wait(self) -> None:
        """Wait until the Ray container has ended."""
        self._containers[0].wait()

    def delete(self) -> dict[str, ContainerEnd]:
        """End it gracefully; who comes second waits for the same end."""
        with self._lock:
            if not self._ends:
                with ThreadPoolExecutor(len(self._containers)) as pool:
                    ends = pool.map(lambda one: one.end(self._plan.grace_seconds), self._containers)
                self._ends = {one.plan.name: end for one, end in zip(self._containers, ends, strict=True)}
            self._finish()
        return self._ends

    def kill(self) -> None:
        if self._pause is not None:
            self._pause.kill()
        for one in self._containers:
            one.kill()

    def fail(self) -> None:
        self._containers[0].kill()

    def _finish(self) -> None:
        if self._pause is not None:
            self._pause.kill()
            self._pause.wait()
        while not self._network.is_empty(self._plan.name):  # its processes end after it, and still answer until then
            time.sleep(0.1)


def _child(process: subprocess.Popen[bytes]) -> int:
    """Return the process that ``unshare`` or ``nsenter`` has started in a namespace of processes."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while True:
        assert process.poll() is None, f"ended at once: {process.args!r}"
        found = children.read_text().split()
        if found:
            return int(found[0])
        time.sleep(0.01)


def _signal(process: int, number: signal.Signals) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a pod: those of the manifest, and where the program is on this machine."""
    binaries = str(Path(sys.executable).parent)
    paths = [str(REPOSITORY / name) for name in ("", "platform", "pipelines")]
    kept = {name: os.environ[name] for name in (*OF_THE_IMAGE, "LANG") if name in os.environ}
    return {**kept, "PATH": f"{binaries}:{os.environ['PATH']}", "PYTHONPATH": ":".join(paths), **own}
