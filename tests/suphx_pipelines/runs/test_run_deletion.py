from __future__ import annotations

import os
from pathlib import Path

import pytest

from suphx_pipelines.runs.run_list import delete_run, freed_bytes
from suphx_pipelines.runs.stage_folder import DONE
from tests.disk_faults import Call, trace_disk
from tests.suphx_pipelines.runs.run_folder import running, write_run


def test_files_that_another_run_shares_stay_whole(tmp_path: Path) -> None:
    first, second = write_run(tmp_path, "a-1"), write_run(tmp_path, "b-1")
    before = freed_bytes(first)
    net = first / "evaluation" / "net.bin"
    net.write_bytes(b"x" * 1000)
    assert freed_bytes(first) == before + 1000
    os.link(net, second / "evaluation" / "net.bin")
    assert freed_bytes(first) == before
    delete_run(first)
    assert not first.exists()
    assert (second / "evaluation" / "net.bin").read_bytes() == b"x" * 1000


def test_a_file_that_vanishes_while_a_run_is_measured_has_no_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run(tmp_path, "a-1")
    before, net = freed_bytes(folder), folder / "net.bin"
    net.write_bytes(b"x" * 1000)
    measure = Path.lstat

    def remove_first(path: Path) -> os.stat_result:
        net.unlink(missing_ok=True)
        return measure(path)

    monkeypatch.setattr(Path, "lstat", remove_first)
    assert freed_bytes(folder) == before


def test_a_running_run_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "a-1")
    with running(folder) as process, pytest.raises(ValueError, match=f"is being run by process {process}"):
        delete_run(folder)
    assert (folder / "evaluation" / "done.json").is_file()


def test_the_marks_of_finished_stages_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill in between leaves no stage that another run would take for finished."""
    run = write_run(tmp_path, "run-1", metrics={"records": {}, "supervised": {}})
    marks = [run / stage / DONE for stage in ("records", "supervised")]
    for mark in marks:
        (mark.parent / "result").write_text("x")
    calls = trace_disk(monkeypatch)
    delete_run(run)
    assert sorted(calls[:2]) == [("unlink", mark) for mark in marks]
    assert calls.index(Call("rmtree", run)) > 1


def test_a_linked_run_is_deleted_with_its_link(tmp_path: Path) -> None:
    run, link = write_run(tmp_path / "large-disk", "run-1"), tmp_path / "runs" / "run-1"
    link.parent.mkdir()
    link.symlink_to(run)
    assert freed_bytes(link) == freed_bytes(run) > 0
    delete_run(link)
    assert not run.exists()
    assert list(link.parent.iterdir()) == []


def test_the_working_directory_is_deleted_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path, "run-1")
    monkeypatch.chdir(run)
    delete_run(Path())
    assert not run.exists()


@pytest.mark.parametrize("missing", ["lock", "run.json"])
def test_a_folder_of_the_user_is_not_touched(missing: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path, "project")
    (folder / missing).unlink()
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError, match=r"project is not a run: it has no lock with run\.json"):
        delete_run(folder)
    assert sorted(folder.rglob("*")) == before
