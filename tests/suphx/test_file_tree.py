"""Files of folders, also of those behind links."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx.file_tree import files_below, has_files_below
from suphx_cli.arguments.parsing import check_records


def linked_archive(folder: Path) -> Path:
    """Return a folder whose only file is in a folder elsewhere, to which it has a link."""
    (folder / "archive").mkdir()
    (folder / "archive" / "game.txt").write_text("")
    (folder / "records").mkdir()
    (folder / "records" / "2021").symlink_to(folder / "archive")
    return folder / "records"


def test_a_folder_of_links_has_the_files_behind_them(tmp_path: Path) -> None:
    records = linked_archive(tmp_path)
    assert files_below(records) == [records / "2021" / "game.txt"]
    assert has_files_below(records)
    check_records(records)


def test_hidden_files_and_links_to_themselves_are_no_files(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").write_text("")
    (tmp_path / "again").symlink_to(tmp_path)
    assert files_below(tmp_path) == []
    assert not has_files_below(tmp_path)
    with pytest.raises(ValueError, match="is an empty folder: put game records there, or check --games"):
        check_records(tmp_path, "--games")
