"""The objects of one run: a RayJob made from the chart's template, and the ConfigMap with its recipe.

The template is the chart's alone (ConfigMap ``<release>-run-template``): here stands nothing of what a cluster is.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from suphx_platform.cluster_error import ClusterError
from suphx_platform.manifest_rules import MAX_JOB_NAME, check_job

Object = dict[str, Any]

TEMPLATE_LABEL = "suphx/run-template=true"
RUN_LABEL = "suphx/run"
PRESET_LABEL = "suphx/preset"
DIGEST_NOTE = "suphx/recipe-digest"
PLACEHOLDER = "RUN_ID"
RECIPE_KEY, JOB_KEY, STOP_KEY = "recipe.toml", "rayjob.yaml", "stop"
RECIPE_FOLDER = "/recipes"
_STOP_OPTION = "--stop-file"
_DIGEST_LENGTH = 10
_TEMPLATE_KEY = re.compile(r"rayjob-(.+)\.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunObjects:
    """What is created for one run."""

    run_id: str
    job: Object
    recipe: Object


def run_id_of(name: str, identity: Mapping[str, Any]) -> str:
    """Return the id of a run: the recipe's ``name`` and a digest of all that decides what comes of it.

    The same recipe has the same id, so that nothing is launched twice.
    """
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:_DIGEST_LENGTH]
    name = re.sub(r"[^a-z0-9-]", "-", name.lower())[: MAX_JOB_NAME - _DIGEST_LENGTH - 1].strip("-")
    return f"{name if name[:1].isalpha() else 'run-' + name}"[: MAX_JOB_NAME - _DIGEST_LENGTH - 1] + f"-{digest}"


def run_objects(
    template: Object, *, preset: str | None, run_id: str, recipe: str, overrides: Sequence[tuple[str, str]]
) -> RunObjects:
    """Fill in the chart's ``template``, a ConfigMap; ``recipe``: the resolved TOML text.

    Raises ClusterError if the template has no such preset, is damaged, or makes what the operator would refuse.
    """
    preset = preset or str((template.get("data") or {}).get("preset", ""))
    job = _job(template, preset, run_id)
    spec = job.setdefault("spec", {})
    settings = [f"--set {shlex.quote(f'{key}={value}')}" for key, value in overrides]
    own = [f"--run-id {run_id}", f"{_STOP_OPTION} {RECIPE_FOLDER}/{STOP_KEY}"]
    spec["entrypoint"] = " ".join([str(spec.get("entrypoint", "")), *own, *settings])
    digest = hashlib.sha256(recipe.encode()).hexdigest()
    metadata = job["metadata"]
    metadata.setdefault("labels", {}).update({RUN_LABEL: run_id, PRESET_LABEL: preset})
    metadata.setdefault("annotations", {})[DIGEST_NOTE] = digest
    check_job(job)
    return RunObjects(run_id=run_id, job=job, recipe=_recipe_map(job, recipe, digest))


def job_of(recipe_map: Object) -> Object:
    """Return the RayJob as it was first created, from the ConfigMap of its recipe; ClusterError if it is not there."""
    text = (recipe_map.get("data") or {}).get(JOB_KEY)
    if not text:
        name = recipe_map["metadata"]["name"]
        raise ClusterError(f"ConfigMap {name} has no {JOB_KEY}: this run was not made by suphx launch; launch it anew")
    job: Object = yaml.safe_load(text)
    return job


def with_job(recipe_map: Object, patch: Object) -> Object:
    """Return the patch of a recipe's ConfigMap by which its RayJob has what ``patch`` puts into ``spec``."""
    job = job_of(recipe_map)
    job["spec"] = {**job["spec"], **patch["spec"]}
    return {"data": {JOB_KEY: yaml.safe_dump(job, sort_keys=False)}}


def recipe_name(run_id: str) -> str:
    """Return the name of the ConfigMap of a run's recipe, as the chart's template mounts it."""
    return f"{run_id}-recipe"


def owner_of(job: Object) -> Object:
    """Return the reference by which an object goes when the RayJob does."""
    metadata = job["metadata"]
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": metadata["name"], "uid": metadata["uid"]}


def stop_file_of(job: Object) -> str:
    """Return the file whose appearance the run looks out for; empty if it does not."""
    words = shlex.split(str(job["spec"].get("entrypoint", "")))
    return words[words.index(_STOP_OPTION) + 1] if _STOP_OPTION in words[:-1] else ""


def setting(job: Object, key: str) -> str:
    """Return what the entrypoint sets ``key`` to, the last time that it does; empty if it does not."""
    words = shlex.split(str(job["spec"].get("entrypoint", "")))
    values = [word.partition("=")[2] for word in words if word.startswith(f"{key}=")]
    return values[-1] if values else ""


def _job(template: Object, preset: str, run_id: str) -> Object:
    name, data = template["metadata"]["name"], template.get("data") or {}
    text = data.get(f"rayjob-{preset}.yaml") or data.get("rayjob.yaml")
    if text is None:
        presets = sorted(match[1] for key in data if (match := _TEMPLATE_KEY.fullmatch(key)))
        raise ClusterError(f"ConfigMap {name} has no preset {preset!r}: use one of {', '.join(presets)}")
    try:
        job = yaml.safe_load(text.replace(PLACEHOLDER, run_id))
    except yaml.YAMLError as error:
        raise ClusterError(f"ConfigMap {name}: the template of {preset} is no YAML ({error}): helm upgrade") from error
    if not isinstance(job, dict) or job.get("kind") != "RayJob" or not isinstance(job.get("metadata"), dict):
        raise ClusterError(f"ConfigMap {name}: the template of {preset} is no RayJob: helm upgrade the release")
    return job


def _recipe_map(job: Object, recipe: str, digest: str) -> Object:
    labels = {key: value for key, value in job["metadata"]["labels"].items() if key.startswith(("suphx/", "app."))}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": recipe_name(job["metadata"]["name"]),
            "labels": labels,
            "annotations": {DIGEST_NOTE: digest},
        },
        "data": {RECIPE_KEY: recipe, JOB_KEY: yaml.safe_dump(job, sort_keys=False)},
    }
