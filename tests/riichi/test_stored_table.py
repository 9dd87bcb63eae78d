from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suphx.riichi.record import I64
from suphx.riichi.stored_table import load_or_build


def test_a_table_is_built_once_and_again_when_its_source_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source.py"
    source.write_text("one")
    builds = 0

    def build() -> I64:
        nonlocal builds
        builds += 1
        return np.full(3, builds)

    assert load_or_build("squares", source, build).tolist() == [1, 1, 1]
    assert load_or_build("squares", source, build).tolist() == [1, 1, 1]
    source.write_text("two")
    table = load_or_build("squares", source, build)
    assert table.tolist() == [2, 2, 2]
    assert not table.flags.writeable
