from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import types
from numpy.typing import NDArray

from suphx.features.planes import set_plane
from suphx.riichi import jit as jit_module
from suphx.riichi.jit import cache_folder, cache_root, jit, source_hash
from suphx.riichi.shanten import shanten


def test_kernels_of_a_package_lie_in_its_own_folder() -> None:
    for kernel, package in ((shanten, "riichi"), (set_plane, "features")):
        path = Path(kernel._cache.cache_path)  # type: ignore[union-attr]  # numba is untyped
        assert path.is_relative_to(cache_folder(package))


def test_the_cache_lies_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    assert cache_folder("riichi").is_relative_to(tmp_path)


def test_a_changed_source_gives_new_folders_to_its_package_and_those_above(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = ("riichi", "features", "models", "selfplay", "training")
    for package in packages:
        (tmp_path / package).mkdir()
        (tmp_path / package / "one.py").write_text("x = 1")
    monkeypatch.setattr(jit_module, "_PACKAGE", tmp_path)
    source_hash.cache_clear()
    before = [source_hash(package) for package in (*packages, "others")]
    (tmp_path / "models" / "one.py").write_text("x = 2")
    source_hash.cache_clear()
    after = [source_hash(package) for package in (*packages, "others")]
    source_hash.cache_clear()
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, True, False, False, False, False]
    assert before[-2] == before[-1]


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
