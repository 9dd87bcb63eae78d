from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.run_list import delete_run
from suphx_pipelines.runs.stage_folder import (
    DONE,
    STARTED,
    Done,
    Started,
    copy_result,
    find_finished,
    prepare,
    read_done,
    write_done,
)
from tests.disk_faults import trace_disk


def done(digest: str) -> Done:
    return Done(digest=digest, inputs={"seed": 1}, code="code", metrics={"loss": 0.5}, seconds=1.5, run_id="a-1")


def test_the_work_of_the_same_inputs_is_kept_and_all_else_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "stage"
    folder.mkdir()
    for digest, is_kept in (("one", False), ("one", True), ("two", False)):
        (folder / "half.bin").write_text("half")  # at first without a mark: from nobody knows where
        assert prepare(folder, Started(digest=digest)) == (folder / "half.bin").exists() == is_kept
    assert [path.name for path in folder.iterdir()] == [STARTED]
    assert read_done(folder, "two") is None
    write_done(folder, done("two"))
    assert read_done(folder, "two") == done("two")
    assert read_done(folder, "one") is None
    earlier = {key: value for key, value in asdict(done("two")).items() if key != "warnings"}
    write_json(folder / DONE, earlier)
    assert read_done(folder, "two") == done("two"), "an earlier version wrote no warnings there"


def test_a_finished_stage_is_found_in_any_run_and_copied_without_its_marks(tmp_path: Path) -> None:
    source = tmp_path / "run-1" / "supervised" / "kong"
    prepare(source, Started(digest="one"))
    (source / "inner").mkdir()
    (source / "inner" / "net.bin").write_text("weights")
    assert find_finished(tmp_path, "supervised/kong", "one", "code") is None
    write_done(source, done("one"))
    assert find_finished(tmp_path, "supervised/kong", "one", "code") == (source, done("one"))
    records = tmp_path / "run-1" / "records"
    assert find_finished(tmp_path, "supervised/kong", "one", "code", {"records": done("games")}) is None
    prepare(records, Started(digest="games"))
    write_done(records, done("games"))
    assert find_finished(tmp_path, "supervised/kong", "one", "code", {"records": done("games")}) == (
        source,
        done("one"),
    )
    assert find_finished(tmp_path, "supervised/kong", "one", "code", {"records": done("others")}) is None
    target = tmp_path / "run-2" / "supervised" / "kong"
    prepare(target, Started(digest="half"))
    (target / "half.bin").write_text("of another attempt")
    assert copy_result(source, target, done("one"))
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*")) == ["inner", "inner/net.bin"]


@pytest.mark.parametrize("copied", [0, 1, 2])
def test_a_result_that_is_deleted_while_it_is_copied_is_not_taken(
    copied: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "run-1" / "supervised", tmp_path / "run-2" / "supervised"
    prepare(source, Started(digest="one"))
    for name in ("first", "second", "third"):
        (source / name).write_text("weights")
    for mark in ("lock", "run.json"):
        (source.parent / mark).touch()
    write_done(source, done("one"))
    num_linked = 0

    def link(from_path: str, to_path: str) -> None:
        nonlocal num_linked
        if num_linked == copied:
            delete_run(source.parent)
        num_linked += 1
        os_link(from_path, to_path)

    os_link = os.link
    monkeypatch.setattr(os, "link", link)
    prepare(target, Started(digest="half"))
    (target / "half.bin").write_text("of hours of training")
    assert not copy_result(source, target, done("one"))
    assert sorted(path.name for path in target.iterdir()) == ["half.bin", STARTED]
    assert list(target.parent.iterdir()) == [target]


def test_a_result_that_cannot_be_copied_leaves_the_attempt_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*paths: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source, target = tmp_path / "run-1" / "supervised", tmp_path / "run-2" / "supervised"
    for folder in (source, target):
        prepare(folder, Started(digest="one"))
        (folder / "weights").write_text("weights")
    write_done(source, done("one"))
    monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(OSError, match="No space left"):
        copy_result(source, target, done("one"))
    assert (target / "weights").read_text() == "weights"
    assert list(target.parent.iterdir()) == [target]


def test_a_result_that_was_made_anew_is_not_taken_for_the_one_that_was_found(tmp_path: Path) -> None:
    source, target = tmp_path / "run-1" / "supervised", tmp_path / "run-2" / "supervised"
    assert not copy_result(source, target, done("one")), "it was deleted before it was copied"
    prepare(source, Started(digest="two"))
    write_done(source, done("two"))
    assert not copy_result(source, target, done("one"))
    assert not target.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("inputs", []), ("metrics", None), ("metrics", {"loss": "low"}), ("seconds", "1"), ("run_id", 1), ("code", [])],
)
def test_a_mark_with_damaged_values_is_named(tmp_path: Path, name: str, value: object) -> None:
    write_json(tmp_path / DONE, asdict(done("one")) | {name: value})
    with pytest.raises(ValueError, match=rf"{DONE} is damaged \({name}.*\): remove it and run again"):
        read_done(tmp_path, "one")


def test_the_marks_go_before_the_files_that_they_vouch_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill in between leaves nothing that looks finished."""
    old, source = tmp_path / "old", tmp_path / "source"
    for folder in (old, source):
        folder.mkdir()
        for name in (DONE, STARTED, "result"):
            (folder / name).write_text("{}")
    write_done(source, done("one"))
    calls = trace_disk(monkeypatch)
    assert copy_result(source, old, done("one"))
    assert [call for call in calls if call.name in ("unlink", "rmtree") and call.path.parent in (old, tmp_path)] == [
        ("unlink", old / DONE),
        ("unlink", old / STARTED),
        ("rmtree", old),
    ]


def test_json_refuses_what_is_not_finite_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"loss": 1.0})
    with pytest.raises(ValueError, match=r"a\.json would hold a number that is not finite"):
        write_json(path, {"loss": float("inf")})
    assert json.loads(path.read_text()) == {"loss": 1.0}
    path.write_text("{")
    with pytest.raises(ValueError, match=r"a\.json is not JSON"):
        read_json(path)
