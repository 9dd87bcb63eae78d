"""Runs on a Kubernetes cluster from Python: what ``suphx_platform.launch``, ``status``, ``wait`` and ``stop`` are.

>>> import suphx_platform
>>> run = suphx_platform.launch("reinforcement", preset="small").run_id
>>> suphx_platform.wait(run).state
'succeeded'

The commands ``suphx launch``, ``status`` and ``stop`` are these functions. They live here because recipes belong to the
pipelines; Kubernetes' client and torch are imported when a function needs them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx_platform.cluster.cluster_error import ClusterError, check_configured

if TYPE_CHECKING:
    from suphx_platform.cluster.cluster_api import Object
    from suphx_platform.cluster.launcher import Launcher
    from suphx_platform.cluster.run_manifest import RunObjects
    from suphx_platform.cluster.run_status import RunStatus

WAIT_SECONDS = 600.0
"""How long commands wait for the cluster by default."""
_FOREVER_SECONDS = 10 * 365 * 86400.0


def launch(
    recipe: str | Path,
    *,
    preset: str | None = None,
    settings: Mapping[str, object] | None = None,
    release: str | None = None,
    replace: bool = False,
    dry_run: bool = False,
    seconds: float = 0.0,
    context: str | None = None,
    namespace: str | None = None,
) -> RunStatus:
    """Start a recipe on a cluster as a RayJob; leave a run of the same recipe that exists as it is.

    ``recipe``: a name of ``suphx recipes``, or a TOML file. ``preset``: size of the run's cluster (default: the chart's
    value). ``settings``: keys of the recipe, such as ``{"reinforcement.max_updates": 100}``. ``release``: name of the
    Helm release, if the namespace has several. ``replace``: a tournament only: delete the RayJobs of its other nights
    first. ``dry_run``: let the API server check the objects and create nothing. ``seconds``: how long to wait for other
    nights to end, and for an API server that does not answer. ``context``, ``namespace``: of the kubeconfig (default:
    the current ones).

    Returns the status of the run, with its ``run_id``. Raises ValueError for a recipe, a key or a value that is wrong,
    and ClusterError if the cluster cannot be reached or refuses the run.
    """
    _check_kind(Path(recipe), preset=preset, replace=replace)
    launcher = connect(context=context, namespace=namespace, seconds=seconds)
    template = launcher.template(release)
    objects = objects_of(Path(recipe), template, preset=preset, overrides=_overrides(settings))
    launcher.check_operator(template)
    if replace:
        launcher.delete_other_nights(objects, seconds=seconds)
    return launcher.launch(objects, is_dry=dry_run)


def status(run: str, *, context: str | None = None, namespace: str | None = None) -> RunStatus:
    """Return the state of a run, its pods, attempts and problems, with metrics and checkpoints that can be read.

    Raises ClusterError if there is no such run, or the cluster cannot be reached.
    """
    from suphx_platform.cluster.run_attempts import with_progress

    launcher = connect(context=context, namespace=namespace)
    return with_progress(launcher.status(run), launcher.source(run))


def wait(
    run: str, *, seconds: float | None = None, context: str | None = None, namespace: str | None = None
) -> RunStatus:
    """Wait until a run has succeeded; return its status.

    ``seconds``: how long at most (default: without a limit). An API server that does not answer for 10 minutes is an
    error. Raises ClusterError if the run has failed or was stopped, with its problems, and if it takes longer.
    """
    launcher = connect(context=context, namespace=namespace, seconds=WAIT_SECONDS)
    found = launcher.wait(run, seconds=_FOREVER_SECONDS if seconds is None else seconds)
    if found.state != "succeeded":
        raise ClusterError(f"{run} is {found.state}: see suphx status {run}. {' '.join(found.problems)}".rstrip())
    return found


def stop(
    run: str,
    *,
    save: bool = True,
    seconds: float = WAIT_SECONDS,
    context: str | None = None,
    namespace: str | None = None,
) -> RunStatus:
    """Save the state of a run and stop it; its recipe is kept, so that ``suphx resume`` continues it.

    ``save``: if False, training since the last checkpoint is lost. ``seconds``: how long to wait for the pods to
    terminate. Returns the status of the stopped run. Raises ClusterError if it takes longer, or if the run is stopped
    but did not save.
    """
    return connect(context=context, namespace=namespace, seconds=seconds).stop(run, saves=save, seconds=seconds)


def connect(*, context: str | None, namespace: str | None, seconds: float = 0.0) -> Launcher:
    """Return the launcher of a cluster; ClusterError if none is configured.

    ``seconds``: how long an API server that has answered before may be unavailable; 0: a few attempts.
    """
    check_configured(context)  # before the imports, which take a second
    from suphx_platform.cluster.cluster_api import ClusterApi
    from suphx_platform.cluster.launcher import Launcher

    return Launcher(ClusterApi(context=context, namespace=namespace, outage_seconds=seconds))


def preview(
    recipe: Path,
    *,
    preset: str | None,
    settings: Mapping[str, object],
    values: Path | None,
    release: str | None,
    namespace: str | None,
) -> RunObjects:
    """Return the objects that ``launch`` would create with the chart that comes with this code; no cluster is needed.

    ``values``: a file with values of the chart. Raises ValueError and ClusterError as ``launch`` does, also if Helm is
    not installed.
    """
    from suphx_platform.cluster.chart import rendered_template

    _check_kind(recipe, preset=preset, replace=False)
    template = rendered_template(values, release=release, namespace=namespace)
    return objects_of(recipe, template, preset=preset, overrides=_overrides(settings))


def objects_of(path: Path, template: Object, *, preset: str | None, overrides: list[tuple[str, str]]) -> RunObjects:
    """Return the objects of a launch; ValueError for a recipe that the command in the cluster would refuse.

    The recipe of a tournament names the night, so that every attempt plays the same one.
    """
    from suphx_pipelines.recipe.recipe_file import to_table, to_toml, without
    from suphx_pipelines.recipe.recipe_kind import load_run_recipe, load_tournament_recipe, needs_of
    from suphx_pipelines.runs.run_origin import derived_run_id
    from suphx_platform.cluster.run_manifest import run_id_of, run_objects, tournament_objects

    is_tournament = _is_tournament(path)
    recipe: Any = (load_tournament_recipe if is_tournament else load_run_recipe)(path, overrides)
    address = recipe.storage.address
    if address and not any(key == "storage.address" for key, _ in overrides):  # it counts more than that of the chart
        overrides = [*overrides, ("storage.address", address)]
    run_id = run_id_of(recipe.name, without(to_table(recipe), recipe.free_keys))
    common: dict[str, Any] = {"run_id": run_id, "recipe": to_toml(recipe), "overrides": overrides}
    if is_tournament:
        return tournament_objects(template, results_id=derived_run_id(recipe), **common)
    from suphx_pipelines.pipeline import pipeline_stages

    pipeline_stages(recipe)  # finds keys that do not fit together
    return run_objects(template, preset=preset, needs=needs_of(recipe), **common)


def _check_kind(recipe: Path, *, preset: str | None, replace: bool) -> None:
    """Raise ValueError for a recipe of another command, and for options that it does not take."""
    from suphx_pipelines.recipe.recipe_kind import check_kind

    is_tournament = _is_tournament(recipe)
    check_kind(recipe, "tournament" if is_tournament else "run")
    if is_tournament and preset:
        raise ValueError(f"preset is {preset}, and a tournament has the size of nightly.workers in the chart: omit it")
    if replace and not is_tournament:
        raise ValueError("replace deletes other nights of a tournament, and this recipe is that of a run: omit it")


def _is_tournament(recipe: Path) -> bool:
    from suphx_pipelines.recipe.recipe_file import read_table
    from suphx_pipelines.recipe.recipe_kind import command_of

    return command_of(read_table(recipe)) == "tournament"


def _overrides(settings: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """Return settings as the command line gives them: text as it is, other values as TOML."""
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in (settings or {}).items()}
    return list(texts.items())
