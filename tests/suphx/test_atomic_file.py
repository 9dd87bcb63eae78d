from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suphx.atomic_file import write_atomically
from tests.disk_calls import trace_disk
from tests.full_disk import files_limited_to


def test_the_parts_stand_in_the_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_atomically(path, [b"one", memoryview(b"two")])
    assert path.read_bytes() == b"onetwo"
    assert [file.name for file in tmp_path.iterdir()] == ["a.bin"]


def test_a_write_that_runs_out_of_room_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_atomically(path, [b"old"])
    with files_limited_to(1000), pytest.raises(OSError, match=r"cannot write .*a\.bin: .*; free space in"):
        write_atomically(path, [b"new" * 1000])
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.bin"]


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
    with pytest.raises(OSError, match=r"file is no folder: choose another"):
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
