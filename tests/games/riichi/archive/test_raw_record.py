from __future__ import annotations

import gzip
import json
import lzma
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from suphx.games import quarantine as quarantines
from suphx.games.riichi.archive import raw_record
from suphx.games.riichi.archive.raw_record import RawRecord, is_mjai_text, iter_texts
from suphx.games.riichi.archive.record_stream import MAX_RECORD_BYTES
from suphx.games.riichi.records import quarantine as kinds
from suphx.games.riichi.records.game_log import MAX_ID_BYTES
from suphx_pipelines.runs.provenance import digest_files
from tests.games.riichi.builders.packed_files import tar_of

START = '{"type":"start_game"}'
MJAI = START + '\n{"type":"end_game"}'
EVENTS = [{"type": "start_game", "names": ["ウキ"]}, {"type": "end_game"}]
ID = "2010091009gm-00a9-0000-83af2648"
TENHOU6 = {
    "title": ["", ""],
    "name": ["type", "b", "c", "d"],
    "rule": {"type": "a key of mjai"},
    "log": [[[0, 0, 0]]],
    "ref": "2019050417gm-0029-0000-1",
}
SQLITE = b"SQLite format 3\0" + bytes(84)


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def read(*paths: Path) -> tuple[list[RawRecord], kinds.Quarantine]:
    quarantine = kinds.Quarantine()
    return list(iter_texts(paths, quarantine=quarantine)), quarantine


def summary(raws: list[RawRecord]) -> list[tuple[str, str]]:
    return [(raw.id, raw.text) for raw in raws]


def reasons(quarantine: kinds.Quarantine) -> list[tuple[str, str, str]]:
    return [(Path(entry.file).name, entry.position, entry.reason) for entry in quarantine.entries]


