from __future__ import annotations

from pathlib import Path

from suphx_pipelines.engine.run_note import NOTE_FILE, read_note, write_note


def test_a_note_is_kept_without_the_passwords_of_addresses(tmp_path: Path) -> None:
    assert read_note(tmp_path) == ""
    write_note(tmp_path, "MLflow at https://ml:planted-secret@mlflow.example.org/x, two links: a, b")
    assert "planted-secret" not in (tmp_path / NOTE_FILE).read_text()
    assert read_note(tmp_path) == "MLflow at https://mlflow.example.org/x, two links: a, b"
