"""A folder as a store of objects: a new object is written once, also on a shared disk that asks twice."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from suphx_platform.storage.objects.folder_store import FolderStore


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


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_disk_without_hard_links_is_named(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match=rf"{tmp_path}: its disk has no hard links .*: use a folder of"):
        FolderStore(tmp_path).put_new("one", b"ours")
    assert list(tmp_path.iterdir()) == []
