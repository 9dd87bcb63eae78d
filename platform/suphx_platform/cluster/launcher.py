"""Runs on a Kubernetes cluster: created, observed, stopped, resumed and deleted as RayJobs of the chart.

>>> launcher = Launcher(ClusterApi())
>>> launcher.launch(objects)
>>> launcher.status("reinforcement-1f2e3d4c5b").state
'starting'
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.cluster_error import ClusterError, ExistsError
from suphx_platform.cluster.run_attempts import StopOutcome
from suphx_platform.cluster.run_log import RunLog
from suphx_platform.cluster.run_manifest import (
    JOB_KEY,
    PRESET_LABEL,
    RELEASE_LABEL,
    TEMPLATE_LABEL,
    RunObjects,
    has_job,
    job_of,
    job_text,
    recipe_name,
    setting,
)
from suphx_platform.cluster.run_objects import (
    Listing,
    RunWait,
    create_run,
    find_job,
    find_recipe,
    is_kept,
    keep_recipe,
    list_pods,
    put_recipe,
    request_stop,
)
from suphx_platform.cluster.run_results import Deletion, places_of
from suphx_platform.cluster.run_status import (
    REJECTED,
    RUN_LABEL,
    RunObservation,
    RunStatus,
    State,
    attempts_of,
    has_left_driver,
    is_active,
    is_ended,
    is_stop_requested,
    pods_by_role,
    role_of,
    state_of,
)

_logger = logging.getLogger(__name__)


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

    def launch(self, objects: RunObjects, *, is_dry: bool = False) -> RunStatus:
        """Create a run; leave an existing one as it is. ``is_dry``: let the server check the objects only."""
        run = objects.run_id
        job, recipe = find_job(self._api, run), find_recipe(self._api, run)
        exists = job is not None or is_kept(recipe)
        if is_dry:
            return self._check(objects) if not exists else self._existing(run, job)
        if exists:
            if job is not None and recipe is None and not job["metadata"].get("deletionTimestamp"):
                data = {**objects.recipe["data"], JOB_KEY: job_text(job)}
                put_recipe(self._api, {**objects.recipe, "data": data}, job)
            return self._existing(run, job)
        if any(is_active(pod) for pod in list_pods(self._api, run)):  # a new driver must never overlap the old one
            raise ClusterError(
                f"{run} was deleted, and its pods are still terminating: its driver may still save. Launch it again "
                f"when kubectl get pods -l {RUN_LABEL}={run} shows none"
            )
        if create_run(self._api, objects.job, objects.recipe):
            _logger.info(
                "Created %s in namespace %s: suphx status %s, suphx logs %s -f", run, self._api.namespace, run, run
            )
        else:
            _logger.info("%s exists already: another command created it at the same time", run)
        return self.status(run)

    def delete_other_nights(self, objects: RunObjects, *, seconds: float) -> None:
        """Delete the RayJobs of a tournament's other nights, and wait until their pods have terminated.

        They have the same name, but for the digest, and belong to the same release. A driver that still works is asked
        to end by Ray; it has stored its finished games before. Nights that a person has stopped have no RayJob and keep
        their recipe. Raises ClusterError.
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
                f"{run} was not stopped: it has no storage, so what it saves would be gone with its head pod. Set "
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
            _logger.info("%s may still work: it is stopped first, and resumed when it has saved its state", run)
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
                loss = "It has no storage: all that it has learned is lost. "
            elif saves:
                loss = "It saves its state first. "
            else:
                loss = "It does not save first: what it has learned since its last checkpoint is lost. "
        places = "; ".join(places_of(_source(job, recipe)))
        kept = f"What it has stored stays: {places}." if places else "Nothing of it is stored outside of the cluster."
        return f"Delete {run} ({state_of(job, pods)}) with its pods and its recipe? {loss}{kept}"

    def delete(self, run: str, *, seconds: float, saves: bool = True, forces: bool = False) -> Deletion:
        """Stop a run as ``stop`` does, then delete its RayJob, its pods and its recipe; checkpoints and metrics stay.

        ``saves``: the driver saves first, if it has a place that outlives its pods. ``forces``: remove the RayJob's
        finalizer, when no operator is there to do it. Raises ClusterError.
        """
        job, recipe = find_job(self._api, run), find_recipe(self._api, run)
        wait = RunWait(self._api, run, seconds=seconds)
        if job is None and recipe is None and not any(map(is_active, list_pods(self._api, run))):
            raise ClusterError(self._no_run(run))
        outcome = None
        if saves and self._works(run, job):
            if _outlives_its_pods(job):
                report = self._end_heads(run, wait, saves=True)
                outcome = next(iter((report or {}).values()), None)
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
        return Deletion(run_id=run, removed=removed, kept=places_of(_source(job, recipe)), outcome=outcome)

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
        is_wanted = not is_ended(state) and state != "stopping"
        observation = RunObservation(
            run_id=run,
            state=state,
            job=job,
            cluster=cluster,
            submitter=source.get("jobs", run) if is_wanted and job is not None else None,
            pods=pods,
            events=source.list("events", fields="type=Warning") if is_wanted else [],
            roles=pods_by_role(state, spec, pods),
        )
        labels = (job or recipe or {"metadata": {}})["metadata"].get("labels") or {}
        return RunStatus(
            run_id=run,
            state=state,
            pods=observation.roles,
            problems=observation.problems(datetime.now(UTC)),
            attempts=None if job is None else attempts_of(job),
            preset=str(labels.get(PRESET_LABEL, "")),
        )

    def _may_compute(self, run: str, job: Object | None) -> bool:
        """Tell whether the driver of an ended RayJob may still work, as after its deadline."""
        return has_left_driver(job) and bool(self._heads(run))

    def _existing(self, run: str, job: Object | None) -> RunStatus:
        """Return the status of a run that need not be created, with a hint for the person who tried."""
        status = self.status(run)
        if status.state == "deleting":
            raise ClusterError(_deleting(run))
        hint = _rejected(run) if _is_rejected(job) else _HINTS.get(status.state, f"see suphx status {run}")
        _logger.info("%s exists already (%s): %s", run, status.state, hint.replace("RUN", run))
        return status

    def _check(self, objects: RunObjects) -> RunStatus:
        for kind, body in (("rayjobs", objects.job), ("configmaps", objects.recipe)):
            try:
                self._api.create(kind, body, is_dry=True)
            except ExistsError:
                continue
        _logger.info("%s would be created in namespace %s: the server accepts it", objects.run_id, self._api.namespace)
        return RunStatus(run_id=objects.run_id, state="starting", pods={}, problems=[])

    def _heads(self, run: str) -> list[str]:
        pods = list_pods(self._api, run)
        return [pod["metadata"]["name"] for pod in pods if role_of(pod) == "head" and is_active(pod)]

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


class UnknownEndError(ClusterError):
    """A run is stopped, and it is not known whether it has saved."""


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
    return job if job is not None else job_of(recipe) if recipe is not None and has_job(recipe) else None


def _deleting(run: str) -> str:
    return f"{run} is being deleted. When suphx status {run} does not find it, launch it again"


def _rejected(run: str) -> str:
    return (
        f"the operator rejected RayJob {run} (suphx status {run} shows why) and never looks at it again. Run "
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
    return ((job or {}).get("status") or {}).get("jobDeploymentStatus") == REJECTED
