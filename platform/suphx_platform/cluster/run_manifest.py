"""The objects of one run: a RayJob made from the chart's template, and the ConfigMap with its recipe.

The template is the chart's (ConfigMap ``<release>-run-template``): nothing here defines what a cluster is.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.run_status import RUN_LABEL, STOP_NOTE

Object = dict[str, Any]

TEMPLATE_LABEL = "suphx/run-template=true"
PRESET_LABEL = "suphx/preset"
RELEASE_LABEL = "app.kubernetes.io/instance"
DIGEST_NOTE = "suphx/recipe-digest"
LAUNCH_NOTE = "suphx/launch"
"""Annotation of a RayJob that names the command that created it."""
RESULTS_NOTE = "suphx/results"
"""The annotation with the id of the results in the storage and in MLflow, if it is not the name of the RayJob."""
PLACEHOLDER = "RUN_ID"
NIGHTLY = "nightly"
"""What the launcher calls the preset of a tournament: its size is in the chart's values of that name."""
RECIPE_KEY, JOB_KEY = "recipe.toml", "rayjob.yaml"
_DIGEST_LENGTH = 10
_CHART_TABLES = ("reinforcement", "data_parallel")
"""Tables of the recipe with keys that the chart sets, which recipes of other games do not have."""
_TOURNAMENT_KEY = "tournament.yaml"
_TEMPLATE_KEY = re.compile(r"rayjob-(.+)\.yaml")
_SHELL_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
"""Text that no shell changes. Two read the command, the submitter's and then the head's, and in between Ray quotes
for Windows: the second one expands $(…) within quotes. So text with other characters is not passed at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunObjects:
    """The objects that ``suphx launch`` creates."""

    run_id: str
    job: Object
    recipe: Object


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNeeds:
    """What a recipe uses of the cluster that the chart describes."""

    unused_groups: tuple[str, ...] = ()
    """Worker groups for which it has no work."""
    keys: Mapping[str, str] | None = None
    """Key that the chart sets on the command line -> the key of this recipe; the recipe has no others. None: it has
    all keys of the chart."""
    takes_records: bool = True
    """Whether ``suphx run`` takes ``--records`` for it."""


def run_id_of(name: str, identity: Mapping[str, Any]) -> str:
    """Return the id of a run: the recipe's ``name`` and a digest of all settings that influence its result.

    The same recipe has the same id, so that nothing is launched twice.
    """
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:_DIGEST_LENGTH]
    name = re.sub(r"[^a-z0-9-]", "-", name.lower())[: MAX_JOB_NAME - _DIGEST_LENGTH - 1].strip("-")
    return f"{name if name[:1].isalpha() else 'run-' + name}"[: MAX_JOB_NAME - _DIGEST_LENGTH - 1] + f"-{digest}"


def run_objects(
    template: Object,
    *,
    preset: str | None,
    run_id: str,
    recipe: str,
    overrides: Sequence[tuple[str, str]],
    needs: RunNeeds | None = None,
) -> RunObjects:
    """Fill in the chart's ``template``, a ConfigMap; ``recipe``: the resolved TOML text.

    ``needs``: what the recipe uses; by default all that the chart has. Groups without work get no pods.

    Raises ClusterError if the template has no such preset or is damaged, or if an override cannot be passed on the
    command line.
    """
    preset = preset or str((template.get("data") or {}).get("preset", ""))
    job = _job(template, f"rayjob-{preset}.yaml", run_id) or _job(template, "rayjob.yaml", run_id)
    if job is None:
        presets = sorted(match[1] for key in template.get("data") or {} if (match := _TEMPLATE_KEY.fullmatch(key)))
        name = template["metadata"]["name"]
        raise ClusterError(f"the chart ({name}) has no preset {preset!r}: use one of {', '.join(presets)}")
    needs = needs or RunNeeds()
    spec = job.setdefault("spec", {})
    spec["entrypoint"] = _with_own_keys(str(spec.get("entrypoint", "")), needs)
    cluster = spec.get("rayClusterSpec") or {}
    groups = cluster.get("workerGroupSpecs") or []
    cluster["workerGroupSpecs"] = [group for group in groups if group.get("groupName") not in needs.unused_groups]
    return _filled(job, preset, ("--run-id", run_id), recipe=recipe, overrides=overrides)


def tournament_objects(
    template: Object, *, run_id: str, results_id: str, recipe: str, overrides: Sequence[tuple[str, str]]
) -> RunObjects:
    """Fill in the chart's ``template`` for a tournament; other arguments and errors as for ``run_objects``.

    ``results_id``: of the tournament, by which later nights find its games (tournament/history.py).
    """
    job = _job(template, _TOURNAMENT_KEY, run_id)
    if job is None:
        raise ClusterError(
            "the chart has no pods for tournaments: run helm upgrade with nightly.enabled=true and nightly.workers, or "
            "play it on one machine with suphx tournament"
        )
    job["metadata"].setdefault("annotations", {})[RESULTS_NOTE] = results_id
    return _filled(job, NIGHTLY, (), recipe=recipe, overrides=overrides)


def _filled(
    job: Object, preset: str, own: Sequence[str], *, recipe: str, overrides: Sequence[tuple[str, str]]
) -> RunObjects:
    """Return the objects of a job of the template, with ``own`` arguments of the launcher."""
    run_id = str(job["metadata"].get("name", ""))
    spec = job.setdefault("spec", {})
    entrypoint = str(spec.get("entrypoint", ""))
    spec["entrypoint"] = " ".join([entrypoint, *map(shlex.quote, (*own, *_settings(entrypoint, overrides)))])
    digest = hashlib.sha256(recipe.encode()).hexdigest()
    metadata = job["metadata"]
    metadata.setdefault("labels", {}).update({RUN_LABEL: run_id, PRESET_LABEL: preset})
    metadata.setdefault("annotations", {})[DIGEST_NOTE] = digest
    return RunObjects(run_id=run_id, job=job, recipe=_recipe_map(job, recipe, digest))


def _with_own_keys(entrypoint: str, needs: RunNeeds) -> str:
    """Return the chart's command for a recipe that has other keys than the chart sets; ``run.arguments`` stay."""
    words, kept = iter(shlex.split(entrypoint)), list[str]()
    for word in words:
        if word == "--set" and needs.keys is not None:
            key, sign, value = next(words).partition("=")
            if key in needs.keys or key.partition(".")[0] not in _CHART_TABLES:  # an argument of the administrator
                kept += [word, f"{needs.keys.get(key, key)}{sign}{value}"]
        elif word == "--records" and not needs.takes_records:
            next(words)
        else:
            kept.append(word)
    return entrypoint if needs == RunNeeds(unused_groups=needs.unused_groups) else shlex.join(kept)


