from __future__ import annotations

import json
from pathlib import Path

import pytest

from suphx.games.riichi.records.quarantine import (
    CHIPS,
    DAMAGED,
    MAX_TEXT_LENGTH,
    RECORD_REMEDIES,
    Quarantine,
    QuarantinedRecord,
)


def test_everything_is_counted_and_the_first_entries_are_kept() -> None:
    quarantine = Quarantine(limit=2)
    for number in range(5):
        quarantine.add("file", f"line {number}", "tile 3 twice", kind=CHIPS if number == 4 else DAMAGED)
    assert (quarantine.count, quarantine.num_foreign) == (5, 1)
    assert quarantine.by_reason == {DAMAGED: 4, CHIPS: 1}
    assert quarantine.entries[1] == QuarantinedRecord("file", "line 1", "tile 3 twice", DAMAGED)
    assert quarantine.entries[1].remedy == RECORD_REMEDIES[DAMAGED]
    assert len(quarantine.entries) == 2


def test_texts_of_any_length_are_not_kept() -> None:
    quarantine = Quarantine()
    quarantine.add("f" * 10**6, "p" * 10**6, "r" * 10**6)
    entry = quarantine.entries[0]
    assert [len(text) for text in (entry.file, entry.position, entry.reason)] == [MAX_TEXT_LENGTH + 1] * 3


def test_what_no_terminal_can_show_is_escaped() -> None:
    quarantine = Quarantine()
    quarantine.add("a\udcff.mjlog", "", "'\ud800' is no tile")
    quarantine.add("\x1b[2J.mjlog", "line\r\n1", "\x9b8m" + "\x1b" * MAX_TEXT_LENGTH)
    assert (quarantine.entries[1].file, quarantine.entries[1].position) == ("\\x1b[2J.mjlog", "line\\r\\n1")
    assert quarantine.entries[1].reason == ("\\x9b8m" + "\\x1b" * MAX_TEXT_LENGTH)[:MAX_TEXT_LENGTH] + "…"
    assert (quarantine.entries[0].file, quarantine.entries[0].reason) == ("a\\udcff.mjlog", "'\\ud800' is no tile")


def test_it_is_written_as_json_lines_that_say_what_was_not_kept(tmp_path: Path) -> None:
    quarantine = Quarantine(limit=1)
    quarantine.add("日本\udcff.mjlog", "", "damaged")
    quarantine.add("b", "", "damaged")
    path = tmp_path / "quarantine.jsonl"
    quarantine.write(path)
    lines = path.read_text().splitlines()
    assert "日本" in lines[0]
    assert json.loads(lines[0])["remedy"] == RECORD_REMEDIES[DAMAGED]
    assert json.loads(lines[1]) == {"omitted": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["quarantine.jsonl"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    folder = tmp_path / "quarantine.jsonl"
    folder.mkdir()
    with pytest.raises(OSError, match="directory"):
        Quarantine().write(folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="limit is -1"):
        Quarantine(limit=-1)
