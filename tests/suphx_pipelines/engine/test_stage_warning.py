from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.engine.stage_warning import WARNINGS_FILE, add_warning, clear_warnings, read_warnings


def test_warnings_are_kept_once_each_in_order(tmp_path: Path) -> None:
    for text in ("too few samples", "loss is high", "too few samples"):
        add_warning(tmp_path, text)
    assert read_warnings(tmp_path) == ["too few samples", "loss is high"]
    clear_warnings(tmp_path)
    assert read_warnings(tmp_path) == []
    clear_warnings(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / WARNINGS_FILE).write_text('{"warnings": 3}')
    with pytest.raises(ValueError, match=r"warnings\.json is damaged"):
        read_warnings(tmp_path)
