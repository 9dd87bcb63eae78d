from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config as numba_config
from numba.core import types
from numpy.typing import NDArray

from suphx.cache_folder import cache_root
from suphx.games.mahjong.planes import set_plane
from suphx.games.riichi.shanten import shanten
from suphx.kernel import jit as jit_module
from suphx.kernel.jit import cache_folder, jit
from suphx.kernel.source_closure import closure
from tests.repository import REPOSITORY


def test_kernels_of_a_module_are_in_its_own_folder() -> None:
    for kernel, name in ((shanten, "suphx.games.riichi.shanten"), (set_plane, "suphx.games.mahjong.planes")):
        path = Path(kernel._cache.cache_path)  # type: ignore[union-attr]  # numba is untyped
        assert path == cache_folder(name, Path(inspect.getfile(inspect.unwrap(kernel))))
        assert path.parent == cache_root() / "kernels"


def test_the_folder_of_the_engine_does_not_depend_on_the_readers_of_records() -> None:
    engine = REPOSITORY / "suphx" / "games" / "riichi" / "simulator.py"
    names = {Path(path).stem for path in closure(engine, [REPOSITORY])}
    assert {"kyoku", "rules", "tile", "jit"} <= names
    assert not {name for name in names if "mjlog" in name or "mjai" in name}


def test_options_that_change_the_code_change_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path(__file__)
    before = cache_folder("tests.kernel.test_jit", file)
    assert cache_folder("tests.kernel.test_jit", file) == before
    monkeypatch.setattr(numba_config, "BOUNDSCHECK", 1)
    assert cache_folder("tests.kernel.test_jit", file) != before


def test_the_folder_is_the_same_before_and_after_the_first_kernel() -> None:
    program = """
from pathlib import Path
from suphx.kernel import jit
folders = [jit.cache_folder("suphx.cache_folder", Path("suphx/cache_folder.py"))]
from suphx.games.riichi import tile
folders.append(jit.cache_folder("suphx.cache_folder", Path("suphx/cache_folder.py")))
print(len(set(folders)))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


PROGRAM = """
import sys, kernels
print(kernels.scaled(7), sum(kernels.scaled.stats.cache_hits.values()), kernels.scaled.stats.cache_path)
"""
KERNELS = """
from suphx.kernel.jit import jit
from numbers_of_this_test.scale import SCALE

@jit
def scaled(number):
    return number * SCALE
"""


def scaled_in_a_new_process(folder: Path, program: str = PROGRAM) -> tuple[int, int, str]:
    """Return the kernel's result, how often it was loaded from the cache, and its cache folder."""
    search = os.pathsep.join([str(folder), str(REPOSITORY)])
    environment = {**os.environ, "SUPHX_CACHE": str(folder / "cache"), "PYTHONPATH": search}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    result, hits, path = done.stdout.split()
    return int(result), int(hits), path


def test_a_constant_changed_in_another_module_is_never_served_stale(tmp_path: Path) -> None:
    scale = tmp_path / "numbers_of_this_test" / "scale.py"
    scale.parent.mkdir()
    scale.write_text("SCALE = 2")
    (tmp_path / "kernels.py").write_text(KERNELS)
    result, hits, first = scaled_in_a_new_process(tmp_path)
    assert (result, hits) == (14, 0)
    assert scaled_in_a_new_process(tmp_path) == (14, 1, first)
    (tmp_path / "unrelated.py").write_text("SCALE = 9")
    assert scaled_in_a_new_process(tmp_path) == (14, 1, first)
    scale.write_text("SCALE = 3")
    result, hits, second = scaled_in_a_new_process(tmp_path)
    assert (result, hits) == (21, 0)
    assert second != first
    scale.write_text("SCALE = 2")
    assert scaled_in_a_new_process(tmp_path) == (14, 1, first)


def test_a_source_edited_after_the_process_began_is_compiled_but_not_cached(tmp_path: Path) -> None:
    scale = tmp_path / "numbers_of_this_test" / "scale.py"
    scale.parent.mkdir()
    scale.write_text("SCALE = 2")
    (tmp_path / "kernels.py").write_text(KERNELS)
    edit = f"""
import pathlib, time
import suphx.kernel.jit
import numbers_of_this_test.scale
time.sleep(0.05)
pathlib.Path({str(scale)!r}).write_text("SCALE = 3")
"""
    assert scaled_in_a_new_process(tmp_path, edit + PROGRAM) == (14, 0, "None")
    assert scaled_in_a_new_process(tmp_path)[:2] == (21, 0)


def tripled(number: int) -> int:
    return 3 * number


def test_a_cache_folder_that_cannot_be_written_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "cache"))
    jit_module._usable_folder.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="set SUPHX_CACHE to a folder that can be written"):
            kernel: Any = jit(tripled)
        assert kernel(5) == 15
    finally:
        jit_module._usable_folder.cache_clear()


def test_a_cache_that_can_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(f"{folder} is not writable")

    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    jit_module._usable_folder.cache_clear()
    try:
        own: Any = jit(tripled)
        assert own(5) == 15
        monkeypatch.setattr(jit_module, "mark_used", refuse)
        monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
        jit_module._usable_folder.cache_clear()
        sandboxed: Any = jit(tripled)
        assert sandboxed(5) == 15
        assert sum(sandboxed.stats.cache_hits.values()) == 1
    finally:
        jit_module._usable_folder.cache_clear()


@jit
def double(number: int, is_negative: bool) -> int:
    return -2 * number if is_negative else 2 * number


@jit
def quadruple(numbers: NDArray[np.integer]) -> int:
    best = 0
    for number in numbers:
        best = max(best, double(double(number, False), False), double(0, True))
    return best


def test_one_version_of_a_kernel_serves_all_integers_and_constants() -> None:
    for dtype in (np.int8, np.int16, np.int64, np.uint8):
        assert quadruple(np.array([3, 100], dtype)) == 400  # nothing is cut to the caller's eight bits
        number: Any = dtype(100)
        assert double(number, True) == -200
    assert double.signatures == [(types.int64, types.boolean)]  # type: ignore[attr-defined]  # numba is untyped
