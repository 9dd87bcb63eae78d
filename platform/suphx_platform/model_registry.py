"""The registered model of MLflow: five nets are one version, and an alias says which version is the champion.

A promotion first registers the winner with a tag, its **claim**: the night, and the version that it replaces. MLflow
numbers versions one after the other, so that of two that claim the same place at once everybody sees the same first
one. Only the first moves the alias, and only while the champion is still the one that it has beaten; whoever finds a
claim with the same nets before his own, as after a kill, carries that one out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.mlflow_call import FILES, FIRST
from suphx_platform.tracking import SERVER, Tracker, TrackingStore

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

PREFIX = "models:/"
CLAIM_TAG = "suphx.claim"
DIGEST_TAG = "suphx.digest"
_ARTIFACT = "model"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_ADDRESS = re.compile(rf"{PREFIX}({_NAME.pattern})(?:@({_NAME.pattern})|/([1-9][0-9]*))")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryConfig:
    """Where the champion is kept in the model registry."""

    model: str = "suphx"
    """Registered model; its versions are the champions so far."""
    alias: str = "champion"
    """Alias of this model that names the current champion."""

    def __post_init__(self) -> None:
        for name in ("model", "alias"):
            if not _NAME.fullmatch(getattr(self, name)):
                raise ValueError(f"{name} is {getattr(self, name)!r}: use letters, digits, -, _ and .")

    @property
    def address(self) -> str:
        """The champion's name as an agent."""
        return f"{PREFIX}{self.model}@{self.alias}"


class ModelRegistry:
    """Usage::

    registry = ModelRegistry(TrackingStore(Path("runs")), RegistryConfig())
    before = registry.champion()
    version = registry.promote(folder, tracker, digest=digest, replaces=before, night="2026-11-21")
    """

    def __init__(self, store: TrackingStore, config: RegistryConfig) -> None:
        self._store = store
        self._config = config

    @property
    def _client(self) -> MlflowClient:
        return self._store.client

    def champion(self) -> str | None:
        """Return the version that the alias names; None if there is none."""
        with self._store.call(FIRST):
            return _aliases(self._store, self._config.model).get(self._config.alias)

    def promote(
        self, folder: Path, tracker: Tracker, *, digest: str, replaces: str | None, night: str
    ) -> str | None:  # fmt: skip
        """Make the nets in ``folder`` the champion in the place of version ``replaces``; return their version.

        None, with nothing changed, if another one of this ``night`` was first or the alias stands elsewhere by now.
        ``digest`` says which nets these are; the same call again changes nothing and returns the same. The nets are
        kept as artifacts of the run ``tracker``.
        """
        with self._store.call(FILES):
            return self._promoted(folder, tracker, digest, replaces, f"{night}/{replaces or 'none'}")

    def _promoted(
        self, folder: Path, tracker: Tracker, digest: str, replaces: str | None, claim: str
    ) -> str | None:  # fmt: skip
        self._store.make_model(self._config.model)
        if not self._claims(claim):
            self._register(folder, tracker, claim, digest)
        first, *late = self._claims(claim)
        for version in late:
            if version.run_id == tracker.run_id:  # its own, of this call or of one that was killed
                self._client.delete_model_version(self._config.model, version.version)
        winner = str(first.version)
        current = self.champion()
        if first.tags.get(DIGEST_TAG) != digest or current not in (replaces, winner):
            return None
        if current != winner:
            self._client.set_registered_model_alias(self._config.model, self._config.alias, winner)
        return winner

    def _register(self, folder: Path, tracker: Tracker, claim: str, digest: str) -> None:
        self._client.log_artifacts(tracker.run_id, str(folder), _ARTIFACT)
        place = self._client.get_run(tracker.run_id).info.artifact_uri
        tags = {CLAIM_TAG: claim, DIGEST_TAG: digest}
        self._client.create_model_version(
            self._config.model, f"{place}/{_ARTIFACT}", tracker.run_id, tags=tags, await_creation_for=0
        )

    def _claims(self, claim: str) -> list[ModelVersion]:
        """Return the versions with this claim, first one first."""
        wanted = f"name = '{self._config.model}' AND tags.`{CLAIM_TAG}` = '{claim}'"
        return sorted(self._client.search_model_versions(wanted), key=lambda version: int(version.version))


def fetch_model(store: TrackingStore, address: str, folder: Path) -> str:
    """Copy the nets of ``models:/NAME@ALIAS`` or ``models:/NAME/VERSION`` into ``folder`` and return their version.

    ValueError if the address is none of these, or there is no such alias or version.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ValueError(f"{address!r} is no model: use {PREFIX}NAME@ALIAS or {PREFIX}NAME/VERSION")
    if not store.is_there:
        raise ValueError(f"{address!r}: there is no {store.uri}: name your folder of runs (--runs), or set {SERVER}")
    name, alias, number = match.groups()
    with store.call(FIRST):
        aliases = _aliases(store, name)
        found = {str(each.version): each for each in store.client.search_model_versions(f"name = '{name}'")}
        models = [] if found else [model.name for model in store.client.search_registered_models()]
    version = number or aliases.get(alias)
    if version in found:
        store.download(found[version].source or "", folder)
        return version
    if found:
        known = [*(f"@{each} (version {aliases[each]})" for each in aliases), *(f"/{each}" for each in found)]
        advice = f"{PREFIX}{name} has {', '.join(known)}"
    elif models:
        advice = f"its models are {', '.join(models)}"
    else:
        advice = "it has no models yet; suphx tournament registers its winners there"
    raise ValueError(f"{address!r} is not in the model registry of {store.uri}: {advice}")


def _aliases(store: TrackingStore, model: str) -> dict[str, str]:
    found = store.client.search_registered_models(f"name = '{model}'")
    return {alias: str(version) for alias, version in found[0].aliases.items()} if found else {}
