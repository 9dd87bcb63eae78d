from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from suphx_platform.storage.linked_copy import copy_linked


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "inner").mkdir(parents=True)
    for name in ("state.pt", "inner/net.pt", ".writer"):
        (folder / name).write_text(name)
    return folder


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_copy_has_links_and_not_what_is_left_out(source: Path, tmp_path: Path) -> None:
    copy_linked(source, tmp_path / "copy", ".*")
    assert files(tmp_path / "copy") == {"state.pt": "state.pt", "inner/net.pt": "inner/net.pt"}
    assert (tmp_path / "copy/inner/net.pt").samefile(source / "inner/net.pt")


def test_a_disk_without_links_gets_files_of_its_own(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    copy_linked(source, tmp_path / "copy")
    assert files(tmp_path / "copy") == files(source)
    (tmp_path / "copy/state.pt").write_text("changed")
    assert (source / "state.pt").read_text() == "state.pt"
