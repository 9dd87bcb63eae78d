"""Files of folders, also of those behind links."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suphx.atomic_file import many_files, write_atomically
from suphx.cache_folder import cache_root, is_writable, mark_used, remove_unused
from suphx.file_tree import files_below, has_files_below
from suphx_cli.arguments import check_records
from tests.disk_faults import files_limited_to, trace_disk


def test_the_parts_stand_in_the_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_atomically(path, [b"one", memoryview(b"two")])
    assert path.read_bytes() == b"onetwo"
    assert [file.name for file in tmp_path.iterdir()] == ["a.bin"]


def test_a_write_that_runs_out_of_room_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_atomically(path, [b"old"])
    with (
        files_limited_to(1000),
        pytest.raises(OSError, match=r"cannot write .*a\.bin: .*; free space in .*; a\.bin was not"),
    ):
        write_atomically(path, [b"new" * 1000])
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.bin"]


def test_many_files_say_how_many_were_written_before_one_that_fails(tmp_path: Path) -> None:
    def write(*sizes: int) -> None:
        with files_limited_to(1000), many_files(tmp_path) as written:
            for size in sizes:
                write_atomically(tmp_path / str(size), [bytes(size)])
                written.append(tmp_path / str(size))

    with pytest.raises(
        OSError, match=r"2000 was not changed; 2 files were written to .* before: run the command again"
    ):
        write(1, 2, 2000)
    with pytest.raises(OSError, match=r"2000 was not changed$"):
        write(2000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]


def test_a_part_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise KeyboardInterrupt

    path = tmp_path / "a.bin"
    write_atomically(path, [b"old"])
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, parts())
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.bin"]


def test_threads_that_write_the_same_file_leave_it_whole(tmp_path: Path) -> None:
    texts = [str(number).encode() * 50_000 for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            list(threads.map(lambda text: write_atomically(tmp_path / "file", [text]), texts))
            assert (tmp_path / "file").read_bytes() in texts
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_missing_folder_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"create the folder .*missing"):
        write_atomically(tmp_path / "missing" / "a.bin", [b"x"])
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"file is not a folder: choose another"):
        write_atomically(tmp_path / "file" / "a.bin", [b"x"])
    with pytest.raises(OSError, match=r"Is a directory; name a file, not a folder"):
        write_atomically(tmp_path, [b"x"])


def test_the_disk_has_the_content_before_the_name_and_then_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    calls = trace_disk(monkeypatch)
    write_atomically(path, [b"new"])
    temporary = calls[0].path
    assert temporary.parent == tmp_path
    assert temporary != path
    assert calls == [("fsync", temporary), ("rename", path), ("fsync", tmp_path)]


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


def linked_archive(folder: Path) -> Path:
    """Return a folder whose only file is in a folder elsewhere, to which it has a link."""
    (folder / "archive").mkdir()
    (folder / "archive" / "game.txt").write_text("")
    (folder / "records").mkdir()
    (folder / "records" / "2021").symlink_to(folder / "archive")
    return folder / "records"


def test_a_folder_of_links_has_the_files_behind_them(tmp_path: Path) -> None:
    records = linked_archive(tmp_path)
    assert files_below(records) == [records / "2021" / "game.txt"]
    assert has_files_below(records)
    check_records(records)


def test_hidden_files_and_links_to_themselves_are_no_files(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").write_text("")
    (tmp_path / "again").symlink_to(tmp_path)
    assert files_below(tmp_path) == []
    assert not has_files_below(tmp_path)
    with pytest.raises(ValueError, match="is an empty folder: put game records there, or check --games"):
        check_records(tmp_path, "--games")
