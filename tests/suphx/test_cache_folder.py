from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from suphx.cache_folder import cache_root, is_writable, mark_used, remove_unused

DAY = 24 * 3600.0


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SUPHX_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "suphx"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_root() == tmp_path / "xdg" / "suphx"
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "own"))
    assert cache_root() == tmp_path / "own"


def test_a_missing_folder_is_writable_where_its_parent_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_writable(tmp_path / "a" / "b")
    asked: list[str] = []
    monkeypatch.setattr("os.access", lambda path, mode: asked.append(str(path)))
    assert not is_writable(tmp_path / "a" / "b")
    assert asked == [str(tmp_path)]


def aged(folder: Path, days: float) -> Path:
    folder.mkdir(parents=True)
    (folder / "kernel.nbi").write_bytes(b"code")
    then = time.time() - days * DAY
    os.utime(folder, (then, then))
    return folder


def test_folders_that_were_not_used_for_a_month_are_removed(tmp_path: Path) -> None:
    old, young = aged(tmp_path / "game-1", 31), aged(tmp_path / "game-2", 29)
    assert remove_unused(tmp_path) == 1
    assert not old.exists()
    assert young.exists()
    assert list(tmp_path.iterdir()) == [young]


def test_what_a_killed_process_left_half_removed_is_removed(tmp_path: Path) -> None:
    aged(tmp_path / "game-1.77.removed", 31)
    assert remove_unused(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_kept(tmp_path: Path) -> None:
    folder = aged(tmp_path / "game-1", 31)
    mark_used(folder)
    assert remove_unused(tmp_path) == 0
    assert folder.exists()


def test_nothing_is_removed_where_there_is_no_folder(tmp_path: Path) -> None:
    assert remove_unused(tmp_path / "missing") == 0
