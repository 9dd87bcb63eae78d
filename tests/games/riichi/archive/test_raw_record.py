from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import tarfile
from pathlib import Path
from urllib.parse import quote

import pytest

from suphx.games.riichi.archive import raw_record
from suphx.games.riichi.archive.raw_record import RawRecord, is_mjai_text, iter_texts
from suphx.games.riichi.archive.record_stream import MAX_RECORD_BYTES
from suphx.games.riichi.records.game_log import MAX_ID_BYTES
from suphx.games.riichi.records.quarantine import (
    CHIPS,
    DAMAGED,
    MAX_TEXT_LENGTH,
    NOT_A_RECORD,
    OTHER_FORMAT,
    RECORD_REMEDIES,
    Quarantine,
    QuarantinedRecord,
)
from suphx_pipelines.runs.provenance import digest_files

START = '{"type":"start_game"}'
SQLITE = b"SQLite format 3\0" + bytes(84)


def read(*paths: Path) -> tuple[list[RawRecord], Quarantine]:
    quarantine = Quarantine()
    return list(iter_texts(paths, quarantine=quarantine)), quarantine


def summary(raws: list[RawRecord]) -> list[tuple[str, str]]:
    return [(raw.id, raw.text) for raw in raws]


def reasons(quarantine: Quarantine) -> list[tuple[str, str, str]]:
    return [(Path(entry.file).name, entry.position, entry.reason) for entry in quarantine.entries]


def test_plain_and_packed_files_of_a_folder_are_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.mjlog").write_bytes(gzip.compress(b"<a/>"))  # as Tenhou serves them: packed, no second suffix
    (tmp_path / "b.xml").write_text("<b/>")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.mjlog.xz").write_bytes(lzma.compress(b"<c/>"))
    (tmp_path / "deep" / "d.jsonl.gz").write_bytes(gzip.compress(START.encode()))
    (tmp_path / "e.txt.gz").write_bytes(gzip.compress(b"\n<mjloggm/>"))
    for name in ("LICENSE", "README.md", "notes.yaml", "licence.txt", "damaged.txt.gz"):
        (tmp_path / name).write_bytes(b"\x1f\x8bnot a record")
    raws, quarantine = read(tmp_path)
    assert summary(raws) == [("a", "<a/>"), ("b", "<b/>"), ("c", "<c/>"), ("d", START), ("e", "<mjloggm/>")]
    assert quarantine.count == 0


ID = "2010091009gm-00a9-0000-83af2648"


@pytest.mark.parametrize(
    "name",
    [
        ID,
        f"{ID}.txt",
        f"{ID}.html",
        f"{ID}&tw=2.mjlog",
        f"index.html?log={ID}&tw=2",
        f"log?{ID}",
        f"http%3A%2F%2Ftenhou.net%2F0%2F%3Flog%3D{ID}%26tw%3D2",
    ],
)
def test_a_name_with_the_id_of_a_game_is_that_of_an_mjlog_record(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("<mjloggm/>")
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(b"<mjloggm/>"))
    assert summary(read(tmp_path)[0]) == [(ID, "<mjloggm/>")] * 2
    assert summary(read(tmp_path / name)[0]) == [(ID, "<mjloggm/>")]


