from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path

from suphx.evaluation.match import play_match
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.workers.game_runner import GameRunner
from suphx.evaluation.workers.match_records import (
    INDEX_FILE,
    KeptResults,
    first_seating,
    index_records,
    indexed_tables,
    number_tables,
    remove_after,
)
from suphx.file_tree import files_below
from suphx.games.riichi import Quarantine, parse_all


def test_what_is_written_counts_with_its_parts_and_without_reading_the_folder(tmp_path: Path) -> None:
    KeptResults(tmp_path).write("earlier", {"wins": 1})
    kept = KeptResults(tmp_path)
    assert (len(kept), kept.num_written) == (1, 0)
    kept.write("wall-1", {"wins": 2})
    kept.part("fresh").write("wall-1", {"wins": 3})
    assert kept.part("fresh").read("wall-1") == {"wins": 3}
    assert (len(kept), kept.num_written) == (3, 2)
    (tmp_path / "wall-1.json").unlink()
    assert (len(kept), kept.num_written) == (2, 2)


def test_the_games_of_a_match_are_kept_in_compressed_tables_with_an_index(tmp_path: Path) -> None:
    play_match(MatchSetup("ukeire", "tsumogiri", seed=3), 8, runner=GameRunner(records=tmp_path))
    found = index_records(tmp_path)
    index = json.loads((tmp_path / INDEX_FILE).read_text())
    assert (found["games"], index["left_out"]) == (8, 0)
    assert sum(table["games"] for table in index["tables"]) == 8
    for table in index["tables"]:
        data = (tmp_path / table["name"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (table["bytes"], table["sha256"])
    logs = list(parse_all([tmp_path / table["name"] for table in index["tables"]], 1, quarantine=Quarantine()))
    assert len(logs) == 8


def test_tables_beyond_the_budget_are_left_out_from_the_end_and_counted(tmp_path: Path) -> None:
    play_match(MatchSetup("tsumogiri", "tsumogiri", seed=3), 8, runner=GameRunner(records=tmp_path))
    (first, *_) = tmp_path.glob("*.tsv.xz")
    data = first.read_bytes()
    first.unlink()
    for name in ("walls-1-16", "walls-17-32", "walls-113-128"):
        (tmp_path / f"{name}.tsv.xz").write_bytes(data)
    index_records(tmp_path, max_bytes=2 * len(data))
    for _ in range(2):  # again after a kill
        index = json.loads((tmp_path / INDEX_FILE).read_text())
        assert [table["name"] for table in index["tables"]] == ["walls-1-16.tsv.xz", "walls-17-32.tsv.xz"]
        assert index["left_out"] == 1
        index_records(tmp_path, max_bytes=2 * len(data))


def test_no_table_behind_one_that_is_left_out_stays(tmp_path: Path) -> None:
    content = {"walls-1-16": b"a\n", "walls-17-32": bytes(range(256)) * 8, "walls-33-48": b"c\n"}
    sizes = {}
    for name, games in content.items():
        path = tmp_path / f"{name}.tsv.xz"
        path.write_bytes(lzma.compress(games))
        sizes[name] = path.stat().st_size
    index_records(tmp_path, max_bytes=sizes["walls-1-16"] + sizes["walls-33-48"])
    assert [path.name for path in tmp_path.glob("*.tsv.xz")] == ["walls-1-16.tsv.xz"]
    assert json.loads((tmp_path / INDEX_FILE).read_text())["left_out"] == 2


def test_a_folder_without_games_gets_no_index(tmp_path: Path) -> None:
    assert index_records(tmp_path / "records") == {"games": 0, "bytes": 0}
    assert not (tmp_path / "records").exists()


def test_the_tables_of_all_seatings_are_in_the_order_of_their_walls_and_one_seating_is_chosen(tmp_path: Path) -> None:
    names = [f"{seating}walls-{first}-{first + 15}" for seating in ("2v2-", "3v1-", "") for first in (1, 17, 113)]
    for name in names:
        (tmp_path / f"{name}.tsv.xz").write_bytes(lzma.compress(b"game\n"))
    index_records(tmp_path)
    tables = indexed_tables(tmp_path)
    order = [path.name.partition("walls-")[2] for path in tables]
    assert order == sorted(order, key=lambda name: int(name.partition("-")[0]))
    assert [path.name for path in first_seating(tables)] == [f"walls-{n}-{n + 15}.tsv.xz" for n in (1, 17, 113)]
    others = [path for path in tables if path.name.startswith("2v2")]
    assert first_seating(others) == others


def test_numbered_tables_are_read_in_the_order_of_the_match(tmp_path: Path) -> None:
    played = [f"{seating}walls-{n}-{n + 15}" for seating in ("", "2v2-", "3v1-") for n in (1, 17, 97, 113)]
    (tmp_path / "fresh").mkdir()
    for name in (*played, "fresh/walls-1-16"):
        (tmp_path / f"{name}.tsv.xz").write_bytes(lzma.compress(b"game\n"))
    number_tables(tmp_path)
    read = [path.relative_to(tmp_path).as_posix() for path in files_below(tmp_path)]
    names = [f"{number:02}-{name}.tsv.xz" for number, name in enumerate(played, 1)]
    assert read == [*names, "fresh/1-walls-1-16.tsv.xz"]


def test_walls_behind_those_that_decided_are_removed(tmp_path: Path) -> None:
    for name in ("3v1-walls-1-8", "3v1-walls-9-16", "3v1-walls-17-24", "walls-33-34"):
        (tmp_path / f"{name}.tsv.xz").write_bytes(lzma.compress(b""))
    remove_after(tmp_path, 16)
    index_records(tmp_path)
    assert [path.name for path in indexed_tables(tmp_path)] == ["3v1-walls-1-8.tsv.xz", "3v1-walls-9-16.tsv.xz"]
    (tmp_path / "3v1-walls-1-8.tsv.xz").unlink()
    assert [path.name for path in indexed_tables(tmp_path)] == ["3v1-walls-9-16.tsv.xz"]
    assert indexed_tables(tmp_path / "nothing") == []
