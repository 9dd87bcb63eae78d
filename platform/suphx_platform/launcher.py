"""Runs on a Kubernetes cluster: made, watched, stopped, continued and resized as RayJobs of the chart.

>>> launcher = Launcher(ClusterApi(), say=print)
>>> launcher.launch(objects)
>>> launcher.status("reinforcement-1f2e3d4c5b").state
'starting'
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from suphx_platform.cluster_api import ClusterApi, Object
from suphx_platform.cluster_error import ClusterError, ExistsError
from suphx_platform.run_manifest import (
    PRESET_LABEL,
    RUN_LABEL,
    STOP_KEY,
    TEMPLATE_LABEL,
    RunObjects,
    job_of,
    owner_of,
    recipe_name,
    stop_file_of,
    with_job,
)
from suphx_platform.run_resize import resized_group, resized_job
from suphx_platform.run_status import (
    QUEUE_LABEL,
    RunStatus,
    State,
    is_ended,
    pods_by_role,
    problems_of,
    state_of,
)
from suphx_platform.stop_file import STORED

_POLL_SECONDS = 2.0


class Launcher:
    """Consumes: orders of a person. Produces: objects in the cluster. Waits for: the operator, where it is told to."""

    def __init__(self, api: ClusterApi, *, say: Callable[[str], None]) -> None:
        self._api = api
        self._say = say

    def template(self, release: str | None) -> Object:
        """Return the ConfigMap that the chart left for us; ``release``: of which installation.

        Raises ClusterError if there is none, or more than one.
        """
        labels = TEMPLATE_LABEL + (f",app.kubernetes.io/instance={release}" if release else "")
        found = self._api.list("configmaps", labels=labels)
        if len(found) == 1:
            return found[0]
        if not found:
            raise ClusterError(
                f"namespace {self._api.namespace} has no ConfigMap {labels}: install the chart there (helm install), "
                "or name another --namespace"
            )
        names = sorted(str((one["metadata"].get("labels") or {}).get("app.kubernetes.io/instance")) for one in found)
        raise ClusterError(f"the chart is installed more than once ({', '.join(names)}): name one with --release")

    def launch(self, objects: RunObjects, *, is_dry: bool = False) -> RunStatus:
        """Create a run; leave it as it is if it is there. ``is_dry``: have the server check the objects only."""
        run = objects.run_id
        there = self._api.get("rayjobs", run)
        if is_dry:
            self._check(objects, there)
        elif (there is not None and self._recipe(run) is not None) or self._is_kept(run):
            self._say(f"{run} is there already ({state_of(there)}): this recipe was launched before; see suphx resume")
        else:
            self._create(objects.job, objects.recipe)
            self._say(f"{run} is created in namespace {self._api.namespace}: suphx status {run}, suphx logs {run} -f")
        return self.status(run, is_new=is_dry and there is None)

    def runs(self) -> list[RunStatus]:
        """Return all runs of the namespace, those that were stopped too, oldest first."""
        jobs = self._api.list("rayjobs", labels=RUN_LABEL)
        recipes = self._api.list("configmaps", labels=RUN_LABEL)
        made = {_run_of(one): one["metadata"].get("creationTimestamp", "") for one in (*recipes, *jobs)}
        return [self.status(run) for run in sorted(made, key=lambda run: (made[run], run))]

    def status(self, run: str, *, is_new: bool = False) -> RunStatus:
        """Return how a run is; ClusterError if there is none, unless ``is_new``."""
        job = self._api.get("rayjobs", run)
        recipe = self._recipe(run) if job is None else None
        if job is None and recipe is None:
            if is_new:
                return RunStatus(run_id=run, state="starting", pods={}, problems=[])
            raise ClusterError(f"there is no run {run} in namespace {self._api.namespace}: see suphx jobs")
        state = state_of(job)
        pods = self._api.list("pods", labels=f"{RUN_LABEL}={run}")
        made_of: Object = job if job is not None else recipe or {}
        return RunStatus(
            run_id=run,
            state=state,
            pods=pods_by_role(state, self._cluster(job), pods),
            problems=problems_of(job, pods, self._warnings(run)),
            preset=str((made_of["metadata"].get("labels") or {}).get(PRESET_LABEL, "")),
        )

    def stop(self, run: str, *, saves: bool, seconds: float) -> RunStatus:
        """Have a run save its state, then end its pods; ClusterError if it does not do so in time."""
        job = self._api.get("rayjobs", run)
        state = self.status(run).state if job is None else state_of(job)
        if job is None or is_ended(state):
            self._say(f"{run} does not run: {state}")
            return self.status(run)
        ends_at = time.monotonic() + seconds
        if saves and state == "running":
            if not stop_file_of(job):
                raise ClusterError(f"{run} was not made by suphx launch and cannot be asked to save: use --now")
            self._set_stop(run, is_up=True)
            self._say(f"{run} is asked to save and stop; nodes hear of it within a minute or two")
            self._wait_saved(run, ends_at)
        if QUEUE_LABEL in (job["metadata"].get("labels") or {}):  # the queue owns `suspend`
            self._delete_job(run, ends_at)
        else:
            self._api.change("rayjobs", run, _suspending)
            self._wait(run, ends_at, "stopped")
        return self.status(run)

    def resume(self, run: str, *, seconds: float) -> RunStatus:
        """Have a stopped or failed run go on from what it saved; leave one that runs, or ended well, as it is."""
        job = self._api.get("rayjobs", run)
        state = self.status(run).state if job is None else state_of(job)
        if state == "succeeded":
            self._say(f"{run} has ended well: nothing to resume")
            return self.status(run)
        self._set_stop(run, is_up=False)
        if not is_ended(state):
            self._say(f"{run}: {state}: it goes on by itself")
            return self.status(run)
        if job is not None and state == "stopped":
            self._api.change("rayjobs", run, lambda one: {"spec": {"suspend": False}})
        else:
            recipe = self._api.change("configmaps", recipe_name(run), _disowned)
            self._delete_job(run, time.monotonic() + seconds)
            self._create(job_of(recipe), recipe)
        self._say(f"{run} goes on: suphx status {run}")
        return self.status(run)

    def scale(self, run: str, *, simulators: int) -> RunStatus:
        """Have so many simulator pods, now and whenever the run starts again."""
        self.status(run)  # says so if there is no such run
        job = self._api.get("rayjobs", run)
        if job is not None:
            job = self._api.change("rayjobs", run, lambda one: resized_job(one, simulators))
        self._api.change(
            "configmaps", recipe_name(run), lambda one: with_job(one, resized_job(job_of(one), simulators))
        )
        cluster = str(((job or {}).get("status") or {}).get("rayClusterName") or "")
        if cluster and self._api.get("rayclusters", cluster) is not None:
            self._api.change("rayclusters", cluster, lambda one: {"spec": resized_group(one["spec"], simulators)})
        self._say(f"{run}: {simulators} simulator pods. The driver gives them work when it starts: "
                  "if it runs, suphx stop and suphx resume it")  # fmt: skip
        return self.status(run)

    def _create(self, job: Object, recipe: Object) -> None:
        """Create both objects, or what is missing of them; the recipe goes when the RayJob does."""
        name = recipe["metadata"]["name"]
        data = recipe["data"]
        metadata = {key: dict(recipe["metadata"].get(key) or {}) for key in ("labels", "annotations")}
        metadata["annotations"].pop(_STOPPED_NOTE, None)
        is_new = True
        try:
            self._api.create("configmaps", {**recipe, "metadata": {"name": name, **metadata}})
        except ExistsError:
            is_new = False
            metadata["annotations"][_STOPPED_NOTE] = None
            self._api.change("configmaps", name, lambda _: {"metadata": metadata, "data": {STOP_KEY: None, **data}})
        try:
            made = self._api.create("rayjobs", job)
        except ExistsError:  # by whoever launched the same at the same time, or by us before the line broke
            made = self._api.get("rayjobs", job["metadata"]["name"]) or {}
            if not made:
                raise
        except ClusterError:
            if is_new:
                with suppress(ClusterError):
                    self._api.delete("configmaps", name)
            raise
        owner = owner_of(made)
        self._api.change("configmaps", name, lambda _: {"metadata": {"ownerReferences": [owner]}})

    def _check(self, objects: RunObjects, there: Object | None) -> None:
        """Have the server check what would be created."""
        if there is not None:
            self._say(f"{objects.run_id} is there already ({state_of(there)}): nothing would be created")
            return
        for kind, body in (("configmaps", objects.recipe), ("rayjobs", objects.job)):
            try:
                self._api.create(kind, body, is_dry=True)
            except ExistsError:
                continue
        self._say(f"{objects.run_id} would be created in namespace {self._api.namespace}; the server accepts it")

    def _is_kept(self, run: str) -> bool:
        """Tell whether only the recipe of a stopped run is there, which waits to be resumed."""
        recipe = self._recipe(run) or {"metadata": {}}
        return _STOPPED_NOTE in (recipe["metadata"].get("annotations") or {})

    def _recipe(self, run: str) -> Object | None:
        return self._api.get("configmaps", recipe_name(run))

    def _cluster(self, job: Object | None) -> Object:
        """Return the spec of a run's RayCluster: as it is now, or as it will be made."""
        if job is None:
            return {}
        name = str((job.get("status") or {}).get("rayClusterName") or "")
        cluster = self._api.get("rayclusters", name) if name else None
        return dict((cluster or {}).get("spec") or job["spec"].get("rayClusterSpec") or {})

    def _warnings(self, run: str) -> list[Object]:
        """Return what the cluster complained about, of this run's objects."""
        found = self._api.list("events", fields="type=Warning")
        names = ((event, str((event.get("involvedObject") or {}).get("name"))) for event in found)
        return [event for event, name in names if name == run or name.startswith(f"{run}-")]

    def _set_stop(self, run: str, *, is_up: bool) -> None:
        def make(recipe: Object) -> Object:
            has = STOP_KEY in (recipe.get("data") or {})
            return {"data": {STOP_KEY: "yes\n" if is_up else None}} if has != is_up else {}

        self._api.change("configmaps", recipe_name(run), make)

    def _wait_saved(self, run: str, ends_at: float) -> None:
        """Wait until the driver says that all is stored, or has ended."""
        labels = f"{RUN_LABEL}={run},suphx/role=submitter"
        while time.monotonic() < ends_at:
            for pod in self._api.list("pods", labels=labels):
                name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]["name"]
                if any(STORED in line for line in self._api.log(name, container, tail=200)):
                    return
            if state_of(self._api.get("rayjobs", run)) != "running":
                return
            time.sleep(_POLL_SECONDS)
        raise ClusterError(
            f"{run} did not say in time that its state is stored: see suphx logs {run}, wait and stop it again, or use "
            "--now (it then goes on from what it stored last)"
        )

    def _wait(self, run: str, ends_at: float, wanted: State) -> None:
        """Wait for the operator, if there is one that looks at this run."""
        for job in self._api.changes("rayjobs", run, seconds=max(1.0, ends_at - time.monotonic())):
            if state_of(job) == wanted or not (job or {}).get("status"):
                return
        raise ClusterError(f"{run} is not {wanted} yet: see suphx status {run}, and whether the operator runs")

    def _delete_job(self, run: str, ends_at: float) -> None:
        """Delete the RayJob and wait until it is gone; its recipe stays, so that the run can go on."""
        note = {"annotations": {_STOPPED_NOTE: "true"}, "ownerReferences": None}
        self._api.change("configmaps", recipe_name(run), lambda _: {"metadata": note})
        self._api.delete("rayjobs", run)
        for job in self._api.changes("rayjobs", run, seconds=max(1.0, ends_at - time.monotonic())):
            if job is None:
                return
        raise ClusterError(
            f"RayJob {run} does not go away: its finalizer waits for the KubeRay operator; see whether that runs"
        )


_STOPPED_NOTE = "suphx/stopped"


def _run_of(one: Object) -> str:
    return str(one["metadata"]["labels"][RUN_LABEL])


def _suspending(job: Object) -> Object:
    return {} if job["spec"].get("suspend") else {"spec": {"suspend": True}}


def _disowned(recipe: Object) -> Object:
    return {"metadata": {"ownerReferences": None}} if recipe["metadata"].get("ownerReferences") else {}
