"""Runs on a Kubernetes cluster: created, observed, stopped, resumed and deleted as RayJobs of the chart.

>>> launcher = Launcher(ClusterApi())
>>> launcher.launch(objects)
>>> launcher.status("reinforcement-1f2e3d4c5b").state
'starting'

The RayJob is created first: two launches at the same time compete for its name. The ConfigMap with the recipe follows
and is owned by it, so that Kubernetes deletes both together. A run that is stopped keeps its recipe.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from suphx_platform.cluster import kuberay, run_status
from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.cluster_error import ClusterError, DeniedError, ExistsError
from suphx_platform.cluster.run_attempts import StopOutcome, places_of, read_report
from suphx_platform.cluster.run_log import RunLog
from suphx_platform.cluster.run_manifest import (
    JOB_KEY,
    LAUNCH_NOTE,
    PRESET_LABEL,
    RELEASE_LABEL,
    TEMPLATE_LABEL,
    RunObjects,
    job_of,
    job_text,
    recipe_name,
    setting,
)
from suphx_platform.cluster.run_status import (
    RUN_LABEL,
    RunStatus,
    State,
    is_active,
    is_ended,
    is_stop_requested,
    state_of,
)

STOPPED_NOTE = "suphx/stopped"
"""Annotation of a recipe whose run was stopped by deleting its RayJob; the run can be resumed."""
OPERATOR_NOTE = "suphx/operator-namespace"
"""Annotation of the chart's template: where the operator is."""
POLL_SECONDS = 2.0
_NOW_SECONDS = 1
"""How long a head pod may go on that is not to save. 0 would make Kubernetes forget it while it still runs."""
_LOSSES: Mapping[str, str] = {
    "failed": "ended with an error when it was asked to save",
    "killed": "was killed before it had saved",
    "unsaved": "had not saved its state within run.saveSeconds of the chart",
}
_HINTS: dict[State, str] = {
    "stopped": "suphx resume RUN continues it",
    "failed": "suphx status RUN shows the cause, suphx resume RUN continues from the last checkpoint",
    "succeeded": "a recipe with another seed is another run, and suphx delete RUN makes room for this one",
    "stopping": "suphx resume RUN continues it when its pods have ended",
}
_logger = logging.getLogger(__name__)


class UnknownEndError(ClusterError):
    """A run is stopped, and it is not known whether it has saved."""


