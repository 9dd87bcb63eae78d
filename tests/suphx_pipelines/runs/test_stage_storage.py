from __future__ import annotations

import shutil
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from suphx.atomic_file import write_atomically
from suphx_pipelines.json_file import write_json
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.runs.stage_folder import STARTED
from suphx_pipelines.runs.stage_storage import StageStorage
from suphx_platform.console.console import Console
from suphx_platform.storage.objects import FolderStore
from suphx_platform.storage.storage import BEST, FINISHED, UNDER_WAY, Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.mlflow_store import MlflowStore
from tests.suphx_pipelines.runs import small_run
from tests.suphx_pipelines.runs.run_trace import work
from tests.suphx_pipelines.runs.small_run import SmallRecipe, small_runner


class MachineLostError(Exception):
    """Stands for whatever takes a machine away."""


def fresh_machine(runs: Path) -> None:
    """Remove what the run has left on this machine; MLflow's store stays."""
    for folder in runs.glob("small-*"):
        shutil.rmtree(folder)


def test_another_machine_takes_finished_stages_from_the_storage(runs: Path, tmp_path: Path) -> None:
    first = small_runner(runs, storage=tmp_path / "storage").run()
    fresh_machine(runs)
    second = small_runner(runs, storage=tmp_path / "storage").run()
    assert {stage.status for stage in second.stages.values()} == {"kept"}
    assert second.stages["total"].metrics == first.stages["total"].metrics
    assert not (second.folder / "work.log").exists(), "a stage was run again"


