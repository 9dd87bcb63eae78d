from __future__ import annotations

import os
from pathlib import Path

import pytest

from suphx_pipelines.engine.stage_folder import DONE
from suphx_pipelines.runs.run_deletion import delete_run, freed_bytes
from tests.disk_calls import Call, trace_disk
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


def test_a_running_run_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, "a-1")
    with running(folder) as process, pytest.raises(ValueError, match=f"is being run by process {process}"):
        delete_run(folder)
    assert (folder / "evaluation" / "done.json").is_file()


def test_the_marks_of_finished_stages_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill in between leaves no stage that another run would take for finished."""
    run = tmp_path / "run-1"
    marks = [run / stage / DONE for stage in ("records", "supervised")]
    for mark in marks:
        mark.parent.mkdir(parents=True)
        mark.write_text("{}")
        (mark.parent / "result").write_text("x")
    calls = trace_disk(monkeypatch)
    delete_run(run)
    assert sorted(calls[:2]) == [("unlink", mark) for mark in marks]
    assert calls.index(Call("rmtree", run)) > 1
