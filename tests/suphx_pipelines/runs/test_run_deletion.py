from __future__ import annotations

import os
from pathlib import Path

import pytest

from suphx_pipelines.runs.run_deletion import delete_run, freed_bytes
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
