"""The registered model of MLflow: an agent's nets are a version, and aliases name the champion and the last candidate.

A promotion first registers the winner with a tag, its **claim**: alias, night, and the version that it replaces. MLflow
numbers versions in order, so that of two that claim the same place at once everybody sees the same first one. Only the
first moves the alias, and only while the champion is still the one that it has beaten. A promotion that finds a claim
with the same nets before its own, as after a kill, completes that one. The tag ``outcome`` of a version says whether it
was promoted.

Runs write into the same experiment as tournaments: who has the password of runs could replace files of a champion. So
its version names the SHA-256 of each net, in a tag that only the tournament can change; replaced nets are not loaded.

Each version is a ``pyfunc`` model (pyfunc_form.py): ``mlflow.pyfunc.load_model("models:/suphx@champion")``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.tracking.logged_models import (
    MODEL_TAG,
    NETS_TAG,
    PREFIX,
    READY,
    make_version,
    store_nets,
    wrong_nets,
)
from suphx_platform.tracking.mlflow_client import (
    EXISTS,
    FILES,
    FIRST,
    MISSING,
    SERVER,
    without_error,
)
from suphx_platform.tracking.mlflow_store import MlflowStore
from suphx_platform.tracking.pyfunc_form import columns_of, net_digests, take_nets
from suphx_platform.tracking.tracking import Tracker

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel
    from mlflow.entities.model_registry import ModelVersion

VERSION_ADDRESS = re.compile(rf"{re.escape(PREFIX)}([^/@]+)/([1-9][0-9]*)")
"""Address of one version of a registered model; its groups are the model and the version."""
CLAIM_TAG = "suphx.claim"
DIGEST_TAG, NIGHT_TAG = "suphx.digest", "suphx.night"
OUTCOME_TAG, PROMOTED, NOT_PROMOTED = "outcome", "promoted", "not promoted"
"""Of every version that a night has left; those before this tag have none."""
_PROMOTED_BY_TAG = "suphx.promoted_by"
_MODEL_NOTE = (
    "The candidates of the tournaments: each version is the nets that played against the champion in one night, "
    "and its description says how that ended. `models:/NAME@champion` names the current champion, "
    "`models:/NAME@candidate` the candidate of the last night. `mlflow.pyfunc.load_model` plays with both."
)
TOURNAMENT_TAG = "tournament"
"""The run of the tournament in which a version was the candidate."""
STORED_TAG = "stored"
"""Versions of checkpoints in a bucket (``s3://…``) that the nets were copied from, with spaces between."""
CANDIDATE_ALIAS = "candidate"
"""Names the candidate of the last night, also if it lost."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
MODEL_ADDRESS = re.compile(rf"{re.escape(PREFIX)}(m-[0-9a-f]{{32}})")
"""Address of the model of a run."""
_ADDRESS = re.compile(rf"{PREFIX}({_NAME.pattern})(?:@({_NAME.pattern})|/([1-9][0-9]*))")


def check_model_name(key: str, text: str, *, may_be_empty: bool = True) -> None:
    """Raise ValueError, which names the ``key``, unless ``text`` can be a name or alias of a registered model."""
    if not _NAME.fullmatch(text) and (text or not may_be_empty):
        raise ValueError(f"{key} is {text!r}: use letters, digits, -, _ and .")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryConfig:
    """Where the champion is kept in the model registry."""

    model: str = "suphx"
    """Registered model; its versions are the candidates so far, of which some became the champion."""
    alias: str = "champion"
    """Alias of this model that names the current champion."""

    def __post_init__(self) -> None:
        for name in ("model", "alias"):
            check_model_name(name, getattr(self, name), may_be_empty=False)
        if self.alias == CANDIDATE_ALIAS:
            raise ValueError(f"alias is {self.alias!r}, which names the last candidate: use another")

    @property
    def address(self) -> str:
        """The champion's name as an agent."""
        return f"{PREFIX}{self.model}@{self.alias}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The claim of a candidate to the champion's place, with the evidence."""

    digest: str
    """Of the nets: the same nets have the same digest."""
    night: str
    """Of the tournament: at most one promotion a night."""
    replaces: str | None
    """The version of the champion that it played against; None if there was none."""
    description: str = ""
    """Who was the opponent, how the match ended, when and in which tournament, in Markdown."""
    trained_in: str = ""
    """Key of the run that trained the nets; the version links it if MLflow has it."""
    name: str = "nets"
    """Of the model, such as the id of its run."""
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def claim(self) -> str:
        """The place of an alias that is claimed: the night, and the version that is replaced."""
        return f"{self.night}/{self.replaces or 'none'}"


class ModelRegistry:
    """Usage::

    registry = ModelRegistry(MlflowStore(Path("runs")), RegistryConfig())
    before = registry.champion()
    version = registry.promote(folder, tracker, Promotion(digest=digest, replaces=before, night="2026-11-21"))
    """

    def __init__(self, store: MlflowStore, config: RegistryConfig) -> None:
        self._store = store
        self._config = config

    @property
    def _client(self) -> MlflowClient:
        return self._store.client

    def champion(self) -> str | None:
        """Return the version that the alias names; None if there is none."""
        with self._store.call(FIRST):
            return _aliases(self._store, self._config.model).get(self._config.alias)

    def promote(self, folder: Path, tracker: Tracker, promotion: Promotion) -> str | None:
        """Make the nets in ``folder`` the champion in the place of ``promotion.replaces``; return their version.

        None, with nothing changed, if another promotion of the same night was first or the alias was moved meanwhile.
        The same call again changes nothing and returns the same. ``tracker`` is the run that promotes. The nets become
        a model of the run that trained them, to which the version links; of ``tracker`` if MLflow does not have it.
        """
        with self._store.call(FILES):
            return self._promoted(folder, tracker, promotion)

    def nominate(self, folder: Path, tracker: Tracker, promotion: Promotion) -> str:
        """Have the alias of candidates name a version with the nets in ``folder``, and return its number.

        It is the version that ``promote`` has registered, or one that an earlier call has, or else a new one. Its tag
        ``outcome`` is "not promoted" unless ``promote`` has made it the champion.
        """
        with self._store.call(FILES):
            make_registered_model(self._client, self._config.model)
            wanted = f"name = '{self._config.model}' AND tags.`{DIGEST_TAG}` = '{promotion.digest}'"
            found = [
                version
                for version in self._client.search_model_versions(wanted)
                if version.tags.get(NIGHT_TAG) == promotion.night
            ]
            if not found:
                own = {NIGHT_TAG: promotion.night, OUTCOME_TAG: NOT_PROMOTED}
                version = self._register(folder, tracker, promotion, own)
            else:
                version = str(found[0].version)
                if OUTCOME_TAG not in found[0].tags:  # it claimed the place, and something else was faster
                    self._client.update_model_version(self._config.model, version, promotion.description)
                    self._client.set_model_version_tag(self._config.model, version, OUTCOME_TAG, NOT_PROMOTED)
            self._client.set_registered_model_alias(self._config.model, CANDIDATE_ALIAS, version)
            return version

    def _promoted(self, folder: Path, tracker: Tracker, promotion: Promotion) -> str | None:
        make_registered_model(self._client, self._config.model)
        claim = f"{self._config.alias}/{promotion.claim}"
        if not self._claims(claim):
            self._register(folder, tracker, promotion, {CLAIM_TAG: claim, NIGHT_TAG: promotion.night})
        first, *late = self._claims(claim)
        for version in late:
            if version.tags.get(_PROMOTED_BY_TAG, version.run_id) == tracker.run_id:  # of this call or a killed one
                self._client.delete_model_version(self._config.model, version.version)
        winner = str(first.version)
        current = self.champion()
        if first.tags.get(DIGEST_TAG) != promotion.digest or current not in (promotion.replaces, winner):
            return None
        if current != winner:
            self._client.set_registered_model_alias(self._config.model, self._config.alias, winner)
        self._client.set_model_version_tag(self._config.model, winner, OUTCOME_TAG, PROMOTED)
        return winner

    def _register(self, folder: Path, tracker: Tracker, promotion: Promotion, own: Mapping[str, str]) -> str:
        """Make a version, with the tags ``own`` besides those of the promotion, and return its number."""
        found = self._store.find(promotion.trained_in) if promotion.trained_in else None
        run_id = found.info.run_id if found else tracker.run_id
        model = self._keep(folder, run_id, promotion)
        for name, value in promotion.metrics.items():
            self._client.log_metric(tracker.run_id, name, value, model_id=model.model_id)
        fixed = {
            DIGEST_TAG: promotion.digest,
            NETS_TAG: json.dumps(net_digests(folder)),
            MODEL_TAG: model.model_id,
            _PROMOTED_BY_TAG: tracker.run_id,
        }
        return make_version(
            self._client,
            self._config.model,
            model,
            run_id,
            tags={**promotion.tags, **own, **fixed},
            description=promotion.description,
            is_server=self._store.is_server,
        )

    def _keep(self, folder: Path, run_id: str, promotion: Promotion) -> LoggedModel:
        """Return the run's model with these nets; they are copied into a new one unless there is one already."""
        place = self._client.get_run(run_id).info.experiment_id
        mine = f"tags.`{DIGEST_TAG}` = '{promotion.digest}'"
        found = [each for each in self._client.search_logged_models([place], mine) if each.source_run_id == run_id]
        if found:
            model = found[0]
        else:
            name = re.sub(r"[/:.%\"']+", "-", promotion.name)
            tags = {DIGEST_TAG: promotion.digest}
            model = self._client.create_logged_model(
                place, name, run_id, tags=tags, model_type=columns_of(folder).model_type
            )
        store_nets(self._client, model, folder)
        return model

    def _claims(self, claim: str) -> list[ModelVersion]:
        wanted = f"name = '{self._config.model}' AND tags.`{CLAIM_TAG}` = '{claim}'"
        return sorted(self._client.search_model_versions(wanted), key=lambda version: int(version.version))


def make_registered_model(client: MlflowClient, name: str) -> None:
    """Create a registered model unless it exists; MlflowException if the server refuses."""
    with without_error(EXISTS):
        client.create_registered_model(name, description=_MODEL_NOTE)


def _take(folder: Path, address: str, recorded: str | None, advice: str) -> None:
    """Leave only the nets in ``folder``; ValueError, and none of them, if they are not as ``recorded`` (NETS_TAG)."""
    take_nets(folder)
    if wrong := wrong_nets(folder, recorded):  # there is no record of what was registered by hand
        for net in net_digests(folder):
            (folder / net).unlink()
        raise ValueError(
            f"the nets of {address} are not those that were registered: {'; '.join(wrong)}. Files of its model in "
            f"MLflow are damaged, or somebody replaced them. {advice}"
        )


def _fetch_logged(store: MlflowStore, model_id: str, folder: Path) -> str:
    """Copy the nets of the model of a run into ``folder``, and return its id; ValueError if there is none."""
    model = None
    with store.call(FIRST), without_error(MISSING):
        model = store.client.get_logged_model(model_id)
    if model is None or model.status != READY:
        state = "does not have" if model is None else "does not have all files of"
        raise ValueError(f"MLflow ({store.uri}) {state} the model {PREFIX}{model_id}: copy the id from its page")
    store.download(model.artifact_location, folder)
    _take(folder, f"{PREFIX}{model_id}", model.tags.get(NETS_TAG), "Use another model")
    return model_id


def fetch_model(store: MlflowStore, address: str, folder: Path) -> str:
    """Copy the nets of a model into ``folder``, and return its version, or its id if it is the model of a run.

    ``address``: ``models:/NAME@ALIAS``, ``models:/NAME/VERSION`` or ``models:/m-ID``. ValueError if it is none of
    these, there is no such alias, version or model, or its nets are not those that were stored.
    """
    match, model = _ADDRESS.fullmatch(address), MODEL_ADDRESS.fullmatch(address)
    if match is None and model is None:
        raise ValueError(f"{address!r} is not a model: use {PREFIX}NAME@ALIAS, {PREFIX}NAME/VERSION or {PREFIX}m-ID")
    if not store.is_there:
        raise ValueError(
            f"{address!r}: {store.uri} does not exist: choose your folder of runs with --runs, or set {SERVER}"
        )
    if match is None:
        return _fetch_logged(store, address.removeprefix(PREFIX), folder)
    name, alias, number = match.groups()
    with store.call(FIRST):
        aliases = _aliases(store, name)
        found = {str(each.version): each for each in store.client.search_model_versions(f"name = '{name}'")}
        models = [] if found else [model.name for model in store.client.search_registered_models()]
    version = number or aliases.get(alias)
    if version in found:
        store.download(found[version].source or "", folder)
        advice = "Move the alias to another version; if no disk has failed, change the password of runs"
        _take(folder, f"{PREFIX}{name}/{version}", found[version].tags.get(NETS_TAG), advice)
        return version
    if found:
        known = [*(f"@{each} (version {aliases[each]})" for each in aliases), *(f"/{each}" for each in found)]
        advice = f"{PREFIX}{name} has {', '.join(known)}"
    elif models:
        advice = f"its models are {', '.join(models)}"
    else:
        advice = "it has no models yet; suphx tournament registers its winners there"
    raise ValueError(f"{address!r} is not in the model registry of {store.uri}: {advice}")


def _aliases(store: MlflowStore, model: str) -> dict[str, str]:
    found = store.client.search_registered_models(f"name = '{model}'")
    return {alias: str(version) for alias, version in found[0].aliases.items()} if found else {}
