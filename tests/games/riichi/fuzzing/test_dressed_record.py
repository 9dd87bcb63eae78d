from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.mjai_writer import write_mjai
from suphx.games.riichi.records.mjlog import parse_mjlog
from suphx.games.riichi.records.mjlog_writer import write_mjlog
from suphx.games.riichi.records.quarantine import (
    CHIPS,
    DAMAGED,
    NOT_A_RECORD,
    THREE_PLAYERS,
    Quarantine,
    QuarantinedRecord,
)
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.fuzzing.dressed_record import DRESSES, ID, PACKINGS

SEATS_MOVE = ("seat leaves", "seat comes", "seats leave")


def _rich_text() -> str:
    """Return a game with a riichi, a win, and a kan dora before a discard."""
    for seed in range(200):
        text = write_mjlog(random_game(seed))
        if all(part in text for part in ("<AGARI", 'step="2"', "doraHaiUra", 'who="1"')):
            try:
                DRESSES["kan dora after the call"](text)
            except AssertionError:
                continue
            return text.replace('"/><TAIKYOKU', '" dan="16,17,18,19" rate="2000,2000.5,2001,2002"/><TAIKYOKU')
    raise AssertionError("no game of 200 has all that is needed")


TEXT = _rich_text()


def moves(log: GameLog) -> list[list[int]]:
    return [kyoku.moves.tolist() for kyoku in log.kyokus]


def read(path: Path) -> GameLog:
    quarantine = Quarantine()
    logs = list(iter_records([path], quarantine=quarantine))
    assert quarantine.entries == []
    assert len(logs) == 1
    return logs[0]


@pytest.mark.parametrize("name", DRESSES)
def test_a_dressed_record_is_the_same_game(name: str) -> None:
    text = DRESSES[name](TEXT)
    assert (text == TEXT) == (name == "as it was written")
    log, plain = parse_mjlog(text, ID), parse_mjlog(TEXT, ID)
    assert log.final_scores == plain.final_scores
    assert [kyoku.result.tobytes() for kyoku in log.kyokus] == [kyoku.result.tobytes() for kyoku in plain.kyokus]
    if not any(part in name for part in SEATS_MOVE):
        assert moves(log) == moves(plain)


@pytest.mark.parametrize("name", PACKINGS)
def test_a_packed_record_is_found_and_read(tmp_path: Path, name: str) -> None:
    file, data = PACKINGS[name](TEXT)
    (tmp_path / file).write_bytes(data)
    for path in (tmp_path, tmp_path / file):  # in a folder, and by its own name
        log = read(path)
        assert moves(log) == moves(parse_mjlog(TEXT, ID))
        assert log.id == (ID if ID in file or file.startswith(("games", "logs")) else file.partition(".")[0])


def test_dresses_can_be_worn_over_each_other(tmp_path: Path) -> None:
    text = TEXT
    for name in (
        "no TAIKYOKU",
        "a line per attribute",
        "indented tags",
        "apostrophes",
        "a byte order mark and a comment",
    ):
        text = DRESSES[name](text)
    (tmp_path / f"{ID}.html.gz").write_bytes(gzip.compress(text.encode()))
    assert moves(read(tmp_path)) == moves(parse_mjlog(TEXT, ID))


MJAI: dict[str, Callable[[str], bytes]] = {
    "game.mjson": lambda text: text.encode(),
    "game.mjson.gz": lambda text: gzip.compress(text.encode()),
    "game.json": lambda text: text.encode(),
    "game.jsonl": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    "game.mjai": lambda text: text.replace("\n", "\n\n").replace('":', '" : ').encode(),
}


@pytest.mark.parametrize("name", MJAI)
def test_mjai_is_read_in_every_form(tmp_path: Path, name: str) -> None:
    game = random_game(3)
    (tmp_path / name).write_bytes(MJAI[name](write_mjai(game)))
    assert moves(read(tmp_path)) == moves(game)


@pytest.mark.parametrize(
    ("file", "data", "kind", "reason"),
    [
        ("editor.json", b'{"log":[[[0,0,0]]],"sc":[25000,0,25000,0,25000,0,25000,0]}', DAMAGED, "17 lists"),
        ("array.json", b'[{"type":"hello"}]', NOT_A_RECORD, "has no game"),
        ("notes.json", b'{"hello": 1}', NOT_A_RECORD, "start_game"),
        ("page.xml", b"<!DOCTYPE html><html><body>Not found</body></html>", NOT_A_RECORD, "web page"),
        ("bomb.xml", b'<!DOCTYPE x [<!ENTITY a "aaaa">]><mjloggm>&a;</mjloggm>', DAMAGED, "document type"),
        ("words.xml", TEXT.replace("<INIT", "hello<INIT", 1).encode(), DAMAGED, "'hello' is not a tag"),
        ("behind.xml", TEXT.encode() + b"the end", DAMAGED, "is not a tag"),
        ("sanma.xml", TEXT.replace('GO type="9"', 'GO type="25"').encode(), THREE_PLAYERS, "three players"),
        ("chips.xml", TEXT.replace(' sc="', ' sc="0,0,0,0,0,0,0,0,').encode(), CHIPS, "16 numbers"),
        ("japan.xml", "<!-- 天鳳 -->".encode("shift_jis") + TEXT.encode(), DAMAGED, "not UTF-8"),
    ],
)
def test_a_refused_record_has_file_place_reason_and_remedy(
    tmp_path: Path, file: str, data: bytes, kind: str, reason: str
) -> None:
    (tmp_path / file).write_bytes(data)
    (tmp_path / "sound.mjlog").write_text(TEXT)
    quarantine = Quarantine()
    assert len(list(iter_records([tmp_path], quarantine=quarantine))) == 1
    entry = _only(quarantine)
    assert (Path(entry.file).name, entry.kind) == (file, kind)
    assert reason in entry.reason
    assert entry.position or kind in (DAMAGED, NOT_A_RECORD)
    assert entry.remedy


def _only(quarantine: Quarantine) -> QuarantinedRecord:
    assert quarantine.count == 1
    return quarantine.entries[0]
