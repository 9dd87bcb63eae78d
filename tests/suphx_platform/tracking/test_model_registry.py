"""Promotions, with a real store of MLflow."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_platform.tracking.model_registry import (
    CLAIM_TAG,
    NIGHT_TAG,
    ModelRegistry,
    Promotion,
    RegistryConfig,
    fetch_model,
)
from suphx_platform.tracking.tracking import Tracker, TrackingStore

NIGHT = "2026-11-21"


def nets(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / text
    folder.mkdir(exist_ok=True)
    (folder / "discard.safetensors").write_text(text)
    return folder


def registry_of(runs: Path) -> tuple[ModelRegistry, Tracker]:
    store = TrackingStore(runs)
    return ModelRegistry(store, RegistryConfig()), store.start("night", key=f"night-{id(store)}")


def claimed(promotion: Promotion) -> dict[str, str]:
    """Return the tag of a version that a promotion has registered for the alias ``champion``."""
    return {CLAIM_TAG: f"champion/{promotion.claim}"}


def promote(runs: Path, tmp_path: Path, text: str, replaces: str | None, night: str = NIGHT) -> str | None:
    registry, tracker = registry_of(runs)
    return registry.promote(nets(tmp_path, text), tracker, Promotion(digest=text, replaces=replaces, night=night))


def test_a_winner_replaces_the_champion_and_can_be_fetched(runs: Path, tmp_path: Path) -> None:
    registry, _ = registry_of(runs)
    assert registry.champion() is None
    assert promote(runs, tmp_path, "a", None) == "1"
    assert promote(runs, tmp_path, "b", "1") == "2"
    assert promote(runs, tmp_path, "b", "1") == "2", "the same call again changes nothing"
    assert promote(runs, tmp_path, "c", "1") is None, "there is one winner a night"
    assert registry.champion() == "2"
    for address, version, text in (("models:/suphx@champion", "2", "b"), ("models:/suphx/1", "1", "a")):
        target = tmp_path / "fetched" / version
        assert fetch_model(TrackingStore(runs), address, target) == version
        assert (target / "discard.safetensors").read_text() == text


def test_of_winners_at_once_one_moves_the_alias_and_one_version_stays(runs: Path, tmp_path: Path) -> None:
    promote(runs, tmp_path, "a", None)
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda text: promote(runs, tmp_path, text, "1"), "bcde"))
    winners = [version for version in got if version is not None]
    assert len(winners) == 1
    assert registry_of(runs)[0].champion() == winners[0]
    versions = TrackingStore(runs).client.search_model_versions("name = 'suphx'")
    assert {str(version.version) for version in versions} == {"1", winners[0]}


def test_a_kill_between_claim_and_alias_is_mended_by_the_next_call(runs: Path, tmp_path: Path) -> None:
    promote(runs, tmp_path, "a", None)
    registry, tracker = registry_of(runs)
    promotion = Promotion(digest="b", replaces="1", night=NIGHT)
    registry._register(nets(tmp_path, "b"), tracker, promotion, claimed(promotion))  # as far as it got
    assert promote(runs, tmp_path, "c", "1") is None
    assert registry.champion() == "1"
    assert promote(runs, tmp_path, "b", "1") == "2"
    assert registry.champion() == "2"


def test_an_alias_that_somebody_moved_stays_where_it_is_and_another_night_may_win(runs: Path, tmp_path: Path) -> None:
    promote(runs, tmp_path, "a", None)
    promote(runs, tmp_path, "b", "1")
    TrackingStore(runs).client.set_registered_model_alias("suphx", "champion", "1")  # rolled back by hand
    assert promote(runs, tmp_path, "c", "2", night="2026-11-22") is None
    assert registry_of(runs)[0].champion() == "1"
    assert promote(runs, tmp_path, "d", "1", night="2026-11-23") == "4"


def test_a_version_links_the_run_that_trained_it_and_says_why_it_was_promoted(runs: Path, tmp_path: Path) -> None:
    registry, tracker = registry_of(runs)
    with tracker.store.start("laptop-1", key="laptop-1") as training:
        pass
    promotion = Promotion(
        digest="a",
        replaces=None,
        night=NIGHT,
        description="beat three ukeire",
        trained_in="laptop-1",
        name="laptop-1",
        tags={"opponent": "ukeire"},
        metrics={"promotion/difference": -0.25},
    )
    assert registry.promote(nets(tmp_path, "a"), tracker, promotion) == "1"
    client = TrackingStore(runs).client
    version = client.get_model_version("suphx", "1")
    assert (version.run_id, version.description) == (training.run_id, "beat three ukeire")
    assert version.tags["opponent"] == "ukeire"
    (model,) = client.search_logged_models([tracker.store.experiment_id()])
    assert (model.name, model.source_run_id, model.status) == ("laptop-1", training.run_id, "READY")
    assert json.loads(model.tags["mlflow.modelVersions"]) == [{"name": "suphx", "version": "1"}]
    assert [(metric.key, metric.value) for metric in model.metrics or []] == [("promotion/difference", -0.25)]
    assert "champion" in client.get_registered_model("suphx").description


def test_the_same_nets_promoted_again_are_kept_once(runs: Path, tmp_path: Path) -> None:
    registry, tracker = registry_of(runs)
    first = Promotion(digest="a", replaces=None, night=NIGHT)
    assert registry.promote(nets(tmp_path, "a"), tracker, first) == "1"
    assert promote(runs, tmp_path, "b", "1") == "2"
    again = Promotion(digest="a", replaces="2", night="2026-11-22")
    assert registry.promote(nets(tmp_path, "a"), tracker, again) == "3"
    assert registry.champion() == "3"
    client = TrackingStore(runs).client
    assert client.get_model_version("suphx", "3").source == client.get_model_version("suphx", "1").source


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("models:/suphx", "use models:/NAME@ALIAS, models:/NAME/VERSION or models:/m-ID"),
        (f"models:/m-{0:032x}", "does not have the model models:/m-0000"),
        ("models:/nobody@champion", "its models are suphx"),
        ("models:/suphx@best", r"models:/suphx has @champion \(version 1\), /1"),
        ("models:/suphx/7", "models:/suphx has @champion"),
    ],
)
def test_an_unknown_model_is_refused(runs: Path, tmp_path: Path, address: str, message: str) -> None:
    promote(runs, tmp_path, "a", None)
    with pytest.raises(ValueError, match=message):
        fetch_model(TrackingStore(runs), address, tmp_path / "target")


@pytest.mark.parametrize(
    ("damage", "told"), [("replaced", "discard.safetensors has the SHA-256"), ("added", "chow.safetensors was added")]
)
def test_nets_that_were_replaced_after_the_promotion_are_not_loaded(
    runs: Path, tmp_path: Path, damage: str, told: str
) -> None:
    promote(runs, tmp_path, "a", None)
    (kept,) = (runs / "artifacts").rglob("discard.safetensors")
    kept.with_name("discard.safetensors" if damage == "replaced" else "chow.safetensors").write_text("mine")
    with pytest.raises(ValueError, match=rf"models:/suphx/1 are not those that were registered: {told}"):
        fetch_model(TrackingStore(runs), "models:/suphx@champion", tmp_path / "target")
    assert list((tmp_path / "target").glob("*.safetensors")) == []


def nominate(runs: Path, tmp_path: Path, text: str, night: str) -> str:
    registry, tracker = registry_of(runs)
    return registry.nominate(nets(tmp_path, text), tracker, Promotion(digest=text, replaces="1", night=night))


def aliases(runs: Path) -> dict[str, str]:
    return {name: str(each) for name, each in TrackingStore(runs).client.get_registered_model("suphx").aliases.items()}


def test_a_candidate_has_an_alias_whether_it_wins_or_loses(runs: Path, tmp_path: Path) -> None:
    assert promote(runs, tmp_path, "a", None) == "1"
    assert nominate(runs, tmp_path, "a", NIGHT) == "1", "the version that was promoted"
    assert aliases(runs) == {"candidate": "1", "champion": "1"}
    assert nominate(runs, tmp_path, "b", "2") == "2"
    assert nominate(runs, tmp_path, "b", "2") == "2", "the same call again changes nothing"
    assert aliases(runs) == {"candidate": "2", "champion": "1"}
    assert promote(runs, tmp_path, "c", "1", night="2") == "3", "a candidate that lost claims nothing"


def test_a_claim_that_was_overtaken_is_not_promoted(runs: Path, tmp_path: Path) -> None:
    assert promote(runs, tmp_path, "a", None) == "1"
    registry, tracker = registry_of(runs)
    won = Promotion(digest="b", replaces="1", night="2", description="beat the champion")
    registry._register(nets(tmp_path, "b"), tracker, won, claimed(won) | {NIGHT_TAG: won.night})  # and killed
    assert promote(runs, tmp_path, "c", "1", night="other") == "3"
    assert registry.promote(nets(tmp_path, "b"), tracker, won) is None, "the alias names another version now"
    assert registry.nominate(nets(tmp_path, "b"), tracker, replace(won, description="overtaken")) == "2"
    version = tracker.store.client.get_model_version("suphx", "2")
    assert (version.tags["outcome"], version.description) == ("not promoted", "overtaken")
