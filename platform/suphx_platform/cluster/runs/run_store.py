"""The objects of runs in one namespace: read, created and deleted so that a broken connection loses none of them.

The RayJob is created first: two launches at the same time compete for its name. The ConfigMap with the recipe follows
and is owned by it, so that Kubernetes deletes both together.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.cluster_error import ClusterError, ExistsError
from suphx_platform.cluster.runs.run_manifest import (
    JOB_KEY,
    LAUNCH_NOTE,
    RUN_LABEL,
    has_job,
    job_text,
    owner_of,
    recipe_name,
)
from suphx_platform.cluster.runs.run_status import STOP_NOTE, is_stop_requested

STOPPED_NOTE = "suphx/stopped"
"""Annotation of a recipe whose run was stopped by deleting its RayJob; the run can be resumed."""


class RunStore:
    """Usage: ``RunStore(api).create(job, recipe)``."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api

    def job(self, run: str) -> Object | None:
        """Return the RayJob of a run, None if there is none; ClusterError if somebody else's has this name."""
        job = self._api.get("rayjobs", run)
        if job is not None and (job["metadata"].get("labels") or {}).get(RUN_LABEL) != run:
            raise ClusterError(f"RayJob {run} has no label {RUN_LABEL}={run}: it is not a run of suphx")
        return job

    def recipe(self, run: str) -> Object | None:
        """Return the ConfigMap with the recipe of a run."""
        return self._api.get("configmaps", recipe_name(run))

    def pods(self, run: str) -> list[Object]:
        """Return all pods of a run."""
        return self._api.list("pods", labels=f"{RUN_LABEL}={run}")

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