def test_files_that_a_desktop_leaves_in_a_folder_are_not_read(tmp_path: Path) -> None:
    for name in ("b.mjlog", "._b.mjlog", ".Trashes/a.mjlog"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<mjloggm>")
    read = [Path(record.source) for record in iter_texts([tmp_path], quarantine=Quarantine())]
    assert [path.relative_to(tmp_path).as_posix() for path in read] == [*digest_files(tmp_path)] == ["b.mjlog"]
    named = iter_texts([tmp_path / "._b.mjlog"], quarantine=Quarantine())
    assert len(list(named)) == 1


def test_linked_folders_are_read_once(tmp_path: Path) -> None:
    for name in ("archive/2021/a.mjlog", "records/b.mjlog"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("<mjloggm>")
    (tmp_path / "records" / "2021").symlink_to(tmp_path / "archive" / "2021")
    (tmp_path / "records" / "again").symlink_to(tmp_path / "archive" / "2021")
    (tmp_path / "records" / "up").symlink_to(tmp_path / "records")
    records = tmp_path / "records"
    read = [Path(record.source) for record in iter_texts([records], quarantine=Quarantine())]
    assert [path.relative_to(records).as_posix() for path in read] == ["2021/a.mjlog", "b.mjlog"]
    assert [*digest_files(records)] == ["2021/a.mjlog", "b.mjlog"]


def test_a_table_gives_its_lines_with_their_seeds(tmp_path: Path) -> None:
    (tmp_path / "games.tsv.xz").write_bytes(lzma.compress(b"1\tx\t<a/>\n2\t\t<b/>\r\n3\t\t<c/>\n\n4\t<d/>\n"))
    (tmp_path / "seeds.tsv.xz").write_bytes(lzma.compress(b"2\tsecond\n1\tfirst\n4\tfourth\n"))
    raws, quarantine = read(tmp_path)
    assert [(raw.id, raw.text, raw.seed) for raw in raws] == [
        ("1", "<a/>", "first"),
        ("2", "<b/>", "second"),
        ("3", "<c/>", None),
        ("4", "<d/>", "fourth"),
    ]
    assert raws[1].position == "line 2"
    assert quarantine.count == 0


def test_seeds_that_are_read_ahead_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_record, "_MAX_SEEDS_AHEAD", 2)
    (tmp_path / "games.tsv").write_text("1\t<a/>\n2\t<b/>\n")
    (tmp_path / "seeds.tsv").write_text("4\tx\n3\tx\n2\tx\n1\tx\n")
    assert [raw.seed for raw in read(tmp_path)[0]] == [None, None]


def test_damaged_seeds_cost_the_seeds_only(tmp_path: Path) -> None:
    (tmp_path / "games.tsv").write_text("1\t<a/>\n2\t<b/>\n")
    (tmp_path / "seeds.tsv.gz").write_bytes(gzip.compress(b"1\tx\nno tab\n2\tx\n")[:-12])
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ["1", "2"]
    assert all(entry.file.endswith("seeds.tsv.gz") for entry in quarantine.entries)
    assert quarantine.count


def test_a_seed_of_any_length_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "games.tsv").write_text("1\t<a/>\n2\t<b/>\n")
    (tmp_path / "seeds.tsv").write_text(f"2\t{'x' * 5000}\n1\tfirst\n")
    raws, quarantine = read(tmp_path)
    assert [raw.seed for raw in raws] == ["first", None]
    assert reasons(quarantine) == [("seeds.tsv", "line 1", "the line is not: id, tab, seed")]


def test_ids_fit_a_store_and_stay_different(tmp_path: Path) -> None:
    long = "ゲーム" * 20
    (tmp_path / "games.tsv").write_text(f"{long}1\t<a/>\n{long}2\t<b/>\n{'x' * 48}\t<c/>\n")
    (tmp_path / (os.fsdecode(b"\xff") + ".mjlog")).write_text("<d/>")
    ids = [raw.id for raw in read(tmp_path)[0]]
    assert len(set(ids)) == 4
    assert all(len(name.encode()) <= MAX_ID_BYTES for name in ids)
    assert ids[0].startswith("ゲームゲームゲームゲ")
    assert ids[2:] == ["x" * 48, "?"]


def test_a_bad_line_of_a_table_does_not_touch_its_neighbours(tmp_path: Path) -> None:
    long = b"3\t\t" + b"x" * MAX_RECORD_BYTES
    lines = [b"1\t\t<a/>", b"2\t\t<\xff\xfe/>", long, b"no tabs", b"5\t\t<e/>"]
    (tmp_path / "games.tsv").write_bytes(b"\n".join(lines))
    raws, quarantine = read(tmp_path / "games.tsv")
    assert summary(raws) == [("1", "<a/>"), ("5", "<e/>")]
    assert reasons(quarantine) == [
        ("games.tsv", "line 2", "not UTF-8: invalid start byte at byte 1"),
        ("games.tsv", "line 3", "longer than 16,777,216 bytes"),
        ("games.tsv", "line 4", "the line is not: id, tab, anything, tab, record"),
    ]


