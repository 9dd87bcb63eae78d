"""Old versions of the registered model whose nets were not promoted: deleted when there are too many of them.

Only versions with the tag ``outcome`` = "not promoted" are deleted, so never one that was a champion by a promotion,
one that somebody has registered by hand, or one of a program before that tag.

Several tournaments may use one registered model. Each deletes only versions of its own candidates, and leaves those
that another one has marked as named in its recipe (``mark_needed``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from suphx_platform.tracking.client.mlflow_call import TrackingRefusedError
from suphx_platform.tracking.mlflow_store import MlflowStore
from suphx_platform.tracking.model_registry import (
    DIGEST_TAG,
    MODEL_TAG,
    NOT_PROMOTED,
    OUTCOME_TAG,
    PREFIX,
    VERSION_ADDRESS,
    RegistryConfig,
)
from suphx_platform.tracking.promotion import STORED_TAG, TOURNAMENT_TAG

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

_NEEDED_BY = "suphx.needed_by."
"""First part of a tag of versions; then the name of a tournament whose recipe names this version."""
_BETWEEN = re.compile(r" (?=s3://)")
"""Addresses; a name in a bucket may have spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostVersion:
    """A version whose nets were not promoted."""

    address: str
    """``models:/NAME/VERSION``."""
    digest: str
    """Of its nets."""
    tournament: str
    """The run in which it was the candidate."""
    stored: tuple[str, ...] = ()
    """Versions in a bucket that its nets were copied from."""


class VersionOwner(Protocol):
    """The tournament that deletes its old versions. Each verb may raise OSError, which ends the deleting for now."""

    @property
    def name(self) -> str:
        """Of the tournament."""
        ...

    def owns(self, version: LostVersion) -> bool:
        """Tell whether the version was a candidate of this tournament."""
        ...

    def needs(self, version: LostVersion) -> bool:
        """Tell whether the version must stay."""
        ...

    def release(self, version: LostVersion) -> None:
        """Free what was kept because of the version, which is deleted next."""
        ...


@dataclass(frozen=True, slots=True)
class DeletedVersions:
    """What ``delete_lost_versions`` has done."""

    deleted: list[str] = field(default_factory=list)
    """Addresses of versions."""
    left_models: list[str] = field(default_factory=list)
    """MLflow's ids of their models, with the files, which this user must not delete."""


def delete_lost_versions(store: MlflowStore, config: RegistryConfig, owner: VersionOwner) -> DeletedVersions:
    """Delete the owner's versions that were not promoted, but for its newest ``config.max_lost_versions``.

    Those stay that an alias names, that another tournament has marked, or that the owner needs. The model of the run
    that a version was made from is deleted with it unless another version has the same; ``mlflow gc`` then frees its
    files. TrackingError if MLflow does not answer, OSError of the owner; a later call does the rest.
    """
    result = DeletedVersions()
    if not config.max_lost_versions:
        return result
    with store.call():
        versions = store.client.search_model_versions(f"name = '{config.model}'")
    lost = [version for version in versions if version.tags.get(OUTCOME_TAG) == NOT_PROMOTED]
    lost = [version for version in lost if owner.owns(_lost(version))]
    lost.sort(key=lambda version: int(version.version), reverse=True)
    for version in lost[config.max_lost_versions :]:
        told, model = _lost(version), version.tags.get(MODEL_TAG)
        if owner.needs(told) or _is_held(store, config.model, str(version.version), owner.name):
            continue
        owner.release(told)
        with store.call():
            if model and _num_versions(store, model) == 1 and not _delete_model(store, model):
                result.left_models.append(model)
            store.client.delete_model_version(config.model, str(version.version))
        result.deleted.append(told.address)
    return result


def mark_needed(store: MlflowStore, tournament: str, night: str, addresses: Collection[str]) -> None:
    """Mark the versions ``models:/NAME/VERSION`` as needed by a tournament, and take the mark from all others.

    No other tournament deletes them. An address of a version that does not exist is passed over. TrackingError if
    MLflow does not answer, or refuses.
    """
    tag = f"{_NEEDED_BY}{tournament}"
    wanted = {(match[1], match[2]) for address in addresses if (match := VERSION_ADDRESS.fullmatch(address))}
    with store.call():
        for name, number in sorted(wanted):
            _mark(store, name, number, tag, night)
        for version in store.client.search_model_versions(f"tags.`{tag}` LIKE '%'"):
            if (version.name, str(version.version)) not in wanted:
                store.client.delete_model_version_tag(version.name, str(version.version), tag)


def _mark(store: MlflowStore, name: str, number: str, tag: str, night: str) -> None:
    from mlflow.exceptions import MlflowException

    try:
        store.client.set_model_version_tag(name, number, tag, night)
    except MlflowException as error:
        if error.error_code != "RESOURCE_DOES_NOT_EXIST":
            raise


def _is_held(store: MlflowStore, model: str, number: str, tournament: str) -> bool:
    """Tell whether an alias names a version now, or another tournament has marked it."""
    with store.call():
        version = store.client.get_model_version(model, number)
    return bool(version.aliases) or _is_marked(version.tags, tournament)


def _is_marked(tags: Mapping[str, str], tournament: str) -> bool:
    marks = (name.removeprefix(_NEEDED_BY) for name in tags if name.startswith(_NEEDED_BY))
    return any(name != tournament for name in marks)


def _lost(version: ModelVersion) -> LostVersion:
    return LostVersion(
        address=f"{PREFIX}{version.name}/{version.version}",
        digest=version.tags.get(DIGEST_TAG, ""),
        tournament=version.tags.get(TOURNAMENT_TAG, ""),
        stored=tuple(filter(None, _BETWEEN.split(version.tags.get(STORED_TAG, "")))),
    )


def _num_versions(store: MlflowStore, model_id: str) -> int:
    """Return how many versions, of all registered models that this user may see, were made from a model of a run."""
    return len(store.client.search_model_versions(f"tags.`{MODEL_TAG}` = '{model_id}'"))


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
