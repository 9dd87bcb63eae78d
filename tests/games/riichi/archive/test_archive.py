from __future__ import annotations

import lzma
import os
from itertools import islice
from pathlib import Path

import pytest

from suphx.games.riichi.archive import archive
from suphx.games.riichi.archive.archive import find_record, iter_records, map_records, verify_records
from suphx.games.riichi.archive.raw_record import RawRecord, iter_texts
from suphx.games.riichi.records.game_log import NO_SEED
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.games.riichi.records.quarantine import DAMAGED, NO_END, NO_KYOKU, NOT_A_RECORD, THREE_PLAYERS, Quarantine
from suphx.games.riichi.records.shuffle_seed import HEX_SEED_PREFIX, tenhou_walls
from suphx.worker_interrupt import WorkerDiedError
from tests.games.riichi.builders.games import drawn_game, random_game, shuffled_wall


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Good games, a damaged one, one that stops early, and a game of three players."""
    games = [write_mjlog(random_game(seed)) for seed in range(3)]
    three_players = games[2].replace('type="9"', 'type="25"')
    damaged = games[1][:5000].rpartition("<")[0]
    lines = [
        f"g0\t\t{games[0]}",
        f"damaged\t\t{damaged}",
        f"g1\t\t{games[1]}",
        f"three\t\t{three_players}",
        f"g2\t\t{games[2]}",
    ]
    (tmp_path / "games.tsv.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    (tmp_path / "mjai.jsonl").write_text(write_mjai(random_game(3)) + write_mjai(random_game(4)))
    early = write_mjlog(drawn_game(shuffled_wall(1))).replace(' owari="250,35.0,250,5.0,250,-15.0,250,-25.0"', "")
    (tmp_path / "stops.mjlog").write_text("\ufeff" + early)
    return tmp_path


IDS = ["g0", "g1", "g2", "mjai", "mjai-2"]


def test_every_readable_game_comes_in_order_and_the_others_are_set_aside(mixed: Path) -> None:
    quarantine = Quarantine()
    assert [log.id for log in iter_records([mixed], quarantine=quarantine)] == IDS
    assert (quarantine.count, quarantine.num_foreign) == (3, 1)
    damaged, three, stops = quarantine.entries
    assert damaged.position.startswith("line 2, kyoku ")
    assert "truncated" in damaged.reason
    assert (damaged.kind, three.kind, stops.kind) == (NO_END, THREE_PLAYERS, NO_END)
    assert "no owari" in stops.reason


def test_fragments_count_when_allowed(mixed: Path) -> None:
    logs = list(iter_records([mixed], quarantine=Quarantine(), is_fragment_allowed=True))
    assert [log.id for log in logs] == [*IDS, "stops"]


def test_processes_give_the_same_games_in_the_same_order(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_CHUNK_RECORDS", 2)
    alone, shared = Quarantine(), Quarantine()
    one = list(iter_records([mixed], workers=1, quarantine=alone))
    two = list(iter_records([mixed], workers=2, quarantine=shared))
    assert [log.id for log in two] == [log.id for log in one] == IDS
    assert [k.moves.tolist() for k in two[0].kyokus] == [k.moves.tolist() for k in one[0].kyokus]
    assert shared.entries == alone.entries


def die(raw: RawRecord) -> str:
    os._exit(1)


def test_a_worker_that_dies_is_reported_with_a_remedy(mixed: Path) -> None:
    texts = iter_texts([mixed], quarantine=Quarantine())
    with pytest.raises(WorkerDiedError, match="most likely for lack of memory: use fewer workers"):
        list(map_records(die, texts, 1))


def test_workers_under_one_and_missing_paths_are_refused_at_the_call(mixed: Path) -> None:
    with pytest.raises(ValueError, match="workers is 0"):
        iter_records([mixed], workers=0, quarantine=Quarantine())
    with pytest.raises(ValueError, match="does not exist"):
        iter_records([mixed / "no"], workers=2, quarantine=Quarantine())


def test_a_name_in_another_encoding_costs_the_name(tmp_path: Path) -> None:
    game = drawn_game(shuffled_wall(1), shuffled_wall(2))
    sjis = "\u30c6\u30b9\u30c8".encode("shift-jis")
    mjlog, mjai = write_mjlog(game).encode(), write_mjai(game).encode()
    assert game.names[0] == "Anna"
    (tmp_path / "a.mjlog").write_bytes(mjlog.replace(b"%41%6E%6E%61", sjis))
    (tmp_path / "b.jsonl").write_bytes(mjai.replace(b"Anna", sjis))
    quarantine = Quarantine()
    logs = list(iter_records([tmp_path], quarantine=quarantine))
    assert [log.names for log in logs] == [("", *game.names[1:])] * 2
    assert [log.ignored.total() for log in logs] == [1, 1]
    assert quarantine.count == 0


@pytest.mark.parametrize(
    ("file", "data", "kind", "reason"),
    [
        ("editor.json", b'{"log":[[[0,0,0]]],"sc":[25000,0,25000,0,25000,0,25000,0]}', DAMAGED, "17 lists"),
        ("notes.json", b'{"hello": 1}', NOT_A_RECORD, "start_game"),
        ("page.xml", b"<!DOCTYPE html><html><body>Not found</body></html>", NOT_A_RECORD, "web page"),
        ("bomb.xml", b'<!DOCTYPE x [<!ENTITY a "aaaa">]><mjloggm>&a;</mjloggm>', DAMAGED, "document type"),
        ("japan.xml", "<!-- 天鳳 -->".encode("shift_jis") + b"<mjloggm/>", DAMAGED, "not UTF-8"),
    ],
)
def test_a_refused_record_has_file_kind_reason_and_remedy(
    tmp_path: Path, file: str, data: bytes, kind: str, reason: str
) -> None:
    (tmp_path / file).write_bytes(data)
    (tmp_path / "sound.mjlog").write_text(write_mjlog(random_game(0)))
    quarantine = Quarantine()
    assert len(list(iter_records([tmp_path], quarantine=quarantine))) == 1
    (entry,) = quarantine.entries
    assert (Path(entry.file).name, entry.kind) == (file, kind)
    assert reason in entry.reason
    assert entry.remedy


def test_an_id_comes_before_a_number(tmp_path: Path) -> None:
    for name in ("1", "2", "10"):  # in the order of the files: 1, 10, 2
        (tmp_path / f"{name}.mjlog").write_text(write_mjlog(random_game(int(name))), encoding="utf-8")
    assert [find_record(tmp_path, wanted).id for wanted in ("", "1", "2", "10", "3")] == ["1", "1", "2", "10", "2"]
    with pytest.raises(ValueError, match="has no game '4': give the id of a game or a number from 1 to 3"):
        find_record(tmp_path, "4")


def test_only_reasons_of_draws_that_were_not_compared_are_counted(tmp_path: Path) -> None:
    seed = f"{HEX_SEED_PREFIX}1,2,3"
    text = write_mjlog(drawn_game(*islice(tenhou_walls(seed), 2)))
    (tmp_path / "seeded.mjlog").write_text(text.replace('seed=""', f'seed="{seed}"'))
    values = verify_records([tmp_path], workers=1).values
    assert (values["draws_checked"], values["draws_unchecked_by_reason"]) == (140, {})
    (tmp_path / "seeded.mjlog").write_text(text)
    values = verify_records([tmp_path], workers=1).values
    assert (values["draws_checked"], values["draws_unchecked_by_reason"]) == (0, {NO_SEED: 140})


@pytest.mark.records
def test_real_folders_are_read_whole(records: Path) -> None:
    quarantine = Quarantine()
    paths = [records / "rare-situations", records / "formats"]
    logs = list(iter_records(paths, quarantine=quarantine, is_fragment_allowed=True))
    assert len(logs) == 74
    assert quarantine.by_reason == {NO_KYOKU: 13}