class Launcher:
    """Consumes: commands. Produces: objects in the cluster. Waits for: the operator and the pods, where it has to."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api

    def template(self, release: str | None) -> Object:
        """Return the chart's ConfigMap with the templates of runs; ``release``: of which installation.

        Raises ClusterError if there is none, or more than one.
        """
        labels = TEMPLATE_LABEL + (f",{RELEASE_LABEL}={release}" if release else "")
        found = self._api.list("configmaps", labels=labels)
        if len(found) == 1:
            return found[0]
        if not found:
            raise ClusterError(
                f"the chart is not installed in namespace {self._api.namespace} (no ConfigMap with label {labels}). "
                "Install it with helm install, or choose another --namespace"
            )
        names = sorted(str((one["metadata"].get("labels") or {}).get(RELEASE_LABEL)) for one in found)
        raise ClusterError(f"the chart is installed more than once ({', '.join(names)}): choose one with --release")

    def check_operator(self, template: Object) -> None:
        """Raise ClusterError if the operator is older than the chart needs; warn of one that is newer than supported.

        ``template``: the chart's, which names the operator's namespace. An operator that these credentials cannot read
        is not checked.
        """
        namespace = (template["metadata"].get("annotations") or {}).get(OPERATOR_NOTE)
        try:
            deployment = self._api.get("deployments", kuberay.OPERATOR, namespace=namespace) if namespace else None
        except DeniedError:
            return
        version = None if deployment is None else kuberay.operator_version(deployment)
        if version is None or kuberay.is_supported(version):
            return
        text = f"the KubeRay operator in namespace {namespace} is {version}, and the chart supports"
        if kuberay.is_too_old(version):
            raise ClusterError(f"{text} {kuberay.supported_range()}: upgrade the operator and its CRDs (k8s/README.md)")
        _logger.warning("%s %s: newer ones were not tested", text, kuberay.supported_range())

    def launch(self, objects: RunObjects, *, is_dry: bool = False) -> RunStatus:
        """Create a run; leave an existing one as it is. ``is_dry``: let the server check the objects only."""
        run, namespace = objects.run_id, self._api.namespace
        job, recipe = find_job(self._api, run), find_recipe(self._api, run)
        if job is not None or is_kept(recipe):
            if not is_dry and job is not None and recipe is None and not job["metadata"].get("deletionTimestamp"):
                data = {**objects.recipe["data"], JOB_KEY: job_text(job)}
                put_recipe(self._api, {**objects.recipe, "data": data}, job)
            status = self.status(run)
            if status.state == "deleting":
                raise ClusterError(_deleting(run))
            hint = _rejected(run) if _is_rejected(job) else _HINTS.get(status.state, f"see suphx status {run}")
            _logger.info("%s already exists (%s): %s", run, status.state, hint.replace("RUN", run))
            return status
        if is_dry:
            for kind, body in (("rayjobs", objects.job), ("configmaps", objects.recipe)):
                with suppress(ExistsError):
                    self._api.create(kind, body, is_dry=True)
            _logger.info("%s would be created in namespace %s: the server accepts it", run, namespace)
            return RunStatus(run_id=run, state="starting", pods={}, problems=[])
        if any(is_active(pod) for pod in list_pods(self._api, run)):  # a new driver must never overlap the old one
            raise ClusterError(
                f"{run} was deleted, and its pods are still terminating: its driver may still save. Launch it again "
                f"when kubectl get pods -l {RUN_LABEL}={run} shows none"
            )
        if create_run(self._api, objects.job, objects.recipe):
            _logger.info("Created %s in namespace %s: suphx status %s, suphx logs %s -f", run, namespace, run, run)
        else:
            _logger.info("%s already exists: another command created it at the same time", run)
        return self.status(run)

    def delete_other_nights(self, objects: RunObjects, *, seconds: float) -> None:
        """Delete the RayJobs of a tournament's other nights, and wait until their pods have terminated.

        They have the same name, but for the digest, and belong to the same release. A driver that still works has
        stored its finished games. Nights that a person has stopped have no RayJob and keep their recipe.
        """
        labels = objects.job["metadata"]["labels"]
        selector = ",".join(f"{key}={labels[key]}" for key in (PRESET_LABEL, RELEASE_LABEL))
        name = objects.run_id.rpartition("-")[0]
        for run in (str(one["metadata"]["name"]) for one in self._api.list("rayjobs", labels=selector)):
            if run != objects.run_id and run.rpartition("-")[0] == name:
                _logger.info("Deleting RayJob %s of another night", run)
                self.delete(run, seconds=seconds, saves=False)

    def runs(self) -> list[RunStatus]:
        """Return all runs of the namespace in the order of their creation."""
        listing = Listing(self._api)
        found = {run: self._status(run, listing) for run in listing.runs()}
        for run in sorted(run for run, status in found.items() if status is None):
            _logger.info("%s; it is not listed", _leftover(run))
        return [status for status in found.values() if status is not None]

    def status(self, run: str) -> RunStatus:
        """Return the status of a run; ClusterError if there is none."""
        status = self._status(run, self._api)
        if status is None:
            raise ClusterError(_leftover(run) if find_recipe(self._api, run) is not None else self._no_run(run))
        return status

    def wait(self, run: str, *, seconds: float) -> RunStatus:
        """Wait until a run has ended; return its status. ClusterError if there is none, or if it takes longer."""
        self.status(run)
        RunWait(self._api, run, seconds=seconds).until_ended()
        return self.status(run)

    def log(self, run: str, role: str) -> RunLog:
        """Return the log of the pods of one role."""
        return RunLog(self._api, run, role)

    def source(self, run: str) -> Object | None:
        """Return the RayJob of a run, or that from which it will be created again; None if there is neither."""
        job = find_job(self._api, run)
        return _source(job, find_recipe(self._api, run) if job is None else None)

    def stop(self, run: str, *, saves: bool, seconds: float) -> RunStatus:
        """Let a run save its state, then end its pods and delete its RayJob; the recipe is kept, for ``resume``.

        ``saves``: else the head is killed. Raises ClusterError if that takes longer than ``seconds``, and, when the run
        is stopped, if it did not save although it was asked to.
        """
        state, wait = self.status(run).state, RunWait(self._api, run, seconds=seconds)
        job = find_job(self._api, run)
        if (is_ended(state) and not self._may_compute(run, job)) or state == "deleting":
            _logger.info("%s", _rejected(run) if _is_rejected(job) else f"{run} does not run, it is {state}")
            return self.status(run)
        if job is None:
            wait.until_no_pods()
            return self.status(run)
        if saves and self._heads(run) and not _outlives_its_pods(job):
            raise ClusterError(
                f"{run} was not stopped: it has no storage, so its saved state would be lost with its head pod. Set "
                f"storage.address or volumes.runs of the chart for later runs; suphx stop {run} --now stops it without "
                "saving"
            )
        recipe = keep_recipe(self._api, run, job)  # an error comes before the first change
        report = self._end_heads(run, wait, saves=saves)
        if state_of(find_job(self._api, run)) == "succeeded":
            _logger.info("%s has succeeded before it was stopped", run)
            put_recipe(self._api, recipe, job)  # deleted with its RayJob, as before
            return self.status(run)
        self._delete_job(run, job, wait)
        if loss := _loss_of(report):
            kind = UnknownEndError if report is None else ClusterError
            raise kind(f"{run} is stopped, but {loss}. suphx resume {run} continues from the last checkpoint")
        return replace(self.status(run), outcome=next(iter((report or {}).values()), ""))

    def resume(self, run: str, *, seconds: float) -> RunStatus:
        """Continue a stopped or failed run from its last checkpoint; leave one that runs or has succeeded as it is."""
        state, wait = self.status(run).state, RunWait(self._api, run, seconds=seconds)
        job = find_job(self._api, run)
        if _is_rejected(job):
            raise ClusterError(_rejected(run))
        if state == "deleting":
            raise ClusterError(_deleting(run))
        if state != "succeeded" and (self._may_compute(run, job) if is_ended(state) else is_stop_requested(job)):
            _logger.info("%s may still be running: it is stopped first, and resumed when it has saved its state", run)
            try:
                self.stop(run, saves=_outlives_its_pods(job), seconds=wait.seconds_left)
            except UnknownEndError:
                _logger.info("The head of %s ended without a report: it continues from its last checkpoint", run)
            return self.resume(run, seconds=wait.seconds_left)
        if state == "stopping":  # a new driver must never overlap the old one
            _logger.info("%s is stopping: waiting until its pods have terminated", run)
            wait.until_stopped()
            return self.resume(run, seconds=wait.seconds_left)
        if state == "succeeded" or not is_ended(state):
            _logger.info("%s is %s: there is nothing to resume", run, state)
            return self.status(run)
        if job is not None and job["spec"].get("suspend"):
            self._api.change("rayjobs", run, lambda one: {"spec": {"suspend": False}})
        else:
            recipe = self._delete_job(run, job, wait)
            if not create_run(self._api, job_of(recipe), recipe):
                raise ClusterError(f"another command created {run} at the same time: see suphx status {run}")
        _logger.info("Resumed %s: suphx status %s", run, run)
        return self.status(run)

    def question(self, run: str, *, saves: bool) -> str:
        """Return what a person is asked before ``delete``; ClusterError if there is no such run."""
        job, recipe, pods = find_job(self._api, run), find_recipe(self._api, run), list_pods(self._api, run)
        if job is None and recipe is None:
            if not any(map(is_active, pods)):
                raise ClusterError(self._no_run(run))
            return f"{run} is deleted, but some of its pods are still terminating. Wait for them?"
        loss = ""
        if self._works(run, job):
            if not _outlives_its_pods(job):
                loss = "It has no storage: all its training is lost. "
            elif saves:
                loss = "It saves its state first. "
            else:
                loss = "It does not save first: training since its last checkpoint is lost. "
        places = "; ".join(places_of(_source(job, recipe)))
        kept = f"These results are kept: {places}." if places else "Nothing of it is stored outside the cluster."
        return f"Delete {run} ({state_of(job, pods)}) with its pods and its recipe? {loss}{kept}"

    def delete(self, run: str, *, seconds: float, saves: bool = True, forces: bool = False) -> dict[str, Any]:
        """Stop a run as ``stop`` does, then delete its RayJob, its pods and its recipe; checkpoints and metrics stay.

        ``saves``: the driver saves first, if it has a place that outlives its pods. ``forces``: remove the RayJob's
        finalizer, when no operator is there to do it. Returns what scripts read: what was removed, and what is kept.
        """
        job, recipe = find_job(self._api, run), find_recipe(self._api, run)
        wait = RunWait(self._api, run, seconds=seconds)
        if job is None and recipe is None and not any(map(is_active, list_pods(self._api, run))):
            raise ClusterError(self._no_run(run))
        deleted: dict[str, Any] = {"run_id": run, "state": "deleted", "pods": {}, "problems": []}
        if saves and self._works(run, job):
            if _outlives_its_pods(job):
                report = self._end_heads(run, wait, saves=True)
                if report:
                    deleted["outcome"] = next(iter(report.values()))
                if loss := _loss_of(report):
                    _logger.warning("%s is deleted now, but %s", run, loss)
            else:
                _logger.warning("%s has neither a storage nor a volume: all its training is lost", run)
        removed = [f"RayJob {run}"] if job is not None else []
        removed += [f"ConfigMap {recipe_name(run)}"] if recipe is not None else []
        if job is not None:
            self._api.delete("rayjobs", run)
            if forces and self._api.get("rayjobs", run) is not None:
                self._api.change("rayjobs", run, lambda _: {"metadata": {"finalizers": None}})
            wait.until_deleted()
        self._api.delete("configmaps", recipe_name(run))
        wait.until_no_pods()
        return {**deleted, "removed": removed, "kept": places_of(_source(job, recipe))}

    def _works(self, run: str, job: Object | None) -> bool:
        state = state_of(job, list_pods(self._api, run))
        return job is not None and state != "deleting" and (not is_ended(state) or self._may_compute(run, job))

    def _status(self, run: str, source: ClusterApi | Listing) -> RunStatus | None:
        """Return the status of a run; None if there is no RayJob and no recipe of a stopped run."""
        job, recipe = find_job(source, run), find_recipe(source, run)
        if job is None and not is_kept(recipe):
            return None
        pods = list_pods(source, run)
        state = state_of(job, pods)
        name = str(((job or {}).get("status") or {}).get("rayClusterName") or "")
        cluster = source.get("rayclusters", name) if name else None
        spec = (cluster or {}).get("spec") or (job or {}).get("spec", {}).get("rayClusterSpec") or {}
        roles = run_status.pods_by_role(state, spec, pods)
        is_wanted = not is_ended(state) and state != "stopping"
        problems = run_status.problems_of(
            run,
            state,
            datetime.now(UTC),
            job=job,
            cluster=cluster,
            submitter=source.get("jobs", run) if is_wanted and job is not None else None,
            pods=pods,
            events=source.list("events", fields="type=Warning") if is_wanted else [],
            roles=roles,
        )
        labels = (job or recipe or {"metadata": {}})["metadata"].get("labels") or {}
        return RunStatus(
            run_id=run,
            state=state,
            pods=roles,
            problems=problems,
            attempts=None if job is None else run_status.attempts_of(job),
            preset=str(labels.get(PRESET_LABEL, "")),
        )

    def _may_compute(self, run: str, job: Object | None) -> bool:
        """Tell whether the driver of an ended RayJob may still work, as after its deadline."""
        return run_status.has_left_driver(job) and bool(self._heads(run))

    def _heads(self, run: str) -> list[str]:
        pods = list_pods(self._api, run)
        return [pod["metadata"]["name"] for pod in pods if run_status.role_of(pod) == "head" and is_active(pod)]

    def _end_heads(self, run: str, wait: RunWait, *, saves: bool) -> dict[str, StopOutcome] | None:
        """End the head pod, whose hook has the driver save, before other pods end; return what it reports."""
        heads = self._heads(run)
        if not heads:
            return {}
        request_stop(self._api, run)
        if not saves:
            for head in heads:
                self._api.delete("pods", head, grace=_NOW_SECONDS)
            return {}
        _logger.info("Asked %s to save its state", run)
        reports = [wait.until_head_ended(head) for head in heads]
        return next((report for report in reports if report is not None), None)

    def _delete_job(self, run: str, job: Object | None, wait: RunWait) -> Object:
        """Delete the RayJob, keep the recipe so that the run can be resumed, and wait until no pod is left."""
        recipe = keep_recipe(self._api, run, job)
        if job is not None:
            self._api.delete("rayjobs", run, uid=job["metadata"]["uid"])
            wait.until_deleted()
        wait.until_no_pods()
        return recipe

    def _no_run(self, run: str) -> str:
        return f"there is no run {run} in namespace {self._api.namespace}: suphx jobs lists all"


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
    owner = {key: job["metadata"][key] for key in ("name", "uid")}
    owned = {**metadata, "ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayJob", **owner}]}
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
        missing = job is not None and not (recipe.get("data") or {}).get(JOB_KEY)
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
        note = {"annotations": {run_status.STOP_NOTE: datetime.now(UTC).isoformat(timespec="seconds")}}
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

    def until_ended(self) -> None:
        """Wait until the run has ended, as the operator sees it."""
        for job in self._api.changes("rayjobs", self._run, seconds=self.seconds_left):
            if is_ended(state_of(job)):
                return
        raise ClusterError(f"{self._run} has not ended yet: see suphx status {self._run}")

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


def _loss_of(report: Mapping[str, StopOutcome] | None) -> str:
    """Return what is lost of a run whose driver was asked to save, from the report of its head; empty if nothing."""
    if report is None:
        return "its head ended without a report: training since its last checkpoint may be lost"
    outcome = next(iter(report.values()), "")
    if outcome not in _LOSSES:
        return ""
    return f"its driver {_LOSSES[outcome]}: training since its last checkpoint is lost"


def _source(job: Object | None, recipe: Object | None) -> Object | None:
    """Return the RayJob of a run, or that from which it would be created again; None if there is neither."""
    if job is not None or not ((recipe or {}).get("data") or {}).get(JOB_KEY):
        return job
    return job_of(recipe or {})


def _deleting(run: str) -> str:
    return f"{run} is being deleted. Launch it again when suphx status {run} no longer finds it"


def _rejected(run: str) -> str:
    return (
        f"the operator rejected RayJob {run} (suphx status {run} shows why) and will not process it again. Run "
        f"suphx delete {run}, correct the chart's values with helm upgrade, then launch the recipe again"
    )


def _leftover(run: str) -> str:
    return (
        f"ConfigMap {recipe_name(run)} has no RayJob: the run was deleted or never created. Launch its recipe again, "
        f"or remove the ConfigMap with suphx delete {run}"
    )


def _outlives_its_pods(job: Object | None) -> bool:
    """Tell whether the results of a run are kept in a storage or on a volume, not only in its head pod."""
    if job is None:  # nothing to save any more
        return True
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    is_on_volume = any(one["name"] == "runs" and "emptyDir" not in one for one in head.get("volumes") or ())
    return is_on_volume or bool(setting(job, "storage.address"))


def _is_rejected(job: Object | None) -> bool:
    return ((job or {}).get("status") or {}).get("jobDeploymentStatus") == run_status.REJECTED
