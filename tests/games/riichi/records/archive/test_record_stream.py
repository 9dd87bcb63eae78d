from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from suphx.games.riichi.archive import record_stream
from suphx.games.riichi.archive.archive import find_record, parse_all
from suphx.games.riichi.archive.raw_record import iter_texts
from suphx.games.riichi.archive.record_stream import (
    DAMAGED_STREAM,
    MAX_RECORD_BYTES,
    MAX_UNPACKED_RATIO,
    Decompressed,
    OtherFormat,
    ReadShare,
    iter_lines,
    read_bounded,
)
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.records.mjlog_writer import write_mjlog
from suphx.games.riichi.records.quarantine import Quarantine
from tests.games.riichi.builders.games import random_game


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two games each as files, as a packed table, as a tar and as a zip, and a damaged file."""
    games = [random_game(0), random_game(1)]
    write_records(games, tmp_path / "plain", "mjlog")
    write_records(games, tmp_path / "games.tsv.xz", "mjlog")
    with tarfile.open(tmp_path / "two.tar", "w") as tar, zipfile.ZipFile(tmp_path / "two.zip", "w") as packed:
        for path in sorted((tmp_path / "plain").iterdir()):
            tar.add(path, path.name)
            packed.write(path, path.name)
    (tmp_path / "broken.tsv.xz").write_bytes((tmp_path / "games.tsv.xz").read_bytes()[:-200])
    return tmp_path


def test_the_share_rises_to_the_whole(folder: Path) -> None:
    read, shares = ReadShare(), []
    assert read.share == 0
    quarantine = Quarantine()
    for _ in iter_texts([folder], quarantine=quarantine, read=read):
        shares.append(read.share)
    assert len(shares) >= 8
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1
    assert read.share == 1
    assert quarantine.count == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_it_counts_with_any_number_of_workers(folder: Path, workers: int) -> None:
    read = ReadShare()
    games = list(parse_all([folder / "plain"], workers, quarantine=Quarantine(), read=read))
    assert (len(games), read.share) == (2, 1)


def test_an_id_comes_before_a_number(tmp_path: Path) -> None:
    for name in ("1", "2", "10"):  # in the order of the files: 1, 10, 2
        (tmp_path / f"{name}.mjlog").write_text(write_mjlog(random_game(int(name))), encoding="utf-8")
    assert [find_record(tmp_path, wanted).id for wanted in ("", "1", "2", "10", "3")] == ["1", "1", "2", "10", "2"]
    with pytest.raises(ValueError, match="has no game '4': give the id of a game or a number from 1 to 3"):
        find_record(tmp_path, "4")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
def test_packed_files_are_known_by_their_first_bytes(pack: type[bytes]) -> None:
    assert read_bounded(Decompressed(io.BytesIO(pack(b"hello\n")))) == b"hello\n"
    assert read_bounded(Decompressed(io.BytesIO(pack(b"")))) == b""


def test_what_is_packed_twice_is_read_and_a_third_time_is_named() -> None:
    twice = gzip.compress(gzip.compress(b"hello\n"))
    assert read_bounded(Decompressed(io.BytesIO(twice))) == b"hello\n"
    assert read_bounded(Decompressed(io.BytesIO(bz2.compress(lzma.compress(b"hello\n"))))) == b"hello\n"
    with pytest.raises(OtherFormat, match="packed over 2 times: unpack it"):
        read_bounded(Decompressed(io.BytesIO(gzip.compress(twice))))


def test_a_bomb_in_a_bomb_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "FREE_UNPACKED_BYTES", 100_000)
    with pytest.raises(OSError, match="unpacks to over 500 times its size"):
        list(iter_lines(Decompressed(io.BytesIO(gzip.compress(gzip.compress(b"\n" * 20_000_000))))))


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"SQLite format 3\0", "SQLite database"),
        (b"PK\x03\x04", "zip archive"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
        (b"Rar!\x1a\x07\x01\0", "RAR"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
    ],
)
def test_files_of_other_kinds_are_named(start: bytes, what: str) -> None:
    with pytest.raises(OtherFormat, match=what):
        read_bounded(Decompressed(io.BytesIO(start + bytes(100))))


def test_a_bomb_is_given_up_at_the_limit() -> None:
    bomb = gzip.compress(bytes(MAX_RECORD_BYTES + 1))
    assert len(bomb) < 100_000
    assert read_bounded(Decompressed(io.BytesIO(bomb))) is None
    assert read_bounded(io.BytesIO(bytes(MAX_RECORD_BYTES))) == bytes(MAX_RECORD_BYTES)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_a_bomb_of_short_lines_is_given_up_by_its_ratio(pack: type[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "FREE_UNPACKED_BYTES", 100_000)
    bomb = pack(b"\n" * 5_000_000)
    assert len(bomb) < 5_000_000 // MAX_UNPACKED_RATIO
    with pytest.raises(OSError, match="unpacks to over 500 times its size"):
        list(iter_lines(Decompressed(io.BytesIO(bomb))))


def test_an_xz_file_that_asks_for_gigabytes_of_memory_is_refused() -> None:
    data = bytearray(lzma.compress(b"<a/>"))
    size = 4 * data[12] + 4  # of the block header: its last byte of filter properties is the dictionary's size
    assert data[14:16] == b"\x21\x01"
    data[16] = 40
    data[12 + size - 4 : 12 + size] = struct.pack("<I", zlib.crc32(data[12 : 12 + size - 4]))
    with pytest.raises(lzma.LZMAError, match="Memory usage limit"):
        read_bounded(Decompressed(io.BytesIO(data)))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_joined_packed_files_are_read_on(pack: type[bytes]) -> None:
    assert read_bounded(Decompressed(io.BytesIO(pack(b"a") + pack(b"") + pack(b"b") + b"\0" * 8))) == b"ab"
    with pytest.raises(DAMAGED_STREAM):
        read_bounded(Decompressed(io.BytesIO(pack(b"a") + b"rubbish")))


def test_lines_are_numbered_and_a_long_one_is_skipped_alone() -> None:
    long = b"x" * (MAX_RECORD_BYTES + 1)
    lines = list(iter_lines(io.BytesIO(b"a\n\n" + long + b"\nb\nlast")))
    assert [(line.number, line.data) for line in lines] == [(1, b"a"), (3, None), (4, b"b"), (5, b"last")]
    assert [line.data for line in iter_lines(io.BytesIO(b"a\n" + long))] == [b"a", None]


def test_lines_across_pieces_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "_PIECE_BYTES", 3)
    lines = [line.data for line in iter_lines(io.BytesIO(b"abcdefg\nhi\n\njklm"))]
    assert lines == [b"abcdefg", b"hi", b"jklm"]


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "_MAX_SKIPPED_BYTES", 1000)
    with pytest.raises(OSError, match="line 1 is longer"):
        list(iter_lines(io.BytesIO(bytes(300_000))))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_damage_is_one_of_the_named_errors(pack: type[bytes]) -> None:
    data = pack(b"some text " * 1000)
    for broken in (data[:-9], data[:20], data[:30] + b"\x00\xff\x00" + data[33:]):
        with pytest.raises(DAMAGED_STREAM):
            read_bounded(Decompressed(io.BytesIO(broken)))
