"""Old versions of the registered model whose nets were not promoted: deleted when there are too many of them.

Only versions with the tag ``outcome`` = "not promoted" are deleted, so never one that was a champion by a promotion,
one that somebody has registered by hand, or one of a program before that tag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suphx_platform.tracking.client.mlflow_call import TrackingRefusedError
from suphx_platform.tracking.mlflow_store import MlflowStore
from suphx_platform.tracking.model_registry import (
    DIGEST_TAG,
    MODEL_TAG,
    NOT_PROMOTED,
    OUTCOME_TAG,
    PREFIX,
    RegistryConfig,
)
from suphx_platform.tracking.promotion import TOURNAMENT_TAG

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class LostVersion:
    """A version whose nets were not promoted."""

    address: str
    """``models:/NAME/VERSION``."""
    digest: str
    """Of its nets."""
    tournament: str
    """The run in which it was the candidate."""


@dataclass(frozen=True, slots=True)
class DeletedVersions:
    """What ``delete_lost_versions`` has done."""

    deleted: list[str] = field(default_factory=list)
    """Addresses of versions."""
    left_models: list[str] = field(default_factory=list)
    """MLflow's ids of their models, with the files, which this user must not delete."""


def delete_lost_versions(
    store: MlflowStore, config: RegistryConfig, is_needed: Callable[[LostVersion], bool]
) -> DeletedVersions:
    """Delete the versions that were not promoted, but for the newest ``config.max_lost_versions``.

    Those that an alias names or that are ``is_needed`` stay. The model of the run that a version was made from is
    deleted with it unless another version has the same; ``mlflow gc`` then frees its files. TrackingError if MLflow
    does not answer; a later call does the rest.
    """
    result = DeletedVersions()
    if not config.max_lost_versions:
        return result
    with store.call():
        versions = store.client.search_model_versions(f"name = '{config.model}'")
    lost = [version for version in versions if version.tags.get(OUTCOME_TAG) == NOT_PROMOTED]
    lost.sort(key=lambda version: int(version.version), reverse=True)
    models = [version.tags.get(MODEL_TAG) for version in versions]
    for version in lost[config.max_lost_versions :]:
        number, told, model = str(version.version), _lost(version), version.tags.get(MODEL_TAG)
        if is_needed(told):
            continue
        with store.call():
            if store.client.get_model_version(config.model, number).aliases:
                continue
            if model and models.count(model) == 1 and not _delete_model(store, model):
                result.left_models.append(model)
            store.client.delete_model_version(config.model, number)
        models.remove(model)
        result.deleted.append(told.address)
    return result


def _lost(version: ModelVersion) -> LostVersion:
    return LostVersion(
        address=f"{PREFIX}{version.name}/{version.version}",
        digest=version.tags.get(DIGEST_TAG, ""),
        tournament=version.tags.get(TOURNAMENT_TAG, ""),
    )


def _delete_model(store: MlflowStore, model_id: str) -> bool:
    """Delete a model of a run, before its version so that none is forgotten; False if this user must not."""
    from mlflow.exceptions import MlflowException

    try:
        with store.call():
            store.client.delete_logged_model(model_id)
    except TrackingRefusedError:
        return False
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":  # deleted before a kill, or by hand
            raise
    return True
