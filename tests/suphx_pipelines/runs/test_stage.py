from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.stage import (
    NOTE_FILE,
    WARNINGS_FILE,
    add_warning,
    clear_warnings,
    read_note,
    read_warnings,
    write_note,
)


def test_a_note_is_kept_without_the_passwords_of_addresses(tmp_path: Path) -> None:
    assert read_note(tmp_path) == ""
    write_note(tmp_path, "MLflow at https://ml:planted-secret@mlflow.example.org/x, two links: a, b")
    assert "planted-secret" not in (tmp_path / NOTE_FILE).read_text()
    assert read_note(tmp_path) == "MLflow at https://mlflow.example.org/x, two links: a, b"


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
