"""What a status is made of: the objects of one run, or of all runs of a namespace with one request for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from suphx_platform.cluster.cluster_api import ClusterApi, Object
from suphx_platform.cluster.runs.run_manifest import RUN_LABEL
from suphx_platform.cluster.runs.run_store import RunStore

_WARNINGS = "type=Warning"


class RunSource(Protocol):
    """Where the objects of runs come from."""

    def job(self, run: str) -> Object | None:
        """Return the RayJob of a run."""

    def recipe(self, run: str) -> Object | None:
        """Return the ConfigMap with the recipe of a run."""

    def pods(self, run: str) -> Sequence[Object]:
        """Return all pods of a run."""

    def cluster(self, name: str) -> Object | None:
        """Return a RayCluster."""

    def submitter(self, run: str) -> Object | None:
        """Return the Kubernetes Job of a run's submitter."""

    @property
    def warnings(self) -> Sequence[Object]:
        """Events of the namespace that are warnings."""


class OneRun(RunStore):
    """Asks for each object when it is needed."""

    def cluster(self, name: str) -> Object | None:
        """Return a RayCluster."""
        return self._api.get("rayclusters", name)

    def submitter(self, run: str) -> Object | None:
        """Return the Kubernetes Job of a run's submitter, which the operator names after the run."""
        return self._api.get("jobs", run)

    @property
    def warnings(self) -> Sequence[Object]:
        """Events of the namespace that are warnings."""
        return self._api.list("events", fields=_WARNINGS)


class AllRuns:
    """Lists each kind once, when the first run needs it."""

    def __init__(self, api: ClusterApi) -> None:
        self._api = api

    def runs(self) -> list[str]:
        """Return the ids of all runs that have a RayJob or a recipe, in the order of their creation."""
        # Recipes are listed first: one of a run that is created meanwhile would look like one without a RayJob.
        found = {**self._recipes, **self._jobs}
        made = {run: str(one["metadata"].get("creationTimestamp", "")) for run, one in found.items()}
        return sorted(made, key=lambda run: (made[run], run))

    def job(self, run: str) -> Object | None:
        """Return the RayJob of a run."""
        return self._jobs.get(run)

    def recipe(self, run: str) -> Object | None:
        """Return the ConfigMap with the recipe of a run."""
        return self._recipes.get(run)

    def pods(self, run: str) -> Sequence[Object]:
        """Return all pods of a run."""
        return [one for one in self._pods if _run_of(one) == run]

    def cluster(self, name: str) -> Object | None:
        """Return a RayCluster."""
        return self._clusters.get(name)

    def submitter(self, run: str) -> Object | None:
        """Return the Kubernetes Job of a run's submitter."""
        return self._submitters.get(run)

    @cached_property
    def warnings(self) -> Sequence[Object]:
        """Events of the namespace that are warnings."""
        return self._api.list("events", fields=_WARNINGS)

    @cached_property
    def _jobs(self) -> dict[str, Object]:
        return {_run_of(one): one for one in self._api.list("rayjobs", labels=RUN_LABEL)}

    @cached_property
    def _recipes(self) -> dict[str, Object]:
        return {_run_of(one): one for one in self._api.list("configmaps", labels=RUN_LABEL)}

    @cached_property
    def _pods(self) -> list[Object]:
        return self._api.list("pods", labels=RUN_LABEL)

    @cached_property
    def _clusters(self) -> dict[str, Object]:
        return {str(one["metadata"]["name"]): one for one in self._api.list("rayclusters")}

    @cached_property
    def _submitters(self) -> dict[str, Object]:
        return {str(one["metadata"]["name"]): one for one in self._api.list("jobs")}


def _run_of(one: Object) -> str:
    return str(one["metadata"]["labels"][RUN_LABEL])
