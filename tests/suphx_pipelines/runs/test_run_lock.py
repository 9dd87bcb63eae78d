from __future__ import annotations

import errno
import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from suphx_pipelines.runs.run_lock import LOCK_FILE, check_free, holder, is_locked, locked
from tests.suphx_pipelines.runs.run_folder import HOLD


def test_a_lock_is_seen_only_while_another_process_holds_it(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)  # no file at all
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert is_locked(tmp_path)
        assert holder(tmp_path) == process.pid
        with pytest.raises(ValueError, match=f"is being run by process {process.pid}"), locked(tmp_path):
            pass
        with pytest.raises(ValueError, match=f"is being run by process {process.pid}: wait for it"):
            check_free(tmp_path)
        process.kill()
    assert (tmp_path / LOCK_FILE).read_text() == str(process.pid)  # the file stays, the lock does not
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


def test_a_folder_that_is_moved_while_it_is_held_is_noticed(tmp_path: Path) -> None:
    folder, other = tmp_path / "run", tmp_path / "other"
    folder.mkdir()
    with locked(folder) as check_place:
        check_place()
        folder.rename(other)
        with pytest.raises(ValueError, match="run has been moved or deleted while the run worked in it: put it back"):
            check_place()
        folder.mkdir()
        (folder / LOCK_FILE).touch()
        with pytest.raises(ValueError, match="has been moved or deleted"):
            check_place()
        (folder / LOCK_FILE).unlink()
        folder.rmdir()
        other.rename(folder)
        check_place()
