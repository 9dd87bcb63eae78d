from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from suphx.kernel.record import I64
from suphx.kernel.source_closure import forget, load_or_build


def test_a_table_is_built_once_and_again_when_its_source_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source.py"
    source.write_text("import suphx.games.mahjong.shanten\n")
    builds = 0

    def build() -> I64:
        nonlocal builds
        builds += 1
        return np.full(3, builds)

    assert load_or_build("squares", source, build).tolist() == [1, 1, 1]
    assert load_or_build("squares", source, build).tolist() == [1, 1, 1]
    source.write_text("import suphx.games.riichi.tile\n")
    forget()
    table = load_or_build("squares", source, build)
    assert table.tolist() == [2, 2, 2]
    assert not table.flags.writeable


def test_threads_build_a_table_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source.py"
    source.touch()
    builds: list[int] = []

    def build() -> I64:
        builds.append(1)
        time.sleep(0.1)
        return np.arange(100_000)

    with ThreadPoolExecutor(8) as threads:
        tables = list(threads.map(lambda _: load_or_build("squares", source, build), range(8)))
    assert len(builds) == 1
    assert all(np.array_equal(table, np.arange(100_000)) for table in tables)


def test_without_a_cache_folder_the_table_is_built_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "file" / "cache"))
    source = tmp_path / "source.py"
    source.touch()
    with pytest.warns(RuntimeWarning, match="set SUPHX_CACHE to a folder that can be written"):
        table = load_or_build("squares", source, lambda: np.full(3, 4))
    assert table.tolist() == [4, 4, 4]
    assert not table.flags.writeable
