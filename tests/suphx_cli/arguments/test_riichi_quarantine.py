from __future__ import annotations

from pathlib import Path

from suphx.games.riichi.records.archive.quarantine import Quarantine
from suphx.games.riichi.records.log.record_error import CHIPS, DAMAGED, RECORD_REMEDIES
from suphx_cli.arguments.riichi_quarantine import MAX_SHOWN, quarantine_json, quarantine_lines, quarantine_sentence


def filled(count: int) -> Quarantine:
    quarantine = Quarantine()
    for number in range(count):
        quarantine.add(f"file{number}", "line 3" if number else "", "tile 3 appears a second time")
    quarantine.add("chips.mjlog", "tag 7", "a game with chips", kind=CHIPS)
    return quarantine


def test_nothing_set_aside_has_no_lines() -> None:
    assert quarantine_lines(Quarantine()) == []
    assert quarantine_sentence(Quarantine()) is None


def test_one_sentence_has_the_count_and_the_first_reason() -> None:
    sentence = f"3 records were set aside; the first: file0: tile 3 appears a second time; {RECORD_REMEDIES[DAMAGED]}"
    assert quarantine_sentence(filled(2)) == sentence


def test_reasons_are_counted_with_what_to_do() -> None:
    text = "\n".join(quarantine_lines(filled(2)))
    assert "3 records were set aside:" in text
    assert f"damaged  {2:>7}  {RECORD_REMEDIES[DAMAGED]}" in text
    assert "file0: tile 3 appears" in text
    assert "file1, line 3: tile 3 appears" in text
    assert "chips.mjlog, tag 7: a game with chips" in text


def test_the_first_of_each_reason_are_named_and_a_file_has_all() -> None:
    lines = quarantine_lines(filled(30), Path("aside.jsonl"))
    assert "The first of each reason:" in lines
    assert sum(line.startswith("  file") for line in lines) == MAX_SHOWN // 2
    assert "  chips.mjlog, tag 7: a game with chips" in lines
    assert lines[-1] == "All are listed in aside.jsonl"


def test_the_json_has_counts_and_the_first_ten() -> None:
    values = quarantine_json(filled(30))
    assert values["quarantined"] == 31
    assert values["quarantined_by_reason"] == {DAMAGED: 30, CHIPS: 1}
    entries = values["quarantine"]
    assert isinstance(entries, list)
    assert len(entries) == MAX_SHOWN
    assert entries[1] == {
        "file": "file1",
        "position": "line 3",
        "reason": "tile 3 appears a second time",
        "remedy": RECORD_REMEDIES[DAMAGED],
    }