FOUND: dict[str, tuple[dict[str, str | bytes], list[tuple[str, str]]]] = {
    "files by name, plain and packed": (
        {
            "a.mjlog": gzip.compress(b"<a/>"),  # as Tenhou serves them: packed, no second suffix
            "b.xml": "<b/>",
            "deep/c.mjlog.xz": lzma.compress(b"<c/>"),
            "deep/d.jsonl.gz": gzip.compress(START.encode()),
            "e.txt.gz": gzip.compress(b"\n<mjloggm/>"),
            **dict.fromkeys(("LICENSE", "README.md", "notes.yaml", "license.txt", "x.txt.gz"), b"\x1f\x8bnot a record"),
        },
        [("a", "<a/>"), ("b", "<b/>"), ("c", "<c/>"), ("d", START), ("e", "<mjloggm/>")],
    ),
    "games of mjai lines": ({"league.jsonl": f"{MJAI}\n{MJAI}\n\n{START}\n"}, [
        ("league", MJAI), ("league-2", MJAI), ("league-3", START),
    ]),
    "UTF-16": (
        {
            "a.jsonl": f"\ufeff{MJAI}\n{MJAI}\n".encode("utf-16-le"),
            "games.tsv": "\ufeff1\t\t<ア/>\n".encode("utf-16-be"),
            "z.jsonl": f"\ufeff{START}\n".encode("utf-16-le")[:-1],  # cut off in the middle of a letter
        },
        [("a", MJAI), ("a-2", MJAI), ("1", "<ア/>"), ("z", f"{START}\ufffd")],
    ),
    "several games of tenhou6 on lines": (
        {"a.jsonl": "".join(json.dumps(TENHOU6 | {"ref": f"game {i}"}) + "\n" for i in range(2))},
        [(f"game {i}", json.dumps(TENHOU6 | {"ref": f"game {i}"})) for i in range(2)],
    ),
    **{
        f"mjai as one array, indent {indent}": (
            {"a.json": json.dumps(EVENTS * 2, indent=indent)},
            [(name, "\n".join(json.dumps(event, ensure_ascii=False) for event in EVENTS)) for name in ("a", "a-2")],
        )
        for indent in (None, 1)
    },
    **{
        f"a name with the id of a game, {name}": ({name: "<mjloggm/>"}, [(ID, "<mjloggm/>")])
        for name in (
            ID, f"{ID}.txt", f"{ID}&tw=2.mjlog", f"index.html?log={ID}&tw=2", f"log?{ID}",
            f"http%3A%2F%2Ftenhou.net%2F0%2F%3Flog%3D{ID}%26tw%3D2",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_records_are_found_in_a_folder(tmp_path: Path, name: str) -> None:
    files, found = FOUND[name]
    write(tmp_path, files)
    raws, quarantine = read(tmp_path)
    assert summary(raws) == found
    assert quarantine.count == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tenhou6", json.dumps(TENHOU6) + "\n"),
        ("a.json", "\ufeff" + json.dumps(TENHOU6, indent=2)),
        ("a.txt", "\n" + json.dumps(TENHOU6, indent="\t")),
        ("a.txt", "https://tenhou.net/6/#json=" + json.dumps(TENHOU6)),
        ("a.txt", "https://tenhou.net/5/#json=" + quote(json.dumps(TENHOU6)) + "&ts=3\n"),
        ("a.json", json.dumps([TENHOU6])),
    ],
)
def test_json_of_tenhou6_is_found_in_every_form(tmp_path: Path, name: str, content: str) -> None:
    write(tmp_path, {name: content})
    ((raw,), quarantine) = read(tmp_path)
    assert quarantine.count == 0
    assert (raw.id, json.loads(raw.text)) == (TENHOU6["ref"], TENHOU6)
    assert not is_mjai_text(raw.text)


REFUSED: dict[str, tuple[str, str | bytes, list[str], list[tuple[str, str]]]] = {
    "bad lines of a table": (
        "games.tsv",
        b"1\t\t<a/>\n2\t\t<\xff\xfe/>\n3\t\t" + b"x" * MAX_RECORD_BYTES + b"\nno tabs\n5\t\t<e/>",
        ["1", "5"],
        [
            ("line 2", "not UTF-8: invalid start byte at byte 1"),
            ("line 3", "longer than 16,777,216 bytes"),
            ("line 4", "the line is not: id, tab, anything, tab, record"),
        ],
    ),
    "a long mjai game": (
        "a.jsonl",
        f"{START}\n{START}\n" + f'{{"x":"{"x" * (MAX_RECORD_BYTES // 2)}"}}\n' * 3 + START,
        ["a", "a-3"],
        [("line 2", "longer than 16,777,216 bytes")],
    ),
    "log lines before the first game": (
        "a.jsonl",
        f"[INFO] connected\n[2026-11-28] ready\n{START}\n{START}",
        ["a", "a-2"],
        [("before line 3", "these lines come before the first start_game")],
    ),
    **{
        f"a web page, {name}": (name, page, [], [("", "it is a web page, not a record")])
        for name, page in (
            ("a.mjlog", "<html><head></head></html>"),
            ("a.json", "<!-- x -->\n<HTML lang='ja'>"),
            ("2022010100gm-00a9-0000-01234567&tw=1.html", "<!DOCTYPE html>\n<p>"),
        )
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_does_not_touch_its_neighbours(tmp_path: Path, name: str) -> None:
    file, content, ids, refused = REFUSED[name]
    write(tmp_path, {file: content})
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ids
    assert reasons(quarantine) == [(file, *each) for each in refused]


@pytest.mark.parametrize(
    "content",
    ["", "hello", '\n [{"type":"hello"}]', "[]", "{}", '{"type":"hello"}\n{"type":"tsumo"}', '{\n"log', "[" * 100_000],
)
def test_json_without_a_game_is_named(tmp_path: Path, content: str) -> None:
    write(tmp_path, {"a.json": content})
    raws, quarantine = read(tmp_path)
    assert raws == []
    assert [entry.kind for entry in quarantine.entries] == [kinds.NOT_A_RECORD]


def test_a_file_that_is_given_itself_is_known_by_its_content(tmp_path: Path) -> None:
    write(tmp_path, {"a.dat": "<mjloggm/>", "b": START, "notes.txt": "hello", "c.db": SQLITE})
    assert summary(read(tmp_path / "a.dat", tmp_path / "b")[0]) == [("a", "<mjloggm/>"), ("b", START)]
    assert [entry.kind for entry in read(tmp_path / "notes.txt")[1].entries] == [kinds.NOT_A_RECORD]
    assert [entry.kind for entry in read(tmp_path / "c.db")[1].entries] == [kinds.OTHER_FORMAT]
    with pytest.raises(ValueError, match="has no game records"):
        read(tmp_path)


def test_linked_folders_are_read_once_and_what_a_desktop_leaves_not_at_all(tmp_path: Path) -> None:
    names = ("archive/2021/a.mjlog", "records/b.mjlog", "records/._b.mjlog", "records/.Trashes/a.mjlog")
    write(tmp_path, dict.fromkeys(names, "<mjloggm>"))
    records = tmp_path / "records"
    (records / "2021").symlink_to(tmp_path / "archive" / "2021")
    (records / "again").symlink_to(tmp_path / "archive" / "2021")
    (records / "up").symlink_to(records)
    found = [Path(raw.source).relative_to(records).as_posix() for raw in read(records)[0]]
    assert found == [*digest_files(records)] == ["2021/a.mjlog", "b.mjlog"]
    assert len(read(records / "._b.mjlog")[0]) == 1


def test_a_table_gives_its_lines_with_their_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "games.tsv.xz").write_bytes(lzma.compress(b"1\tx\t<a/>\n2\t\t<b/>\r\n3\t\t<c/>\n\n4\t<d/>\n"))
    (tmp_path / "seeds.tsv.xz").write_bytes(lzma.compress(b"2\tsecond\n1\tfirst\n4\tfourth\n"))
    raws, quarantine = read(tmp_path)
    assert [(raw.id, raw.text, raw.seed, raw.position) for raw in raws] == [
        ("1", "<a/>", "first", "line 1"),
        ("2", "<b/>", "second", "line 2"),
        ("3", "<c/>", None, "line 3"),
        ("4", "<d/>", "fourth", "line 5"),
    ]
    assert quarantine.count == 0
    monkeypatch.setattr(raw_record, "_MAX_SEEDS_AHEAD", 1)
    assert [raw.seed for raw in read(tmp_path)[0]] == [None, "second", None, None]


def test_damaged_seeds_cost_the_seeds_only(tmp_path: Path) -> None:
    write(tmp_path, {"games.tsv": "1\t<a/>\n2\t<b/>\n", "seeds.tsv": f"2\t{'x' * 5000}\n1\tfirst\nno tab\n"})
    raws, quarantine = read(tmp_path)
    assert [raw.seed for raw in raws] == ["first", None]
    assert reasons(quarantine) == [("seeds.tsv", f"line {n}", "the line is not: id, tab, seed") for n in (1, 3)]
    (tmp_path / "seeds.tsv").write_bytes(gzip.compress(b"1\tx\n2\tx\n")[:-12])
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ["1", "2"]
    assert quarantine.count


def test_ids_fit_a_store_and_stay_different(tmp_path: Path) -> None:
    long = "ゲーム" * 20
    write(tmp_path, {"games.tsv": f"{long}1\t<a/>\n{long}2\t<b/>\n{'x' * 48}\t<c/>\n"})
    (tmp_path / (os.fsdecode(b"\xff") + ".mjlog")).write_text("<d/>")
    ids = [raw.id for raw in read(tmp_path)[0]]
    assert len(set(ids)) == 4
    assert all(len(name.encode()) <= MAX_ID_BYTES for name in ids)
    assert ids[0].startswith("ゲームゲームゲームゲ")
    assert ids[2:] == ["x" * 48, "?"]


MEMBERS = {
    "x/a.mjlog": b"<a/>",
    "x/README": b"?",
    "x/broken.mjlog.gz": gzip.compress(b"<b/>")[:-6],
    "x/inner.tar": b"",
    "x/c.jsonl.gz": gzip.compress(START.encode()),
}


@pytest.mark.parametrize(("suffix", "pack"), [(".tar", bytes), (".tar.gz", gzip.compress), (".tar.xz", lzma.compress)])
def test_members_of_an_archive_are_read_alone(tmp_path: Path, suffix: str, pack: type[bytes]) -> None:
    write(tmp_path, {f"all{suffix}": pack(tar_of(MEMBERS))})
    raws, quarantine = read(tmp_path)
    assert summary(raws) == [("a", "<a/>"), ("c", START)]
    assert raws[0].source.endswith(f"all{suffix}/x/a.mjlog")
    assert [Path(entry.file).name for entry in quarantine.entries] == ["broken.mjlog.gz", "inner.tar"]


def test_a_truncated_archive_gives_what_is_whole(tmp_path: Path) -> None:
    write(tmp_path, {"all.tgz": gzip.compress(tar_of(MEMBERS))[:-40], "b.mjlog": "<b/>"})
    raws, quarantine = read(tmp_path)
    assert raws[-1].id == "b"
    assert "cannot be read further" in quarantine.entries[-1].reason


def test_a_missing_path_and_an_empty_folder_are_refused_at_the_call(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mjlog")
    for path, reason in (
        (tmp_path / "missing", "does not exist"),
        (tmp_path, "has no game records"),
        (tmp_path / "pipe.mjlog", "neither a file nor a folder"),
    ):
        with pytest.raises(ValueError, match=reason):
            iter_texts([path], quarantine=kinds.Quarantine())


# ---- the quarantine


def test_everything_is_counted_and_the_first_entries_are_kept_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quarantines, "MAX_ENTRIES", 2)
    quarantine = kinds.Quarantine()
    for number in range(5):
        kind = kinds.CHIPS if number == 4 else kinds.DAMAGED
        quarantine.add("日本\udcff", f"line {number}", "tile 3 twice", kind=kind)
    assert (quarantine.count, quarantine.num_foreign) == (5, 1)
    assert quarantine.by_reason == {kinds.DAMAGED: 4, kinds.CHIPS: 1}
    quarantine.write(tmp_path / "quarantine.jsonl")
    lines = (tmp_path / "quarantine.jsonl").read_text().splitlines()
    assert "日本" in lines[0]
    assert json.loads(lines[1]) == {
        "file": "日本\\udcff",
        "position": "line 1",
        "reason": "tile 3 twice",
        "kind": kinds.DAMAGED,
        "remedy": kinds.RECORD_REMEDIES[kinds.DAMAGED],
    }
    assert json.loads(lines[2]) == {"omitted": 3}


def test_texts_are_neither_long_nor_dangerous_for_a_terminal() -> None:
    quarantine, most = kinds.Quarantine(), quarantines.MAX_TEXT_LENGTH
    quarantine.add("\x1b[2J.mjlog", "line\r\n1", "\x9b8m" + "\x1b" * most, kind=kinds.DAMAGED)
    entry = quarantine.entries[0]
    assert (entry.file, entry.position) == ("\\x1b[2J.mjlog", "line\\r\\n1")
    assert entry.reason == ("\\x9b8m" + "\\x1b" * most)[:most] + "…"
