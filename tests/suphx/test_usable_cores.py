from __future__ import annotations

import os
from pathlib import Path

import pytest

from suphx.usable_cores import usable_cores


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("max 100000", 8), ("150000 100000", 2), ("50000 100000", 1), ("3200000 100000", 8), ("", 8), ("?", 8)],
)
def test_a_containers_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, cores: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    assert usable_cores(tmp_path / "cpu.max") == cores
    assert usable_cores(tmp_path / "missing") == 8