def _settings(entrypoint: str, overrides: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the words of the overrides that follow the chart's own settings on the command line.

    The recipe's ConfigMap has all overrides already. They are repeated because they take precedence over what the
    chart sets. One with characters that a shell could change is repeated only where that matters, and then refused.
    """
    words = shlex.split(entrypoint)
    chart_keys = [word.partition("=")[0] for option, word in itertools.pairwise(words) if option == "--set"]
    for key, value in overrides:
        if _SHELL_SAFE.fullmatch(f"{key}={value}"):
            yield from ("--set", f"{key}={value}")
        elif any(f"{one}.".startswith(f"{key}.") for one in chart_keys):
            raise ClusterError(
                f"--set {key}={value}: the chart sets {key} on the command line too, which two shells read. Use only "
                "letters, digits and _@%+=:,./- in this value"
            )


def job_of(recipe_map: Object) -> Object:
    """Return the RayJob as it was first created, from the ConfigMap of its recipe; ClusterError if it has none."""
    text = (recipe_map.get("data") or {}).get(JOB_KEY)
    if not text:
        name = recipe_map["metadata"]["name"]
        raise ClusterError(f"ConfigMap {name} has no key {JOB_KEY}: delete the run and launch its recipe again")
    job: Object = yaml.safe_load(text)
    return job


_OWN_NOTES = (LAUNCH_NOTE, STOP_NOTE)
"""They are about one RayJob, not about the next one of the same run."""


def job_text(job: Object) -> str:
    """Return the YAML by which a RayJob can be created again: without what the cluster and the commands add."""
    notes = {key: value for key, value in (job["metadata"].get("annotations") or {}).items() if key not in _OWN_NOTES}
    found = {**job["metadata"], "annotations": notes}
    metadata = {key: found[key] for key in ("name", "labels", "annotations") if found.get(key)}
    spec = {key: value for key, value in job["spec"].items() if key != "suspend"}
    return yaml.safe_dump(
        {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": metadata, "spec": spec}, sort_keys=False
    )


def recipe_name(run_id: str) -> str:
    """Return the name of the ConfigMap of a run's recipe, as the chart's template mounts it."""
    return f"{run_id}-recipe"


def setting(job: Object, key: str) -> str:
    """Return the last value that the entrypoint sets ``key`` to; empty if it does not."""
    words = shlex.split(str(job["spec"].get("entrypoint", "")))
    values = [word.partition("=")[2] for word in words if word.startswith(f"{key}=")]
    return values[-1] if values else ""


def environment(job: Object, name: str) -> str:
    """Return the value of a variable of the head's container; empty if it has none, or one of a secret."""
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    return next((str(one.get("value") or "") for one in head.get("env") or () if one["name"] == name), "")


def results_id(job: Mapping[str, Any]) -> str:
    """Return the id of the results of a RayJob in the storage and in MLflow."""
    metadata = job["metadata"]
    return str((metadata.get("annotations") or {}).get(RESULTS_NOTE) or metadata["name"])


def _job(template: Object, key: str, run_id: str) -> Object | None:
    """Return the RayJob under a key of the template; None if there is none, ClusterError if it is damaged."""
    check_name(run_id)  # before it becomes part of YAML and of a command
    name, data = template["metadata"]["name"], template.get("data") or {}
    text = data.get(key)
    if text is None:
        return None
    try:
        job = yaml.safe_load(text.replace(PLACEHOLDER, run_id))
    except yaml.YAMLError as error:
        raise ClusterError(f"ConfigMap {name}: {key} is not YAML ({error}): run helm upgrade") from error
    if not isinstance(job, dict) or job.get("kind") != "RayJob" or not isinstance(job.get("metadata"), dict):
        raise ClusterError(f"ConfigMap {name}: {key} is not a RayJob: run helm upgrade")
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


MAX_JOB_NAME = 47
"""KubeRay adds to it to name clusters and services."""
_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


def check_name(name: str) -> None:
    """Raise ClusterError if a RayJob cannot have this name."""
    if len(name) > MAX_JOB_NAME or not _NAME.fullmatch(name):
        raise ClusterError(
            f"the run {name!r}: its name must begin with a letter and have at most {MAX_JOB_NAME} lower-case letters, "
            "digits and dashes"
        )


def manifest(objects: list[dict[str, Any]]) -> str:
    """Return the YAML of several objects, as ``kubectl apply`` reads it; texts of several lines stay as they are."""
    return "\n---\n".join(yaml.dump(each, Dumper=_Dumper, sort_keys=False).rstrip() for each in objects)


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)
