"""The checkpoints of a night's candidates: pinned in their storage from the pool stage to the promotion.

A training that goes on removes its old versions every few minutes, and a candidate is registered hours after its nets
were copied. A night that never gets to its promotion leaves pins: at most one version of a training, which the next
night with a candidate of this training frees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx_platform.agents.agent_forms import is_program, split_wrapper
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.client.mlflow_call import TrackingRefusedError
from suphx_platform.tracking.lost_versions import mark_needed
from suphx_platform.tracking.mlflow_store import MlflowStore
from suphx_platform.tracking.model_registry import VERSION_ADDRESS


class NamedAgents(Protocol):
    """The participants of a recipe."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Addresses of agents."""
        ...


class NightRecipe(Protocol):
    """A recipe of a tournament of any game."""

    @property
    def name(self) -> str:
        """First part of the ids of its runs."""
        ...

    @property
    def night(self) -> str:
        """Tonight's name."""
        ...

    @property
    def pool(self) -> NamedAgents:
        """Participants."""
        ...

    @property
    def storage(self) -> StorageConfig:
        """Where results are kept besides the folder of runs."""
        ...


def named_versions(agents: Iterable[str]) -> set[str]:
    """Return the addresses ``models:/NAME/VERSION`` of the nets of agents; those by an alias are not among them."""
    nets = (split_address(split_wrapper(agent)[1])[0] for agent in agents if not is_program(agent))
    return {address for address in nets if VERSION_ADDRESS.fullmatch(address)}


def mark_named(store: MlflowStore, recipe: NightRecipe, warn: Callable[[str], None]) -> None:
    """Mark the versions that the recipe names, and take the mark from those that it names no more.

    A server that does not allow it is a warning. TrackingError if it does not answer.
    """
    try:
        mark_needed(store, recipe.name, recipe.night, named_versions(recipe.pool.agents))
    except TrackingRefusedError as error:
        warn(f"the versions in pool.agents are not marked as needed, another tournament may delete them: {error}")


class Candidate(Protocol):
    """An agent of the pool."""

    @property
    def is_candidate(self) -> bool:
        """Whether it may become the champion."""
        ...

    @property
    def stored(self) -> tuple[str, ...]:
        """Versions in a storage that its nets were copied from."""
        ...


class CandidateVersions:
    """The pins of one tournament. A storage that does not answer, or refuses, is a warning: it costs no night."""

    def __init__(self, source: AgentSource, tournament: str, warn: Callable[[str], None]) -> None:
        """``tournament``: its name, which is the same every night."""
        self._source = source
        self._reason = f"candidate of {tournament}"
        self._warn = warn
        self._kept = set[str]()
        """Versions of a registered model that are not pinned for it."""

    def pin(self, entrants: Sequence[Candidate]) -> None:
        """Pin the versions of tonight's candidates, and free others of the same trainings that a night has left."""
        for stored in _stored(entrants):
            try:
                self._source.pin_only(stored, self._reason)
            except FileNotFoundError:  # removed since its nets were copied: ``present`` says so if it matters
                continue
            except OSError as error:
                self._warn(f"the checkpoints of candidates may be removed from the storage during the night: {error}")
                return

    def present(self, candidate: Candidate) -> tuple[str, ...]:
        """Return the versions that are not known to be gone, pinned if possible; a warning for each that is gone."""
        found = []
        for stored in candidate.stored:
            try:
                self._source.pin(stored, self._reason)
            except FileNotFoundError as error:
                self._warn(f"{stored} is not kept for the model that is made from it: {error}")
                continue
            except OSError as error:
                self._warn(f"{stored} may not be kept for the model that is made from it: {error}")
            found.append(stored)
        return tuple(found)

    def hand_over(self, candidate: Candidate, model: str) -> None:
        """Pin the versions for a ``model``, ``models:/NAME/VERSION``; where that fails, ``release`` leaves them."""
        for stored in candidate.stored:
            try:
                self._source.pin(stored, model)
            except OSError as error:  # the registry has the nets: a storage that is away costs no night
                self._warn(f"{stored} is not marked as used by {model}: {error}")
                self._kept.add(stored)

    def release(self, entrants: Sequence[Candidate]) -> None:
        """Take back what ``pin`` and ``present`` have pinned; a version that saves would have removed is removed."""
        for stored in _stored(entrants):
            if stored in self._kept:
                continue
            try:
                self._source.unpin(stored, self._reason)
            except OSError as error:
                self._warn(f"the pins of tonight's candidates are not removed from the storage: {error}")
                return


def _stored(entrants: Sequence[Candidate]) -> Iterator[str]:
    """Yield the versions of candidates."""
    for entrant in entrants:
        if entrant.is_candidate:
            yield from entrant.stored
