"""The experiment of MLflow that holds all runs, shown as one of training runs and models."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from suphx.credentials import without_credentials

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

EXPERIMENT = "suphx"
_KIND_TAG, _KIND = "mlflow.experimentKind", "custom_model_development"
"""Without it, MLflow's pages ask whether this is a generative application or model training."""
_NOTE_TAG = "mlflow.note.content"
PRIMARY_METRIC = "verdict/difference"
VIEW = "suphx-verdicts"
"""Key of a shared view of MLflow's list of runs: with the columns of the verdict, the best agent first."""
_METRIC_KEYS = [f"metrics.`{PRIMARY_METRIC}{suffix}`" for suffix in ("", "_low", "_high")]
_TAGS = {
    f"mlflow.sharedViewState.{VIEW}": json.dumps(
        {"orderByKey": _METRIC_KEYS[0], "orderByAsc": True, "selectedColumns": _METRIC_KEYS}
    ),
    "mlflow.experiment.primaryMetric.name": PRIMARY_METRIC,
    "mlflow.experiment.primaryMetric.greaterIsBetter": "False",
    _KIND_TAG: _KIND,
    _NOTE_TAG: """Runs of Suphx: one run for each recipe and its records, with its stages nested in it.

Where to look:

- **Which run made the strongest agent?** The link of `suphx ui` sorts the table by `verdict/difference`: the average
  placement of the agent minus 2.5, that of an agent as strong as its opponent; negative is better.
  `verdict/difference_low` and `_high` are its 95 % interval.
- **What came out of a run?** Open it: its description begins with the verdict. Under *Artifacts*, `report.html` is the
  report; the SVG files are its pictures.
- **How did it learn?** Open the stages below the run. *Model metrics* of `supervised/…` has loss and accuracy, that of
  `reinforcement` the strength over self-play, entropy and throughput.
- **How do I repeat it?** The description has the command, and `recipe.toml` has all settings.
- **Which agent is the champion?** *Models*, `suphx`, alias `champion`.""",
}
_FORMER_NOTES = ("Runs of Suphx: one run for each recipe and its records, with its stages nested in it.",)
"""Of older versions of this program; what a user has written is kept."""
_DEFAULT_ID, _DEFAULT_NAME = "0", "Default"


def find_experiment(client: MlflowClient) -> Experiment | None:
    """Return the experiment; None if nothing was tracked yet, ValueError if somebody deleted it."""
    found: Experiment | None = client.get_experiment_by_name(EXPERIMENT)
    if found is not None and found.lifecycle_stage != "active":
        store = shlex.quote(without_credentials(client.tracking_uri))
        raise ValueError(
            f"the experiment {EXPERIMENT} was deleted in MLflow: restore it with `MLFLOW_TRACKING_URI={store} mlflow "
            f"experiments restore --experiment-id {found.experiment_id}`, or delete it for good with `mlflow gc`"
        )
    return found


def make_experiment(client: MlflowClient, place: str | None) -> str:
    """Return the id of the experiment, which is created, with its artifacts at ``place``, if it is missing."""
    from mlflow.exceptions import MlflowException

    found = find_experiment(client)
    if found is None:
        try:
            return client.create_experiment(EXPERIMENT, artifact_location=place, tags=_TAGS)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
            found = find_experiment(client)  # another process was first
            assert found is not None, "MLflow has just said that it exists"
    for name, text in _TAGS.items():
        if name not in found.tags or (name == _NOTE_TAG and found.tags[name] in _FORMER_NOTES):
            client.set_experiment_tag(found.experiment_id, name, text)
    return found.experiment_id


def remove_empty_default(client: MlflowClient) -> None:
    """Delete the experiment that MLflow puts into every new store, if it is as MLflow made it and has no runs."""
    from mlflow.entities import ViewType
    from mlflow.exceptions import MlflowException

    try:
        found = client.get_experiment(_DEFAULT_ID)
    except MlflowException as error:  # `mlflow gc` has removed what was deleted here
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise
        return
    is_as_made = found.name == _DEFAULT_NAME and found.lifecycle_stage == "active" and not found.tags
    if is_as_made and not client.search_runs([_DEFAULT_ID], run_view_type=ViewType.ALL, max_results=1):
        client.delete_experiment(_DEFAULT_ID)