def test_mjai_lines_are_cut_into_games(tmp_path: Path) -> None:
    game = START + '\n{"type":"end_game"}'
    (tmp_path / "league.jsonl").write_text(f"{game}\n{game}\n\n{START}\n")
    raws, _ = read(tmp_path)
    assert summary(raws) == [("league", game), ("league-2", game), ("league-3", START)]
    assert [raw.position for raw in raws] == ["line 1", "line 3", "line 6"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_mjai_and_tables_may_be_utf_16(encoding: str, tmp_path: Path) -> None:
    name = '{"type":"start_game","names":["ウキ","ア","b","c"]}\n{"type":"end_game"}'
    for file, text in (
        ("a.jsonl", f"{name}\n{name}\n"),
        ("games.tsv", "1\t\t<ア/>\n2\t\t<b/>\n"),
        ("seeds.tsv", "2\tx\n"),
    ):
        (tmp_path / file).write_bytes(f"\ufeff{text}".encode(encoding))
    raws, quarantine = read(tmp_path)
    assert [(raw.id, raw.text, raw.seed) for raw in raws] == [
        ("a", name, None),
        ("a-2", name, None),
        ("1", "<ア/>", None),
        ("2", "<b/>", "x"),
    ]
    assert quarantine.count == 0
    (tmp_path / "a.jsonl").write_bytes(f"\ufeff{name}\n".encode(encoding)[:-1])  # cut off in the middle of a letter
    raws, _ = read(tmp_path / "a.jsonl")
    assert [raw.text.splitlines()[0] for raw in raws] == [name.splitlines()[0]]


def test_a_long_mjai_game_does_not_touch_its_neighbours(tmp_path: Path) -> None:
    line = b'{"x":"' + b"x" * (MAX_RECORD_BYTES // 2) + b'"}\n'
    start = START.encode() + b"\n"
    (tmp_path / "a.jsonl").write_bytes(start + start + line * 3 + start)
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ["a", "a-3"]
    assert reasons(quarantine) == [("a.jsonl", "line 2", "longer than 16,777,216 bytes")]


@pytest.mark.parametrize(
    "content",
    ["", "hello", '\n [{"type":"hello"}]', "[]", "{}", '{"type":"hello"}\n{"type":"tsumo"}', '{\n"log', "[" * 100_000],
)
def test_json_without_a_game_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    raws, quarantine = read(tmp_path)
    assert raws == []
    assert [entry.kind for entry in quarantine.entries] == [NOT_A_RECORD]
    assert "start_game" in quarantine.entries[0].reason or "JSON" in quarantine.entries[0].reason


TENHOU6 = {
    "title": ["", ""],
    "name": ["type", "b", "c", "d"],
    "rule": {"type": "a key of mjai"},
    "log": [[[0, 0, 0]]],
    "ref": "2019050417gm-0029-0000-1",
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps(TENHOU6)),
        ("a.tenhou6", json.dumps(TENHOU6) + "\n"),
        ("a.json", "\ufeff" + json.dumps(TENHOU6, indent=2)),
        ("a.txt", "\n" + json.dumps(TENHOU6, indent="\t")),
        ("a.txt", "https://tenhou.net/6/#json=" + json.dumps(TENHOU6)),
        ("a.txt", "https://tenhou.net/5/#json=" + quote(json.dumps(TENHOU6)) + "&ts=3\n"),
        ("a.json", json.dumps([TENHOU6])),
    ],
)
def test_json_of_tenhou6_is_found_in_every_form(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    raws, quarantine = read(tmp_path)
    assert quarantine.count == 0
    assert [(raw.id, json.loads(raw.text)) for raw in raws] == [(TENHOU6["ref"], TENHOU6)]
    assert not is_mjai_text(raws[0].text)


def test_several_games_of_tenhou6_are_read_from_one_file(tmp_path: Path) -> None:
    games = [TENHOU6 | {"ref": f"game {number}"} for number in range(3)]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(game) + "\n" for game in games))
    (tmp_path / "many.json").write_text("\n".join(json.dumps(game, indent=1) for game in games))
    raws, _ = read(tmp_path)
    assert [(raw.id, raw.position) for raw in raws] == [
        *((f"game {number}", f"line {number + 1}") for number in range(3)),
        *((f"game {number}", "") for number in range(3)),
    ]


@pytest.mark.parametrize("indent", [None, 1])
def test_mjai_as_one_array_is_cut_into_games(tmp_path: Path, indent: int | None) -> None:
    game = [{"type": "start_game", "names": ["ウキ"]}, {"type": "end_game"}]
    (tmp_path / "a.json").write_text(json.dumps(game + game, indent=indent))
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ["a", "a-2"]
    assert [[json.loads(line) for line in raw.text.splitlines()] for raw in raws] == [game, game]
    assert all(is_mjai_text(raw.text) for raw in raws)
    assert quarantine.count == 0