def test_a_run_whose_storage_takes_nothing_is_told_before_it_begins(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("the server says AccessDenied")

    monkeypatch.setattr(FolderStore, "put_new", refuse)
    with pytest.raises(PermissionError, match="AccessDenied"):
        small_runner(runs, storage=tmp_path / "storage").run()
    assert list(runs.glob("small-*")) == []


def lose_machine(runs: Path, monkeypatch: pytest.MonkeyPatch, storage: Path | None = None) -> None:
    """Run half of the stage ``powers`` on a machine that is lost then."""

    def lose(context: StageContext[SmallRecipe], text: str) -> None:
        if text == "power 2":
            raise MachineLostError
        note(context, text)

    note = small_run.note
    with monkeypatch.context() as patch:
        patch.setattr(small_run, "note", lose)
        with pytest.raises(MachineLostError):
            small_runner(runs, storage=storage).run()
    fresh_machine(runs)


def test_another_machine_goes_on_in_the_middle_of_a_stage(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_machine(runs, monkeypatch, tmp_path / "storage")
    second = small_runner(runs, storage=tmp_path / "storage").run()
    assert work(second.folder) == {"powers": 1, "power 2": 1, "power 3": 1, "total": 1}


def test_the_curves_of_a_lost_machine_go_on_although_the_work_begins_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_machine(runs, monkeypatch)
    store = MlflowStore(runs)
    (run_id,) = store.names()
    begun = store.start_time(run_id)
    time.sleep(1.1)  # the summary counts whole seconds
    result = small_runner(runs).run()
    (powers,) = store.client.search_runs([store.experiment_id()], "attributes.run_name = 'powers'")
    history = store.client.get_metric_history(powers.info.run_id, "power")
    assert [point.step for point in history] == [0, 1, 2, 3], "not those of before twice"
    summary = RunSummary.read(result.folder)
    assert summary is not None
    assert begun is not None
    assert datetime.fromisoformat(summary.started).timestamp() == int(begun), "not when this machine began"


def storage_at(place: Path, **options: Any) -> Storage:
    return Storage(StorageConfig(address=str(place), **options))


def keep(storage: Storage | None, folder: Path, number: int, name: str = "a") -> StageStorage:
    """Have a folder stored as a stage of the run, and return what the runner has."""
    stages = StageStorage(storage, "run-1", Console())
    with stages.uploads():
        stages.keep(name, folder, number)
    return stages


def stage_folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "state").write_text(text)
    write_json(path / STARTED, {"digest": text})
    return path


def test_what_this_machine_stored_last_is_not_fetched_again(tmp_path: Path) -> None:
    folder = stage_folder(tmp_path / "stage", "stored")
    storage = keep(storage_at(tmp_path / "s"), folder, 5)
    write_atomically(folder / "state", [b"further than what was stored"])
    assert storage.further_work("a", folder) == []
    assert (folder / "state").read_text() == "further than what was stored"


@pytest.mark.parametrize("change", ["another storage", "emptied"])
def test_a_result_is_stored_again_if_the_storage_does_not_have_it(change: str, tmp_path: Path) -> None:
    folder = stage_folder(tmp_path / "stage", "one")
    place = tmp_path / "first"
    for _ in range(2):
        keep(storage_at(place), folder, FINISHED)
        assert len(storage_at(place).versions("run-1/a")) == 1
    if change == "emptied":
        shutil.rmtree(place)
    else:
        place = tmp_path / "second"
    keep(storage_at(place), folder, FINISHED)
    assert [version.number for version in storage_at(place).versions("run-1/a")] == [FINISHED]


def test_stored_results_without_their_input_are_kept(runs: Path, tmp_path: Path) -> None:
    small_runner(runs, storage=tmp_path / "storage").run()
    fresh_machine(runs)
    (powers,) = (tmp_path / "storage").glob("small-*/powers")
    shutil.rmtree(powers)
    result = small_runner(runs, storage=tmp_path / "storage").run()
    found = {name: stage.status for name, stage in result.stages.items()}
    assert found == {"numbers": "kept", "powers": "finished", "total": "kept"}


def test_a_stage_that_another_machine_has_begun_again_is_not_stored_from_here(tmp_path: Path) -> None:
    folder, storage = stage_folder(tmp_path / "stage", "one"), storage_at(tmp_path / "storage")
    keep(storage, folder, FINISHED)
    storage.delete("run-1/a")
    Storage(storage.config).save("run-1/a", stage_folder(tmp_path / "other", "two"), number=5)
    keep(storage, folder, FINISHED)
    assert [version.number for version in storage.versions("run-1/a")] == [5]


def test_what_another_machine_stored_later_replaces_what_is_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = stage_folder(tmp_path / "here", "early")
    keep(storage_at(tmp_path / "s"), here, 5)
    storage = keep(storage_at(tmp_path / "s"), stage_folder(tmp_path / "there", "late"), 9)
    (work,) = storage.further_work("a", here)
    assert work.made.digest == "late"
    storage.fetch("a", here, work.versions, work.made.digest)
    assert (here / "state").read_text() == "late"
    aside = tmp_path / ".here.replaced"
    assert (aside / "state").read_text() == "early"
    assert f"the files that were here are kept in {aside} until it ends" in capsys.readouterr().err
    assert storage.further_work("a", here) == []
    with storage.uploads():
        storage.keep("a", here, FINISHED)
    assert not aside.exists()


def test_what_is_further_than_the_storage_is_not_replaced(tmp_path: Path) -> None:
    here = stage_folder(tmp_path / "here", "far")
    keep(None, here, 90)
    storage = keep(storage_at(tmp_path / "s"), stage_folder(tmp_path / "there", "begun"), 10)
    assert storage.further_work("a", here) == []


def test_a_damaged_version_does_not_bring_back_an_older_one_than_what_is_here(tmp_path: Path) -> None:
    kept = storage_at(tmp_path / "s")
    for number in (5, 12):
        storage = keep(kept, stage_folder(tmp_path / str(number), f"step {number}"), number)
    newest = kept.versions("run-1/a")[-1]
    (tmp_path / "s" / newest.key("state")).write_text("step xx")
    here = stage_folder(tmp_path / "here", "step 9")
    keep(None, here, 9)
    (work,) = storage.further_work("a", here)
    storage.fetch("a", here, work.versions, work.made.digest)
    assert (here / "state").read_text() == "step 9"


@pytest.mark.parametrize("is_same_work", [True, False])
def test_versions_that_were_removed_since_they_were_listed_give_way_to_newer_ones(
    is_same_work: bool, tmp_path: Path
) -> None:
    """As when the head that a new one replaces is still alive, and stores and removes versions."""
    kept = storage_at(tmp_path / "s", keep_last=1)
    storage = keep(kept, stage_folder(tmp_path / "one", "mine"), 5)
    (work,) = storage.further_work("a", tmp_path / "here")
    keep(kept, stage_folder(tmp_path / "two", "mine" if is_same_work else "another's"), 6)
    if is_same_work:
        storage.fetch("a", tmp_path / "here", work.versions, work.made.digest)
        assert storage.further_work("a", tmp_path / "here") == []
        assert (tmp_path / "here" / "state").read_text() == "mine"
    else:
        with pytest.raises(OSError, match="have been replaced by those of another process"):
            storage.fetch("a", tmp_path / "here", work.versions, work.made.digest)
        assert not (tmp_path / "here").exists()


def test_a_run_whose_results_cannot_be_stored_ends_with_that_error(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "storage").touch()
    with pytest.raises(OSError, match="storage"):
        small_runner(runs, storage=tmp_path / "storage").run()
    (tmp_path / "storage").unlink()
    result = small_runner(runs, storage=tmp_path / "storage").run()
    assert set(result.stages) == {"numbers", "powers", "total"}
    stored = Storage(StorageConfig(address=str(tmp_path / "storage")))
    assert all(stored.versions(f"{result.run_id}/{name}") for name in result.stages)


@pytest.mark.parametrize("ends", [True, False])
def test_files_of_work_under_way_go_with_its_end_and_when_it_is_done_again(ends: bool, tmp_path: Path) -> None:
    left, stays = (tmp_path / "s" / "run-1" / stage / UNDER_WAY / "checkpoint_000001" / "state" for stage in "ab")
    for path in (left, stays):
        path.parent.mkdir(parents=True)
        path.write_text("step 100")
    folder = stage_folder(tmp_path / "a", "step 90")
    storage = keep(storage_at(tmp_path / "s"), folder, 90)
    assert left.exists()
    if ends:
        keep(storage_at(tmp_path / "s"), folder, FINISHED)
    else:
        storage.remove("a")
    assert not left.exists()
    assert stays.exists()


def test_a_stage_that_is_done_again_leaves_no_version_of_before(tmp_path: Path) -> None:
    """Neither of its state nor of its best nets, which a later run could take for its own."""
    kept = storage_at(tmp_path / "s", keep_best=1)
    storage = StageStorage(kept, "run-1", Console())
    with storage.uploads():
        for stage in ("a", "b"):
            folder = stage_folder(tmp_path / stage, "step 90")
            storage.keep(stage, folder, 90)
            storage.keep_best(stage, 90, folder, 0.5)
    names = [storage.name("a"), f"{storage.name('a')}/{BEST}", storage.name("b"), f"{storage.name('b')}/{BEST}"]
    assert [len(kept.versions(name)) for name in names] == [1, 1, 1, 1]
    storage.remove("a")
    assert [len(kept.versions(name)) for name in names] == [0, 0, 1, 1]
