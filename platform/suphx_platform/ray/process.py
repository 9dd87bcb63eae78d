"""The process of an actor: CPU and memory, health, when it must end, and how it asks other actors.

After most errors of CUDA every later call of the same process fails too. A process that lived on would fail at each
request, although its health checks are answered: it ends, and is replaced.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import psutil
import ray

from suphx.selfplay.buffer import BufferStatus
from suphx.selfplay.requests import EngineCounts

M = TypeVar("M")
_TEXTS = (
    *("CUDA error", "HIP error", "Triton Error [CUDA]"),
    *("CUDNN_STATUS_EXECUTION_FAILED", "CUDNN_STATUS_INTERNAL_ERROR"),
)
_TEXTS_OF_MEMORY = ("out of memory", "ALLOC_FAILED")
_EXIT_CODE = 1
BACK_OFF_SECONDS = 0.2
"""Between two requests to a part that is gone."""
_logger = logging.getLogger(__name__)


class LearnersLostError(RuntimeError):
    """A learner of several died or does not answer, and all were ended with it.

    Make a new Learner and restore the last state.
    """


@contextmanager
def ending_broken_process() -> Iterator[None]:
    """End this process at an error of its GPU, or if one of several learners is lost; raise any other error."""
    try:
        yield
    except RuntimeError as error:
        if not (isinstance(error, LearnersLostError) or is_error_of_gpu(error)):
            raise
        _logger.exception("this process cannot go on: it ends and is replaced")
        os._exit(_EXIT_CODE)


def ends_broken_process(method: M) -> M:
    """Return a method of an actor that does this.

    It stands above ``ray.method``, whose options Ray reads of the innermost function.
    """
    decorate: Any = ending_broken_process()
    return cast(M, decorate(method))


def is_error_of_gpu(error: Exception) -> bool:
    """Tell whether an error of torch says that a GPU, or this process's use of it, has failed; not for its memory."""
    if any(text in str(error) for text in _TEXTS_OF_MEMORY):
        return False
    is_of_device = type(error).__name__ == "AcceleratorError"  # by name: most processes have not loaded torch
    return is_of_device or (isinstance(error, RuntimeError) and any(text in str(error) for text in _TEXTS))


def peak_bytes(pid: int | None = None) -> int:
    """Return the most that was ever resident in a process (default: this one), files mapped from disk included.

    On other systems than Linux: what is resident now.
    """
    if sys.platform != "linux":
        return int(psutil.Process(pid).memory_info().rss)
    # psutil has no peaks on Linux
    status = Path(f"/proc/{pid or 'self'}/status").read_text(encoding="ascii", errors="replace")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def private_bytes(pid: int | None = None) -> int:
    """Return the memory of a process (default: this one) that its end would free: no files, no shared memory."""
    memory = psutil.Process(pid).memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))  # Linux only


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process since it began, to a hundredth of a second."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


CALL_ERRORS = (ray.exceptions.RayActorError, ray.exceptions.RayTaskError, ray.exceptions.ObjectLostError)
"""What the answer to a call may be if its part, or the node of the answer, is gone, or the part raised an error."""


class NotBegunError(RuntimeError):
    """A part has just been made, and was not told yet to begin."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a part says of its process."""

    process: int
    node: str
    memory_bytes: int
    """Private memory: what the process would free by ending."""
    waiting_seconds: float = 0.0
    """Of an engine: how long its oldest request has been waiting."""
    counts: EngineCounts | None = None
    """Of an engine: what it has done."""
    versions_behind: int = 0
    """Of the parameter server: how far the slowest engine is behind."""
    status: BufferStatus | None = None


class RayActor:
    """What all actors have."""

    @ray.method(concurrency_group="health")
    def health(self) -> Health:
        """Say that the process lives, whatever else it is doing."""
        return health_of_process()


def health_of_process() -> Health:
    """Return what every actor can say of its process."""
    return Health(os.getpid(), ray.util.get_node_ip_address(), private_bytes())


class PeerLostError(RuntimeError):
    """Another part is gone that this one has asked: that one is to blame."""


class Peer:
    """Another part, by its name in Ray: another actor may get the name of one that has ended."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._actor: Any = None

    def call(self, method: str, *arguments: Any) -> Any:
        """Return the reference of its answer; PeerLostError while nobody has its name."""
        if self._actor is None:
            try:
                self._actor = ray.get_actor(self._name)
            except ValueError as error:
                raise PeerLostError(str(error)) from None
        return getattr(self._actor, method).remote(*arguments)

    def forget(self) -> None:
        """Look for the name again at the next call."""
        self._actor = None

    def answer(self, reference: Any) -> Any:
        """Return what it answered; PeerLostError if it is gone, or new and has not begun."""
        try:
            return ray.get(reference)
        except CALL_ERRORS as error:
            self.forget()
            if isinstance(error, ray.exceptions.RayTaskError) and not isinstance(error.cause, NotBegunError):
                raise  # it lives, and would not do better when it is asked again
            raise PeerLostError(str(error)) from None

    def ask(self, method: str, *arguments: Any) -> Any:
        """Return what it answers; errors as for ``answer``."""
        return self.answer(self.call(method, *arguments))

    def insist(self, method: str, *arguments: Any) -> Any:
        """Return what it answers; while it is gone, wait and ask again."""
        while True:
            with suppress(PeerLostError):
                return self.ask(method, *arguments)
            time.sleep(BACK_OFF_SECONDS)
