"""Waiting for what others do to a run: the driver saves, the operator acts, the nodes end the pods."""

from __future__ import annotations

import time

from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.runs.run_status import RUN_LABEL, is_active, is_ended, state_of
from suphx_platform.cluster.stop_report import StopOutcome, read_report

POLL_SECONDS = 2.0


class RunWait:
    """Consumes: the objects of one run as they change. Produces: nothing. Waits for: at most ``seconds`` in all."""

    def __init__(self, api: ClusterApi, run: str, *, seconds: float) -> None:
        self._api, self._run = api, run
        self._ends_at = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """The rest of the time, at least one second: what is so already is seen in any case."""
        return max(1.0, self._ends_at - time.monotonic())

    def until_head_ended(self, pod: str) -> dict[str, StopOutcome] | None:
        """Have a head pod end as on a node that is drained, and wait until it has; return what it reports.

        Its hook (``preStop``) has the driver save. None: it ended without a report. Empty: it had no driver, or had not
        started. ClusterError if it takes too long.
        """
        changes = self._api.changes("pods", pod, seconds=self.seconds_left)
        if (before := next(changes)) is None:
            return None
        self._api.delete("pods", pod)  # after the first look, from which the watch shows all changes
        report: dict[str, StopOutcome] | None = None
        has_started = _has_started(before)
        for one in changes:
            if one is not None:
                found = read_report(one)
                report = report if found is None else found
                has_started = has_started or _has_started(one)
            if one is None or not is_active(one):
                return report if has_started else {}
        raise ClusterError(
            f"{self._run} is still saving its state: see suphx logs {self._run}. Repeat the command to wait longer, or "
            "use --now to end it without saving. The pod is killed after run.saveSeconds of the chart at the latest"
        )

    def until_stopped(self) -> None:
        """Wait until the operator has stopped the run, or the run has ended, and no pod is left."""
        for job in self._api.changes("rayjobs", self._run, seconds=self.seconds_left):
            if is_ended(state := state_of(job)) or state == "queued":
                return self.until_no_pods()
        raise ClusterError(
            f"{self._run} is not stopped yet. See suphx status {self._run}, and check that the KubeRay operator runs; "
            f"suphx stop {self._run} waits again"
        )

    def until_deleted(self) -> None:
        """Wait until the RayJob does not exist any more."""
        for job in self._api.changes("rayjobs", self._run, seconds=self.seconds_left):
            if job is None:
                return
        raise ClusterError(
            f"RayJob {self._run} is being deleted and waits for its finalizer, which the KubeRay operator removes. "
            f"Check that the operator runs and repeat the command, or use suphx delete {self._run} --force"
        )

    def until_no_pods(self) -> None:
        """Wait until no pod is left: one that terminates may still run its driver, which saves."""
        while True:
            pods = self._api.list("pods", labels=f"{RUN_LABEL}={self._run}")
            names = [pod["metadata"]["name"] for pod in pods if is_active(pod)]
            if not names:
                return
            if time.monotonic() >= self._ends_at:
                break
            time.sleep(POLL_SECONDS)
        raise ClusterError(
            f"pods of {self._run} are still terminating: {', '.join(names)}. Repeat the command to wait longer; if the "
            "node of a pod is lost, kubectl delete pod NAME --force removes it"
        )


def _has_started(pod: Object) -> bool:
    """Tell whether any container of a pod has run; one that never did can be ``terminated``, without a beginning."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    states = [one.get("state") or {} for one in statuses]
    return any("running" in state or (state.get("terminated") or {}).get("startedAt") for state in states)
