"""The models of runs in MLflow: nets as a LoggedModel of the run that made them, with the figures that measured them.

A model is known by its key: that of its run, its name, and a digest of its nets. So every call here can be made again,
as when its answer was lost, and changes nothing then.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from suphx.json_text import parse_json
from suphx_platform.tracking.mlflow_client import EXISTS, TrackingError, without_error
from suphx_platform.tracking.mlflow_store import KEY_TAG
from suphx_platform.tracking.pyfunc_form import columns_of, differences, net_digests, write_pyfunc

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel

PREFIX = "models:/"
READY: Literal["READY"] = "READY"
MODEL_TAG = "suphx.model"
"""MLflow's id of the model of a run: of a version that was made from it; of the run whose last nets it has, as an
address."""
NETS_TAG = "suphx.nets"
"""JSON: the SHA-256 of each net, by file name."""


def nets_digest(digests: Mapping[str, str]) -> str:
    """Return 16 hex digits for nets with these SHA-256 by file name."""
    return hashlib.sha256(json.dumps(dict(digests), sort_keys=True).encode()).hexdigest()[:16]


def find_model(client: MlflowClient, experiment: str, key: str) -> str | None:
    """Return MLflow's id of the model with this key; None if there is none."""
    found = client.search_logged_models([experiment], f"tags.`{KEY_TAG}` = '{key}'")
    return str(found[0].model_id) if found else None


def make_model(
    client: MlflowClient, experiment: str, key: str, *, name: str, nets: Path, run_id: str, params: Mapping[str, Any]
) -> str:
    """Return MLflow's id of the model with this key, which is made, without its files, unless it is there.

    ``nets``: a folder; ``run_id``: of the run that made them.
    """
    found = find_model(client, experiment, key)
    if found is not None:
        return found
    made = client.create_logged_model(
        experiment,
        name,
        run_id,
        tags={KEY_TAG: key, NETS_TAG: json.dumps(net_digests(nets))},
        params={name: str(value) for name, value in params.items()},
        model_type=columns_of(nets).model_type,
    )
    return str(made.model_id)


def add_output(client: MlflowClient, run_id: str, model_id: str, step: int) -> None:
    """Show the model, made at ``step``, on the page of a run."""
    from mlflow.entities import LoggedModelOutput

    outputs = client.get_run(run_id).outputs
    if not outputs or all(each.model_id != model_id for each in outputs.model_outputs):
        client.log_outputs(run_id, [LoggedModelOutput(model_id, step)])


def store_nets(client: MlflowClient, model: LoggedModel, nets: Path, *, has_code: bool = True) -> None:
    """Give a model its files, unless it has them."""
    if model.status == READY:
        return
    with TemporaryDirectory(prefix="suphx-model-") as space:
        form = Path(space, "model")
        write_pyfunc(nets, form, model_id=model.model_id, run_id=model.source_run_id or "", has_code=has_code)
        client.log_model_artifacts(model.model_id, str(form))
    client.finalize_logged_model(model.model_id, READY)


def publish(client: MlflowClient, model_id: str, run_id: str, registered: str, *, is_server: bool) -> None:
    """Note a model as the result of its run; make it a version of the registered model ``registered`` unless empty.

    TrackingError if its files are still waiting; ValueError if the user may not change the registered model.
    """
    from mlflow.exceptions import MlflowException

    model = client.get_logged_model(model_id)
    if model.status != READY:
        raise TrackingError(f"the files of the model {model.name} are not in MLflow yet")
    client.set_tag(run_id, MODEL_TAG, f"{PREFIX}{model_id}")
    if not registered or client.search_model_versions(f"name = '{registered}' AND tags.`{MODEL_TAG}` = '{model_id}'"):
        return
    with without_error(EXISTS):
        client.create_registered_model(registered)
    tags = {MODEL_TAG: model_id, NETS_TAG: model.tags[NETS_TAG]}
    try:
        make_version(client, registered, model, run_id, tags=tags, is_server=is_server)
    except MlflowException as error:
        if error.error_code != "PERMISSION_DENIED":
            raise
        text = f"this user may not add versions to the registered model {registered}: choose another registered_model"
        raise ValueError(text) from error


def make_version(
    client: MlflowClient,
    name: str,
    model: LoggedModel,
    run_id: str,
    *,
    tags: Mapping[str, str],
    is_server: bool,
    description: str | None = None,
) -> str:
    """Make a model of a run a version of the registered model ``name``, and return its number."""
    version = client.create_model_version(
        name,
        model.artifact_location,
        run_id,
        tags=dict(tags),
        description=description,
        await_creation_for=0,
        model_id=model.model_id,
    )
    if not is_server:  # a server has the page of the model list its versions by itself
        client._tracking_client.store.set_model_versions_tags(name, str(version.version), model.model_id)
    return str(version.version)


def keep_nets(nets: Mapping[str, Path], folder: Path) -> None:
    """Have ``folder`` keep these nets, by file name, as they are now: training replaces its files.

    Nothing is copied where the disk has hard links. OSError if the disk is full.
    """
    if folder.is_dir():
        return
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    for name, path in nets.items():
        try:
            (part / name).hardlink_to(path)
        except OSError:  # a file system without links
            shutil.copy2(path, part / name)
    part.rename(folder)


def wrong_nets(folder: Path, recorded: str | None) -> list[str]:
    """Return a phrase for each net of a folder that is not as ``NETS_TAG`` has it; nothing without that tag."""
    return differences(net_digests(folder), parse_json(recorded)) if recorded else []
