"""The objects of runs in one namespace: read, created, deleted and waited for, so that a broken connection loses none.

The RayJob is created first: two launches at the same time compete for its name. The ConfigMap with the recipe follows
and is owned by it, so that Kubernetes deletes both together. A status is made of the objects of one run, or of those of
all runs with one request for each kind.
"""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime

from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.cluster_error import ClusterError, ExistsError
from suphx_platform.cluster.run_attempts import StopOutcome, read_report
from suphx_platform.cluster.run_manifest import JOB_KEY, LAUNCH_NOTE, has_job, job_text, owner_of, recipe_name
from suphx_platform.cluster.run_status import RUN_LABEL, STOP_NOTE, is_active, is_ended, is_stop_requested, state_of

STOPPED_NOTE = "suphx/stopped"
"""Annotation of a recipe whose run was stopped by deleting its RayJob; the run can be resumed."""


class RunStore:
    """The objects of runs, each asked for when it is needed: ``RunStore(api).create(job, recipe)``."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api

    def job(self, run: str) -> Object | None:
        """Return the RayJob of a run, None if there is none; ClusterError if somebody else's has this name."""
        job = self._get("rayjobs", run)
        if job is not None and (job["metadata"].get("labels") or {}).get(RUN_LABEL) != run:
            raise ClusterError(f"RayJob {run} has no label {RUN_LABEL}={run}: it is not a run of suphx")
        return job

    def recipe(self, run: str) -> Object | None:
        """Return the ConfigMap with the recipe of a run."""
        return self._get("configmaps", recipe_name(run))

    def cluster(self, name: str) -> Object | None:
        """Return a RayCluster."""
        return self._get("rayclusters", name)

    def submitter(self, run: str) -> Object | None:
        """Return the Kubernetes Job of a run's submitter, which the operator names after the run."""
        return self._get("jobs", run)

    def pods(self, run: str) -> list[Object]:
        """Return all pods of a run."""
        return self._api.list("pods", labels=f"{RUN_LABEL}={run}")

    def warnings(self) -> list[Object]:
        """Return the events of the namespace that are warnings."""
        return self._api.list("events", fields="type=Warning")

    def _get(self, kind: str, name: str) -> Object | None:
        return self._api.get(kind, name)

    def create(self, job: Object, recipe: Object) -> bool:
        """Create both objects; return False if another command created the RayJob at the same time.

        Raises ClusterError; then neither of them is left, or the message names what is. The same after Ctrl-C.
        """
        note = secrets.token_hex(8)
        annotations = {**(job["metadata"].get("annotations") or {}), LAUNCH_NOTE: note}
        name = job["metadata"]["name"]
        try:
            made = self._api.create("rayjobs", {**job, "metadata": {**job["metadata"], "annotations": annotations}})
        except ExistsError:  # by another command, or by this one before the connection broke
            made = self.job(name) or {}
            if (made.get("metadata", {}).get("annotations") or {}).get(LAUNCH_NOTE) != note:
                return False
        try:
            self.put_recipe(recipe, made)
        except (ClusterError, KeyboardInterrupt) as error:
            self._undo(name, error)
            raise
        return True

    def put_recipe(self, recipe: Object, job: Object) -> None:
        """Create the recipe of a RayJob that exists, or replace the one that is left of an earlier RayJob."""
        name, data = recipe["metadata"]["name"], recipe["data"]
        metadata = {key: dict(recipe["metadata"].get(key) or {}) for key in ("labels", "annotations")}
        metadata["annotations"].pop(STOPPED_NOTE, None)
        owned = {**metadata, "ownerReferences": [owner_of(job)]}
        changed = {**owned, "annotations": {**metadata["annotations"], STOPPED_NOTE: None}}
        for _ in range(2):  # Kubernetes may delete what is left of an earlier RayJob at the same time
            try:
                self._api.create("configmaps", {**recipe, "metadata": {"name": name, **owned}})
                return
            except ExistsError:
                if self._api.get("configmaps", name) is not None:
                    break
        self._api.change("configmaps", name, lambda _: {"metadata": changed, "data": data})

    def _undo(self, name: str, error: BaseException) -> None:
        try:
            self._api.delete("rayjobs", name)
        except ClusterError as second:
            cause = f"{error}. " if str(error) else ""
            raise ClusterError(f"{cause}RayJob {name} exists and cannot be deleted ({second})") from error

    def keep_recipe(self, run: str, job: Object | None) -> Object:
        """Let the recipe survive the deletion of the RayJob, with all that creates it again; return the recipe."""

        def make(recipe: Object) -> Object:
            owners = [one["uid"] for one in recipe["metadata"].get("ownerReferences") or ()]
            if job is not None and owners and job["metadata"]["uid"] not in owners:
                raise ClusterError(f"another command created {run} at the same time: see suphx status {run}")
            note = {"annotations": {STOPPED_NOTE: "true"}, "ownerReferences": None}
            missing = job is not None and not has_job(recipe)
            return {"metadata": note, **({"data": {JOB_KEY: job_text(job or {})}} if missing else {})}

        if self.recipe(run) is None:
            raise ClusterError(
                f"ConfigMap {recipe_name(run)} does not exist, without which {run} cannot be resumed. Launch its "
                f"recipe again to restore it, or remove the run with suphx delete {run}"
            )
        return self._api.change("configmaps", recipe_name(run), make)

    def request_stop(self, run: str) -> None:
        """Note on the RayJob that it is to stop, and that no attempt follows when its driver has ended."""

        def make(job: Object) -> Object:
            note = {"annotations": {STOP_NOTE: datetime.now(UTC).isoformat(timespec="seconds")}}
            return {} if is_stop_requested(job) else {"metadata": note, "spec": {"backoffLimit": 0}}

        self._api.change("rayjobs", run, make)


def is_kept(recipe: Object | None) -> bool:
    """Return whether a recipe without RayJob is that of a stopped run, which can be resumed."""
    return STOPPED_NOTE in ((recipe or {}).get("metadata", {}).get("annotations") or {})


class AllRuns(RunStore):
    """Lists each kind once, when the first run needs it."""

    def __init__(self, api: ClusterApi) -> None:
        super().__init__(api)
        self._listed: dict[str, list[Object]] = {}

    def runs(self) -> list[str]:
        """Return the ids of all runs that have a RayJob or a recipe, in the order of their creation."""
        # Recipes are listed first: one of a run that is created meanwhile would look like one without a RayJob.
        found = [*self._all("configmaps"), *self._all("rayjobs")]
        made = {_run_of(one): str(one["metadata"].get("creationTimestamp", "")) for one in found}
        return sorted(made, key=lambda run: (made[run], run))

    def pods(self, run: str) -> list[Object]:
        """Return all pods of a run."""
        return [one for one in self._all("pods") if _run_of(one) == run]

    def warnings(self) -> list[Object]:
        """Return the events of the namespace that are warnings."""
        if "events" not in self._listed:
            self._listed["events"] = super().warnings()
        return self._listed["events"]

    def _get(self, kind: str, name: str) -> Object | None:
        return next((one for one in self._all(kind) if one["metadata"]["name"] == name), None)

    def _all(self, kind: str) -> list[Object]:
        if kind not in self._listed:
            labels = RUN_LABEL if kind in ("rayjobs", "configmaps", "pods") else ""
            self._listed[kind] = self._api.list(kind, labels=labels)
        return self._listed[kind]


def _run_of(one: Object) -> str:
    return str(one["metadata"]["labels"][RUN_LABEL])


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
