"""A Ray cluster on this machine whose nodes end as pods do: gracefully, or with all their processes at once.

Each node is a process ``ray start --block``, as in a pod.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest

from tests.free_port import free_port

Way = Literal["drained", "killed"]
WAYS: tuple[Way, ...] = ("drained", "killed")
"""drained: by SIGTERM, the signal of ``kubectl delete pod`` and ``kubectl drain``."""
_SETTINGS = {
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "2",  # by default a node works for 30 s after SIGTERM
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",  # a node that was killed is found dead within 3 s, by default within 30
    "RAY_health_check_failure_threshold": "3",
}
_TOKENS = {"RAY_AUTH_MODE": "disabled"}
"""As in this process, where ``ray.init`` sets it to "token" when it starts Ray, for good: with another mode nodes and
this process refuse each other's calls, and Ray takes the owner of all actors for dead."""
_START = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--disable-usage-stats"]
_LOOK_SECONDS = 0.05
_STARTS = 5
_START_SECONDS = 120.0


class RayNodes:
    """A head without CPUs, and a node with a CPU for each role, which is replaced whenever it ends, as in a cluster."""

    def __init__(self, roles: Collection[str]) -> None:
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.ended: list[str] = []
        """Roles whose nodes have ended, and been replaced."""
        self._head = _start("--head", f"--port={port}", "--num-cpus=0", "--include-dashboard=false")
        self._nodes: dict[str, psutil.Popen] = {}
        try:
            self._nodes |= {role: self._add(role) for role in roles}
        except BaseException:
            self.close()
            raise

    def processes(self, role: str, kind: str) -> list[psutil.Process]:
        """Return the processes of actors or tasks called ``kind`` on the node of a role."""
        return [process for process in _below(self._nodes[role]) if _title(process).startswith(f"ray::{kind}")]

    def end(self, role: str, way: Way) -> None:
        """End the node of a role, and add another one."""
        _end(self._nodes[role], way)
        self._nodes[role] = self._add(role)
        self.ended.append(role)

    def end_when(self, way: Way, moments: Sequence[tuple[str, Callable[[], object]]]) -> Future[None]:
        """End the node of a role when its moment is there, one after another, while the caller goes on."""
        ended: Future[None] = Future()

        def act() -> None:
            try:
                for role, is_now in moments:
                    while not is_now():
                        time.sleep(_LOOK_SECONDS)
                    self.end(role, way)
            except BaseException as error:
                ended.set_exception(error)
                interrupt_main()  # which would wait for the node for ever
                raise
            ended.set_result(None)

        threading.Thread(target=act, daemon=True).start()
        return ended

    def end_when_saved(
        self, patch: pytest.MonkeyPatch, kind: type, method: str, *, ends_before: int
    ) -> Callable[[], bool]:
        """Return the moment at which ``method`` is called that collects a state, after so many ends; it waits a little.

        When it continues the node has begun to drain, or is gone.
        """
        is_saving = threading.Event()
        original = getattr(kind, method)

        def saves(*arguments: Any) -> Any:
            if len(self.ended) == ends_before and not is_saving.is_set():
                is_saving.set()
                time.sleep(4 * _LOOK_SECONDS)
            return original(*arguments)

        patch.setattr(kind, method, saves)
        return is_saving.is_set

    def close(self) -> None:
        for process in (*self._nodes.values(), self._head):
            _end(process, "killed")

    def _add(self, role: str) -> psutil.Popen:
        kind = role.partition(" ")[0]
        resources = json.dumps({kind: 1})
        return _start(f"--address={self.address}", "--num-cpus=1", f"--resources={resources}")


def _start(*arguments: str) -> psutil.Popen:
    """Return a node that has started; a busy machine may miss the time that Ray gives it."""
    place = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(_STARTS):
        node = psutil.Popen([*_START, *arguments], env={**_TOKENS, **os.environ, **_SETTINGS}, **place)
        ends = time.monotonic() + _START_SECONDS
        while node.poll() is None and time.monotonic() < ends:
            if any(Path(_title(process)).name == "raylet" for process in _below(node)):
                return node
            time.sleep(_LOOK_SECONDS)
        _end(node, "killed")
    raise ChildProcessError(f"a node did not start {_STARTS} times: ray start {' '.join(arguments)}")


def _end(node: psutil.Popen, way: Way) -> None:
    processes = _below(node)
    if way == "drained":
        node.terminate()
        node.wait(timeout=60)
    for process in (node, *processes):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    node.wait(timeout=60)


def _below(node: psutil.Popen) -> list[psutil.Process]:
    try:
        children: list[psutil.Process] = node.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return children


def _title(process: psutil.Process) -> str:
    try:
        return str((process.cmdline() or [""])[0])
    except psutil.NoSuchProcess:
        return ""


@contextmanager
def ray_nodes(*roles: str) -> Iterator[RayNodes]:
    """Have a cluster, to which ``ray_session`` connects, while the block runs. ``worker 1``: of the role ``worker``."""
    cluster = RayNodes(roles)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAY_ADDRESS", cluster.address)
            yield cluster
    finally:
        cluster.close()
