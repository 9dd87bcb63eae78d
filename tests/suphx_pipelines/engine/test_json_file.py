from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.engine.json_file import read_json, write_json


@pytest.mark.parametrize("name", ["games", "日本", "games\udcff"])
def test_names_of_files_are_read_as_they_were_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"file": name})
    assert read_json(path) == {"file": name}
    path.read_bytes().decode()


def test_a_number_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.json would hold a number that is not finite"):
        write_json(tmp_path / "a.json", {"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []
