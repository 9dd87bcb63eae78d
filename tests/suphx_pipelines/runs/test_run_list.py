from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
from pathlib import Path

import pytest

from suphx_pipelines.runs.run_list import SWEEP_FILE, delete_run, find_run, freed_bytes, list_runs, read_run
from suphx_pipelines.runs.run_lock import LOCK_FILE, check_free, holder, is_locked, locked
from suphx_pipelines.runs.stage_folder import DONE
from tests.disk_faults import Call, trace_disk
from tests.suphx_pipelines.runs.run_folder import running, write_run


def test_runs_are_listed_newest_first_and_other_folders_are_ignored(tmp_path: Path) -> None:
    write_run(tmp_path, "old-1", started="2026-11-21T04:30:34+00:00")
    write_run(tmp_path, "new-1", started="2026-11-22T04:30:34+00:00")
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "mlflow.db").touch()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "recipe.toml").write_text('name = "mine"', encoding="utf-8")  # a user's own folder
    assert [entry.run_id for entry in list_runs(tmp_path)] == ["new-1", "old-1"]


def test_a_run_is_running_only_while_its_lock_is_held(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "laptop-1", state="running")
    assert read_run(folder).state == "interrupted"  # its process was killed
    with running(folder):
        assert read_run(folder).state == "running"
    finished = write_run(tmp_path, "laptop-2", state="finished")
    with running(finished):
        assert read_run(finished).state == "running"  # it has just been started again


def test_a_run_without_a_summary_has_been_interrupted(tmp_path: Path) -> None:
    entry = read_run(write_run(tmp_path, "old-1", has_summary=False, metrics={"records": {"games": 3.0}}))
    assert (entry.recipe, entry.state, entry.verdict) == ("laptop", "interrupted", None)
    assert entry.started.startswith("20")


def test_a_run_is_found_by_its_id_or_its_folder(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs", "laptop-1f2e")
    assert find_run(tmp_path / "runs", "laptop-1f2e").folder == folder
    assert find_run(tmp_path, str(folder)).folder == folder
    with pytest.raises(ValueError, match=r"laptop-1f2: no such run in .*: did you mean 'laptop-1f2e'\?"):
        find_run(tmp_path / "runs", "laptop-1f2")
    with pytest.raises(ValueError, match=r"xyzzy: no such run in .*runs; `suphx runs list` shows all"):
        find_run(tmp_path / "runs", "xyzzy")
    (tmp_path / "project").mkdir()
    with pytest.raises(ValueError, match=r"project is not a run, as no command of suphx wrote it"):
        find_run(tmp_path / "runs", str(tmp_path / "project"))
    (tmp_path / "runs" / "laptop-3").mkdir()
    (tmp_path / "runs" / "laptop-3" / "lock").touch()
    with pytest.raises(ValueError, match=r"laptop-3 is not a run yet, as its command ended too early"):
        find_run(tmp_path / "runs", "laptop-3")
    (tmp_path / "runs" / "laptop-3" / SWEEP_FILE).touch()
    with pytest.raises(ValueError, match="laptop-3 is a sweep, and not one of its runs"):
        find_run(tmp_path / "runs", "laptop-3")


def test_a_lock_is_seen_only_while_another_process_holds_it(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)  # no file at all
    with running(tmp_path) as process:
        assert is_locked(tmp_path)
        assert holder(tmp_path) == process
        with pytest.raises(ValueError, match=f"is being run by process {process}"), locked(tmp_path):
            pass
        with pytest.raises(ValueError, match=f"is being run by process {process}: wait for it"):
            check_free(tmp_path)
        os.kill(process, signal.SIGKILL)
    assert (tmp_path / LOCK_FILE).read_text() == str(process)  # the file stays, the lock does not
    assert not is_locked(tmp_path)
    assert holder(tmp_path) is None
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_no_other_process(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "lockf", fail)
    monkeypatch.setattr(fcntl, "fcntl", fail)
    (tmp_path / LOCK_FILE).touch()
    check_free(tmp_path)
    expected = f"cannot be locked ({os.strerror(number)}): with --runs, name a folder on a file system that has"
    with pytest.raises(ValueError, match=re.escape(expected)), locked(tmp_path):
        pass


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


@pytest.mark.parametrize("missing", ["lock", "run.json"])
def test_a_folder_of_the_user_is_not_touched(missing: str, tmp_path: Path) -> None:
    folder = write_run(tmp_path, "project")
    (folder / missing).unlink()
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError, match=r"project is not a run: it has no lock with run\.json"):
        delete_run(folder)
    assert sorted(folder.rglob("*")) == before
