"""A folder as a store of objects: a new object is written once, also on a shared disk that asks twice; time limits."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from suphx_platform.storage import objects
from suphx_platform.storage.objects import FolderStore


def test_a_new_object_of_another_writer_stays(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.put_new("marks/one", b"first")
    with pytest.raises(FileExistsError):
        store.put_new("marks/one", b"second")
    assert store.get("marks/one") == b"first"
    assert [path.name for path in (tmp_path / "marks").iterdir()] == ["one"]


def test_a_link_that_was_made_although_its_answer_was_lost_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def link_twice(source: Path, target: Path) -> None:
        link(source, target)
        link(source, target)  # as NFS does: FileExistsError

    monkeypatch.setattr(os, "link", link_twice)
    store = FolderStore(tmp_path)
    store.put_new("one", b"ours")
    assert store.get("one") == b"ours"


def test_an_object_of_another_writer_that_vanishes_at_once_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, link = FolderStore(tmp_path), os.link
    store.put_new("one", b"theirs")

    def link_late(source: Path, target: Path) -> None:
        try:
            link(source, target)
        finally:
            store.delete(["one"])

    monkeypatch.setattr(os, "link", link_late)
    with pytest.raises(FileExistsError):
        store.put_new("one", b"ours")
    monkeypatch.undo()
    store.put_new("one", b"ours")
    assert store.get("one") == b"ours"


def test_a_folder_that_another_process_removes_while_it_is_empty_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, file = FolderStore(tmp_path / "store"), tmp_path / "file"
    file.write_bytes(b"some")
    removals = 2

    def make_folder_late(folder: Path) -> None:
        nonlocal removals
        folder.mkdir(parents=True, exist_ok=True)
        if removals:
            removals -= 1
            folder.rmdir()

    monkeypatch.setattr(objects, "_make_folder", make_folder_late)
    store.put_new("marks/one", b"ours")
    removals = 2
    store.upload("parts/one", file)
    assert store.keys("") == ["marks/one", "parts/one"]


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_disk_without_hard_links_is_named(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match=rf"{tmp_path}: its disk has no hard links .*: use a folder of"):
        FolderStore(tmp_path).put_new("one", b"ours")
    assert list(tmp_path.iterdir()) == []
