"""The logs of a run's pods: of several pods, across broken connections, into the next attempt."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.cluster_error import AbsentError, ClusterError
from suphx_platform.cluster.run_status import (
    ROLE_LABEL,
    RUN_LABEL,
    attempts_of,
    is_active,
    is_ended,
    is_stop_requested,
    state_of,
)

SUBMITTER = "submitter"
"""The role whose log is that of the driver."""
_PAUSE_SECONDS = 1.0
"""Between two looks for new lines. The pods of a failed attempt are there for longer, after their last line."""
_SILENT_SECONDS = 60.0
_logger = logging.getLogger(__name__)


class NoLogError(ClusterError):
    """A run has no pod of a role that has started."""


class RunLog:
    """Consumes: logs of the pods of one role. Produces: their lines, each once. Waits for: pods, if it follows."""

    def __init__(self, api: ClusterApi, run: str, role: str = SUBMITTER) -> None:
        self._api, self._run, self._role = api, run, role
        self._last: dict[str, str] = {}
        """By pod: the time stamp of the last line that was read."""
        self._silent_until: dict[str, float] = {}
        """By pod whose log could not be read: until when others are read alone, as each attempt takes long."""

    def lines(self, *, follow: bool, tail: int | None) -> Iterator[str]:
        """Yield lines, with the pod's name in front if a role may have several; ``follow``: until the run has ended.

        ``tail``: the last lines of each pod only. Raises ClusterError if there is no pod with a log.
        """
        if not follow:
            if not (pods := self._started()):
                raise NoLogError(
                    f"{self._run} has no {self._role} pod that has started: see suphx status {self._run}, or choose "
                    "another role with --role"
                )
            for pod in pods:
                yield from self._new_lines(pod, tail)
            return
        num_failed: int | None = None
        while True:
            job = self._api.get("rayjobs", self._run)  # before the logs: what was written before its end is read
            is_over, attempts = is_ended(state_of(job)), attempts_of(job or {})  # no job: stopped
            pods = self._started()
            for pod in (one for one in pods if one["metadata"]["name"] in self._last):
                yield from self._followed(pod, tail)
            if num_failed is not None and attempts.failed > num_failed and not is_over and not is_stop_requested(job):
                yield (
                    f"--- attempt {attempts.failed} of {attempts.allowed} has failed. The next one continues from the "
                    f"last checkpoint: suphx status {self._run} ---"
                )
            num_failed = attempts.failed
            for pod in (one for one in pods if one["metadata"]["name"] not in self._last):
                yield from self._followed(pod, tail)
            if is_over and not (self._role == SUBMITTER and any(map(is_active, pods))):  # which writes a little longer
                return
            time.sleep(_PAUSE_SECONDS)

    def _started(self) -> list[Object]:
        labels = f"{RUN_LABEL}={self._run},{ROLE_LABEL}={self._role}"
        return [pod for pod in self._api.list("pods", labels=labels) if _has_log(pod)]

    def _followed(self, pod: Object, tail: int | None) -> Iterator[str]:
        """Yield new lines of a pod; one whose log cannot be read now, as on a lost node, does not end other logs."""
        name = pod["metadata"]["name"]
        if time.monotonic() < self._silent_until.get(name, 0.0):
            return
        try:
            yield from self._new_lines(pod, tail)
        except AbsentError:  # the pod was deleted, and its log with it
            return
        except ClusterError as error:
            self._silent_until[name] = time.monotonic() + _SILENT_SECONDS
            _logger.warning("%s. Other logs continue, and this one is retried", str(error).strip("."))

    def _new_lines(self, pod: Object, tail: int | None) -> Iterator[str]:
        """Yield the lines of a pod that were not read before."""
        name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
        prefix = "" if self._role in (SUBMITTER, "head") else f"{name}: "
        known = self._last.setdefault(name, "")
        whole, _, rest = known.partition(".")  # the second in which the last line was written, with its zone
        since, limit = (whole + rest.lstrip("0123456789"), None) if known else (None, tail)
        for line in self._api.log(name, container, tail=limit, since=since):
            stamp, _, text = line.partition(" ")
            if stamp > known:  # older lines were read before
                self._last[name] = max(self._last[name], stamp)
                yield prefix + text


def _has_log(pod: Object) -> bool:
    """Tell whether the container whose log is read has started; the operator adds others to a head."""
    container = pod["spec"]["containers"][0]["name"]
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    states = [one.get("state") or {} for one in statuses if one.get("name") == container]
    return any("running" in state or "terminated" in state for state in states)
