from __future__ import annotations

import lzma
import os
from pathlib import Path

import pytest

from suphx.games.riichi.archive import archive
from suphx.games.riichi.archive.archive import iter_records, map_records, parse_all
from suphx.games.riichi.archive.raw_record import RawRecord, iter_texts
from suphx.games.riichi.records.mjai_writer import write_mjai
from suphx.games.riichi.records.mjlog_writer import write_mjlog
from suphx.games.riichi.records.quarantine import NO_END, NO_KYOKU, THREE_PLAYERS, Quarantine
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
    one = list(parse_all([mixed], 1, quarantine=alone))
    two = list(parse_all([mixed], 2, quarantine=shared))
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
        parse_all([mixed], 0, quarantine=Quarantine())
    with pytest.raises(ValueError, match="does not exist"):
        parse_all([mixed / "no"], 2, quarantine=Quarantine())


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


@pytest.mark.records
def test_real_folders_are_read_whole(records: Path) -> None:
    quarantine = Quarantine()
    paths = [records / "rare-situations", records / "formats"]
    logs = list(iter_records(paths, quarantine=quarantine, is_fragment_allowed=True))
    assert len(logs) == 74
    assert quarantine.by_reason == {NO_KYOKU: 13}
