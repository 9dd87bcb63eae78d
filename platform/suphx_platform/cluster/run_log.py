"""The logs of a run's pods: several pods at once, across broken connections."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator

from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.cluster_error import AbsentError, ClusterError
from suphx_platform.cluster.run_status import ROLE_LABEL, RUN_LABEL, attempts_of, is_ended, is_stop_requested, state_of

SUBMITTER = "submitter"
"""The role whose log is that of the driver."""
_PAUSE_SECONDS = 1.0
_logger = logging.getLogger(__name__)


class NoLogError(ClusterError):
    """A run has no pod of a role that has started."""


class RunLog:
    """Consumes: logs of the pods of one role. Produces: their lines, each once. Waits for: pods, if it follows."""

    def __init__(self, api: ClusterApi, run: str, role: str = SUBMITTER) -> None:
        self._api, self._run, self._role = api, run, role
        self._lines: queue.Queue[str | ClusterError | None] = queue.Queue()
        self._seen: set[str] = set()
        self._num_reading = 0

    def lines(self, *, follow: bool, tail: int | None) -> Iterator[str]:
        """Yield lines, with the pod's name in front if a role may have several; ``follow``: until the run has ended.

        ``tail``: the last lines of each pod only. Raises ClusterError if there is no pod with a log.
        """
        pods = self._started()
        if not pods and not follow:
            raise NoLogError(
                f"{self._run} has no {self._role} pod that has started: see suphx status {self._run}, or choose "
                "another role with --role"
            )
        is_over, num_failed = False, attempts_of(self._api.get("rayjobs", self._run) or {}).failed
        while True:
            for pod in pods:
                self._seen.add(pod["metadata"]["name"])
                self._num_reading += 1
                threading.Thread(target=self._read, args=(pod, follow, tail), daemon=True).start()
            yield from self._drained()
            if self._num_reading == 0:
                if is_over or not follow:
                    return
                time.sleep(_PAUSE_SECONDS)  # no pod has a log now: it is queued, starts, or is tried again
            job = self._api.get("rayjobs", self._run) if follow else None
            is_over, attempts = follow and is_ended(state_of(job)), attempts_of(job or {})  # no job: stopped
            pods = self._started()
            has_ended = attempts.failed > num_failed and (pods or self._num_reading == 0)  # its last lines were read
            if has_ended and not is_over and not is_stop_requested(job):
                num_failed = attempts.failed
                yield (
                    f"--- attempt {attempts.failed} of {attempts.allowed} has failed. The next one continues from the "
                    f"last checkpoint: suphx status {self._run} ---"
                )

    def _started(self) -> list[Object]:
        labels = f"{RUN_LABEL}={self._run},{ROLE_LABEL}={self._role}"
        pods = self._api.list("pods", labels=labels)
        return [pod for pod in pods if _has_log(pod) and pod["metadata"]["name"] not in self._seen]

    def _drained(self) -> Iterator[str]:
        """Yield lines until no pod is read any more, or for a while."""
        ends_at = time.monotonic() + _PAUSE_SECONDS
        while self._num_reading > 0 and time.monotonic() < ends_at:
            try:
                line = self._lines.get(timeout=max(0.01, ends_at - time.monotonic()))
            except queue.Empty:
                return
            if line is None:
                self._num_reading -= 1
            elif isinstance(line, ClusterError):
                raise line
            else:
                yield line

    def _read(self, pod: Object, follow: bool, tail: int | None) -> None:
        """Put all lines of a pod into the queue, continuing where a connection broke, and None at the end."""
        name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
        prefix = "" if self._role in (SUBMITTER, "head") else f"{name}: "
        last, is_last = "", not follow  # time stamp of the newest line that was read
        try:
            while True:
                known = last
                whole, _, rest = known.partition(".")  # the second in which the last line was written, with its zone
                since, limit = (whole + rest.lstrip("0123456789"), None) if known else (None, tail)
                try:
                    for line in self._api.log(name, container, follow=follow, tail=limit, since=since):
                        stamp, _, text = line.partition(" ")
                        if stamp > known:  # older lines came before the connection broke
                            last = max(last, stamp)
                            self._lines.put(prefix + text)
                except AbsentError:
                    return  # the pod was deleted, and its log with it
                except ClusterError as error:
                    if is_last or not self._goes_on(name):
                        raise
                    _logger.warning("%s. Other logs are read on, this one is requested again", str(error).strip("."))
                if is_last:
                    return
                is_last = not self._goes_on(name)  # then once more: it may have written while no connection was open
                time.sleep(_PAUSE_SECONDS)
        except ClusterError as error:
            self._lines.put(error)
        finally:
            self._lines.put(None)

    def _goes_on(self, name: str) -> bool:
        pod = self._api.get("pods", name)
        return pod is not None and (pod.get("status") or {}).get("phase") == "Running"


def _has_log(pod: Object) -> bool:
    """Tell whether the container whose log is read has started; the operator adds others to a head."""
    container = pod["spec"]["containers"][0]["name"]
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    states = [one.get("state") or {} for one in statuses if one.get("name") == container]
    return any("running" in state or "terminated" in state for state in states)