def test_a_file_that_is_given_itself_is_known_by_its_content(tmp_path: Path) -> None:
    for name, content in {"a.dat": b"<mjloggm/>", "b": START.encode(), "notes.txt": b"hello", "c.db": SQLITE}.items():
        (tmp_path / name).write_bytes(content)
    assert summary(read(tmp_path / "a.dat", tmp_path / "b")[0]) == [("a", "<mjloggm/>"), ("b", START)]
    assert [entry.kind for entry in read(tmp_path / "notes.txt")[1].entries] == [NOT_A_RECORD]
    _, quarantine = read(tmp_path / "c.db")
    assert [(entry.kind, entry.reason) for entry in quarantine.entries] == [
        (OTHER_FORMAT, "it is an SQLite database: export its games into files")
    ]
    with pytest.raises(ValueError, match="has no game records"):
        read(tmp_path)


@pytest.mark.parametrize(
    "page", ["<html><head></head></html>", "<!-- x -->\n<HTML lang='ja'>", "<!DOCTYPE html>\n<p>", "<head><title>"]
)
@pytest.mark.parametrize("name", ["a.mjlog", "a.json", "2022010100gm-00a9-0000-01234567&tw=1.html"])
def test_a_web_page_is_named(tmp_path: Path, page: str, name: str) -> None:
    (tmp_path / name).write_text(page)
    raws, quarantine = read(tmp_path)
    assert raws == []
    assert [(entry.kind, entry.reason) for entry in quarantine.entries] == [
        (NOT_A_RECORD, "it is a web page, not a record")
    ]


def test_a_log_line_before_the_first_mjai_game_is_no_array(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '[INFO] connected\n[2026-11-28] ready\n{"type":"start_game"}\n{"type":"end_game"}\n'
    )
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ["a"]
    assert [entry.position for entry in quarantine.entries] == ["before line 3"]


def test_lines_before_the_first_mjai_game_are_set_aside_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"type":"hello"}}\n\n{{"type":"none"}}\n{START}\n{START}\n')
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ["a", "a-2"]
    assert reasons(quarantine) == [("a.jsonl", "before line 4", "these lines come before the first start_game")]


def tar_of(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


MEMBERS = {
    "x/a.mjlog": b"<a/>",
    "x/README": b"?",
    "x/broken.mjlog.gz": gzip.compress(b"<b/>")[:-6],
    "x/inner.tar": b"",
    "x/c.jsonl.gz": gzip.compress(START.encode()),
}


@pytest.mark.parametrize(("suffix", "pack"), [(".tar", bytes), (".tar.gz", gzip.compress), (".tar.xz", lzma.compress)])
def test_members_of_an_archive_are_read_alone(tmp_path: Path, suffix: str, pack: type[bytes]) -> None:
    (tmp_path / f"all{suffix}").write_bytes(pack(tar_of(MEMBERS)))
    raws, quarantine = read(tmp_path)
    assert summary(raws) == [("a", "<a/>"), ("c", START)]
    assert raws[0].source.endswith(f"all{suffix}/x/a.mjlog")
    assert [Path(entry.file).name for entry in quarantine.entries] == ["broken.mjlog.gz", "inner.tar"]


def test_a_truncated_archive_gives_what_is_whole(tmp_path: Path) -> None:
    (tmp_path / "all.tgz").write_bytes(gzip.compress(tar_of(MEMBERS))[:-40])
    (tmp_path / "b.mjlog").write_text("<b/>")
    raws, quarantine = read(tmp_path)
    assert raws[-1].id == "b"
    assert "cannot be read further" in quarantine.entries[-1].reason


def test_a_missing_path_and_an_empty_folder_are_refused_at_the_call(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("hello")
    os.mkfifo(tmp_path / "pipe.mjlog")
    for path, reason in (
        (tmp_path / "missing", "does not exist"),
        (tmp_path, "has no game records"),
        (tmp_path / "pipe.mjlog", "neither a file nor a folder"),
    ):
        with pytest.raises(ValueError, match=reason):
            iter_texts([path], quarantine=Quarantine())


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
