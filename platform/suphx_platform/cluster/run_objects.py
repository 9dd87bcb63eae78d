"""The objects of runs in one namespace: found, created, kept and waited for, so that a broken connection loses none.

The RayJob is created first: two launches at the same time compete for its name. The ConfigMap with the recipe follows
and is owned by it, so that Kubernetes deletes both together.
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
POLL_SECONDS = 2.0


class Listing:
    """The objects of all runs, with one request for each kind, when the first run needs it; asked as ClusterApi is."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api
        self._listed: dict[str, list[Object]] = {}

    def runs(self) -> list[str]:
        """Return the ids of all runs that have a RayJob or a recipe, in the order of their creation."""
        # Recipes are listed first: one of a run that is created meanwhile would look like one without a RayJob.
        found = [*self._all("configmaps"), *self._all("rayjobs")]
        made = {str(one["metadata"]["labels"][RUN_LABEL]): str(one["metadata"]["creationTimestamp"]) for one in found}
        return sorted(made, key=lambda run: (made[run], run))

    def _all(self, kind: str, fields: str = "") -> list[Object]:
        if kind not in self._listed:
            labels = RUN_LABEL if kind in ("rayjobs", "configmaps", "pods") else ""
            self._listed[kind] = self._api.list(kind, labels=labels, fields=fields)
        return self._listed[kind]

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object; None if it does not exist."""
        return next((one for one in self._all(kind) if one["metadata"]["name"] == name), None)

    def list(self, kind: str, *, labels: str = "", fields: str = "") -> list[Object]:
        """Return the objects with a label ``key=value``, or all of ``fields``."""
        key, _, value = labels.partition("=")
        found = self._all(kind, fields)
        return [one for one in found if not key or (one["metadata"].get("labels") or {}).get(key) == value]


def find_job(api: ClusterApi | Listing, run: str) -> Object | None:
    """Return the RayJob of a run, None if there is none; ClusterError if somebody else's has this name."""
    job = api.get("rayjobs", run)
    if job is not None and (job["metadata"].get("labels") or {}).get(RUN_LABEL) != run:
        raise ClusterError(f"RayJob {run} has no label {RUN_LABEL}={run}: it is not a run of suphx")
    return job


def find_recipe(api: ClusterApi | Listing, run: str) -> Object | None:
    """Return the ConfigMap with the recipe of a run."""
    return api.get("configmaps", recipe_name(run))


def list_pods(api: ClusterApi | Listing, run: str) -> list[Object]:
    """Return all pods of a run."""
    return api.list("pods", labels=f"{RUN_LABEL}={run}")


def is_kept(recipe: Object | None) -> bool:
    """Return whether a recipe without RayJob is that of a stopped run, which can be resumed."""
    return STOPPED_NOTE in ((recipe or {}).get("metadata", {}).get("annotations") or {})


def create_run(api: ClusterApi, job: Object, recipe: Object) -> bool:
    """Create RayJob and recipe; return False if another command created the RayJob at the same time.

    Raises ClusterError; then neither of them is left, or the message names what is. The same after Ctrl-C.
    """
    note = secrets.token_hex(8)
    annotations = {**(job["metadata"].get("annotations") or {}), LAUNCH_NOTE: note}
    name = job["metadata"]["name"]
    try:
        made = api.create("rayjobs", {**job, "metadata": {**job["metadata"], "annotations": annotations}})
    except ExistsError:  # by another command, or by this one before the connection broke
        made = find_job(api, name) or {}
        if (made.get("metadata", {}).get("annotations") or {}).get(LAUNCH_NOTE) != note:
            return False
    try:
        put_recipe(api, recipe, made)
    except (ClusterError, KeyboardInterrupt) as error:
        try:
            api.delete("rayjobs", name)
        except ClusterError as second:
            cause = f"{error}. " if str(error) else ""
            raise ClusterError(f"{cause}RayJob {name} exists and cannot be deleted ({second})") from error
        raise
    return True


def put_recipe(api: ClusterApi, recipe: Object, job: Object) -> None:
    """Create the recipe of a RayJob that exists, or replace the one that is left of an earlier RayJob."""
    name, data = recipe["metadata"]["name"], recipe["data"]
    metadata = {key: dict(recipe["metadata"].get(key) or {}) for key in ("labels", "annotations")}
    metadata["annotations"].pop(STOPPED_NOTE, None)
    owned = {**metadata, "ownerReferences": [owner_of(job)]}
    changed = {**owned, "annotations": {**metadata["annotations"], STOPPED_NOTE: None}}
    for _ in range(2):  # Kubernetes may delete what is left of an earlier RayJob at the same time
        try:
            api.create("configmaps", {**recipe, "metadata": {"name": name, **owned}})
            return
        except ExistsError:
            if api.get("configmaps", name) is not None:
                break
    api.change("configmaps", name, lambda _: {"metadata": changed, "data": data})


def keep_recipe(api: ClusterApi, run: str, job: Object | None) -> Object:
    """Let the recipe survive the deletion of the RayJob, with all that creates it again; return the recipe."""

    def make(recipe: Object) -> Object:
        owners = [one["uid"] for one in recipe["metadata"].get("ownerReferences") or ()]
        if job is not None and owners and job["metadata"]["uid"] not in owners:
            raise ClusterError(f"another command created {run} at the same time: see suphx status {run}")
        note = {"annotations": {STOPPED_NOTE: "true"}, "ownerReferences": None}
        missing = job is not None and not has_job(recipe)
        return {"metadata": note, **({"data": {JOB_KEY: job_text(job or {})}} if missing else {})}

    if find_recipe(api, run) is None:
        raise ClusterError(
            f"ConfigMap {recipe_name(run)} does not exist, without which {run} cannot be resumed. Launch its "
            f"recipe again to restore it, or remove the run with suphx delete {run}"
        )
    return api.change("configmaps", recipe_name(run), make)


def request_stop(api: ClusterApi, run: str) -> None:
    """Note on the RayJob that it is to stop, and that no attempt follows when its driver has ended."""

    def make(job: Object) -> Object:
        note = {"annotations": {STOP_NOTE: datetime.now(UTC).isoformat(timespec="seconds")}}
        return {} if is_stop_requested(job) else {"metadata": note, "spec": {"backoffLimit": 0}}

    api.change("rayjobs", run, make)


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
        while names := [pod["metadata"]["name"] for pod in list_pods(self._api, self._run) if is_active(pod)]:
            if time.monotonic() >= self._ends_at:
                raise ClusterError(
                    f"pods of {self._run} are still terminating: {', '.join(names)}. Repeat the command to wait "
                    "longer; if the node of a pod is lost, kubectl delete pod NAME --force removes it"
                )
            time.sleep(POLL_SECONDS)


def _has_started(pod: Object) -> bool:
    """Tell whether any container of a pod has run; one that never did can be ``terminated``, without a beginning."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    states = [one.get("state") or {} for one in statuses]
    return any("running" in state or (state.get("terminated") or {}).get("startedAt") for state in states)
