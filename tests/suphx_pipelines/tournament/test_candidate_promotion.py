"""The checkpoint that a candidate's nets came from: kept from the pool to the promotion, although training goes on."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from suphx_pipelines.json_file import write_json
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.tournament import promotion
from suphx_pipelines.tournament.entrants import POOL_NAME, Entrant, Pool
from suphx_pipelines.tournament.history import games_json
from suphx_pipelines.tournament.kind import DECISION_NAME
from suphx_pipelines.tournament.versions import CandidateVersions
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament.small_tournament import SMALL, code

NAME = "a-1/reinforcement"
PLACE = "s3://bucket/"
LOST = {
    "verdict": "not_better", "decides": "placement", "hanchans": 96, "difference": 0.1,
    "always_valid_interval": [-0.1, 0.1], "always_valid_intervals": {"placement": [-0.1, 0.1], "points": [-9.0, 9.0]},
}  # fmt: skip


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Storage:
    """Return a storage in a folder, which stands for the bucket."""
    storage = Storage(StorageConfig(address=str(tmp_path / "storage"), keep_last=1, keep_best=0))
    monkeypatch.setattr(AgentSource, "_place", lambda _, stored: (storage, stored.removeprefix(PLACE)))
    return storage


@pytest.fixture
def candidate(storage: Storage, runs: Path) -> Entrant:
    """Return the candidate, whose nets were copied from the newest version of a training that goes on."""
    nets = save_random(runs / "nightly-1" / "pool" / "agents" / "0")
    stored = PLACE + storage.save(NAME, nets, number=1).path
    return Entrant(name=NAME, address="agents/0", digest="nets", is_candidate=True, stored=(stored,))


def train_on(storage: Storage, runs: Path, number: int) -> str:
    """Save the next version of the training, and return where it is."""
    return PLACE + storage.save(NAME, runs / "nightly-1" / "pool" / "agents" / "0", number=number).path


def numbers(storage: Storage) -> list[int]:
    return [version.number for version in storage.versions(NAME)]


def pins(storage: Storage) -> list[str]:
    return [storage._store.get(key).decode() for key in storage._store.keys("") if "/.pinned/" in key]


def versions_of(runs: Path, warnings: list[str] | None = None) -> CandidateVersions:
    warn = pytest.fail if warnings is None else warnings.append
    return CandidateVersions(AgentSource(TrackingStore(runs)), SMALL.name, warn)


def promote(runs: Path, candidate: Entrant, *, is_won: bool, candidate_alias: str = "candidate") -> dict[str, str]:
    """Run the promotion; return the tags of the version in the registry, none if there is no version."""
    folder, store = runs / "nightly-1" / "promotion", TrackingStore(runs)
    pool = Pool(entrants=(candidate,), champion=None, version=None, left_out={})
    folder.with_name("decision").mkdir(exist_ok=True)
    write_json(folder.with_name("pool") / POOL_NAME, asdict(pool))
    write_json(folder.with_name("pool") / "history.json", {**games_json([], {}, code()), "nights": []})
    folder.mkdir(exist_ok=True)
    context: StageContext[Any] = StageContext(
        folder=folder,
        recipe=replace(SMALL, registry=replace(SMALL.registry, candidate_alias=candidate_alias)),
        upstream={name: folder.with_name(name) for name in ("pool", "decision")},
        records=None,
        tracker=store.start("promotion", key="nightly-1"),
        console=Console(),
        seed=1,
        storage_name="",
        keep=lambda number, score=None, then=None: None,
    )
    decision = {"candidate": NAME, "opponent": None, "is_won": is_won, "test": None if is_won else LOST, "match": None}
    write_json(folder.with_name("decision") / DECISION_NAME, decision)
    promotion.run(context)
    store.close()
    found = store.client.search_model_versions("name = 'suphx'")
    return dict(found[0].tags) if found else {}


def test_the_checkpoint_of_a_candidate_stays_until_it_is_registered_and_for_its_model(
    storage: Storage, candidate: Entrant, runs: Path
) -> None:
    versions_of(runs).pin([candidate])
    for number in (2, 3):
        train_on(storage, runs, number)
    assert numbers(storage) == [1, 3]
    assert promote(runs, candidate, is_won=True)["stored"] == candidate.stored[0]
    assert pins(storage) == ["models:/suphx/1"]
    assert promote(runs, candidate, is_won=True)["stored"] == candidate.stored[0], "as after a kill"
    assert numbers(storage) == [1, 3]
    assert pins(storage) == ["models:/suphx/1"]


def test_the_checkpoint_of_a_candidate_that_is_not_registered_goes(
    storage: Storage, candidate: Entrant, runs: Path
) -> None:
    versions_of(runs).pin([candidate])
    train_on(storage, runs, 2)
    assert promote(runs, candidate, is_won=False, candidate_alias="") == {}
    assert numbers(storage) == [2]
    assert pins(storage) == []


def test_a_checkpoint_that_is_gone_is_not_named_by_the_model(
    storage: Storage, candidate: Entrant, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train_on(storage, runs, 2)
    assert "stored" not in promote(runs, candidate, is_won=True)
    assert f"{candidate.stored[0]} is not kept for the model that is made from it: " in capsys.readouterr().err
    assert numbers(storage) == [2]
    assert pins(storage) == []


def test_an_outage_at_the_promotion_costs_no_checkpoint(
    storage: Storage,
    candidate: Entrant,
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    versions_of(runs).pin([candidate])
    train_on(storage, runs, 2)

    def fail(*_: object) -> None:
        raise ConnectionError("no answer")

    with monkeypatch.context() as away:
        away.setattr(Storage, "pin", fail)
        assert promote(runs, candidate, is_won=True)["stored"] == candidate.stored[0]
    assert f"{candidate.stored[0]} is not marked as used by models:/suphx/1: no answer" in capsys.readouterr().err
    assert numbers(storage) == [1, 2]
    assert pins(storage) == ["candidate of nightly"]


def test_a_night_frees_what_a_night_without_an_end_has_left(storage: Storage, candidate: Entrant, runs: Path) -> None:
    versions_of(runs).pin([candidate])
    second = replace(candidate, stored=(train_on(storage, runs, 2),))
    versions_of(runs).pin([second])
    train_on(storage, runs, 3)
    assert numbers(storage) == [2, 3]
    assert pins(storage) == ["candidate of nightly"]


def test_only_versions_of_candidates_are_kept_and_those_that_are_gone_are_passed_over(
    storage: Storage, candidate: Entrant, runs: Path
) -> None:
    train_on(storage, runs, 2)
    versions_of(runs).pin([replace(candidate, is_candidate=False), candidate])
    assert pins(storage) == []


def test_a_storage_that_refuses_pins_is_one_warning(
    storage: Storage, candidate: Entrant, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("the server says AccessDenied")

    monkeypatch.setattr(Storage, "pin", refuse)
    warnings: list[str] = []
    versions_of(runs, warnings).pin([candidate, candidate])
    assert warnings == [
        "the checkpoints of candidates may be removed from the storage during the night: the server says AccessDenied"
    ]
