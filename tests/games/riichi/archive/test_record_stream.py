from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx.games.riichi.archive import record_stream
from suphx.games.riichi.archive.archive import find_record, parse_all
from suphx.games.riichi.archive.raw_record import RawRecord, iter_texts
from suphx.games.riichi.archive.record_stream import (
    DAMAGED_STREAM,
    MAX_HEADER_BYTES,
    MAX_RECORD_BYTES,
    MAX_UNPACKED_RATIO,
    Decompressed,
    OtherFormat,
    ReadShare,
    iter_lines,
    iter_members,
    iter_zip_members,
    read_bounded,
)
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.records.mjlog_writer import write_mjlog
from suphx.games.riichi.records.quarantine import UNREADABLE, Quarantine
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


LONG = f"{'folder/' * 40}ゲーム.mjlog"
CONTENTS = {"a.mjlog": b"<a/>", LONG: b"x" * 700, "empty.mjlog": b"", "x/b.mjlog": b"b" * 512}


def tar_of(contents: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        folder = tarfile.TarInfo("x")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link.mjlog")
        link.type, link.linkname = tarfile.SYMTYPE, "a.mjlog"
        archive.addfile(link)
    return file.getvalue()


def read_tar(data: bytes) -> dict[str, bytes]:
    """Read every member to its end, in pieces."""
    found = {}
    for member in iter_members(io.BytesIO(data)):
        pieces = list(iter(lambda: member.read(300), b""))  # noqa: B023 (used at once)
        found[member.name] = b"".join(pieces)
    return found


def resealed(data: bytes, start: int, change: Callable[[bytearray], None]) -> bytes:
    """Change the header at ``start`` and write its sum again."""
    header = bytearray(data[start : start + 512])
    change(header)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header)
    return data[:start] + bytes(header) + data[start + 512 :]


def with_size(size: bytes) -> bytes:
    """Give a.mjlog, the second member, another size."""

    def change(header: bytearray) -> None:
        header[124:136] = size.ljust(12, b"\x00")

    return resealed(tar_of({"a.mjlog": b"<a/>"}), 512, change)


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_files_come_in_order_with_names_of_any_length(form: int) -> None:
    assert list(read_tar(tar_of(CONTENTS, form)).items()) == list(CONTENTS.items())


def test_names_in_two_parts_are_joined() -> None:
    name = f"{'f' * 90}/{'g' * 90}.mjlog"
    assert read_tar(tar_of({name: b"1"}, tarfile.USTAR_FORMAT)) == {name: b"1"}


def test_what_is_not_read_of_a_member_is_passed_over() -> None:
    data = tar_of(CONTENTS)
    assert [member.name for member in iter_members(io.BytesIO(data))] == list(CONTENTS)


def test_an_archive_without_its_end_mark_is_cut_off() -> None:
    data = tar_of(CONTENTS)
    for length in (0, 100, 512, 1100, data.rindex(b"link.mjlog")):
        with pytest.raises(OSError, match="its end mark is missing"):
            read_tar(data[:length])


@pytest.mark.parametrize("size", [b"77777777777", b"\x80\x00\x00\x00" + b"\xff" * 8, b"\x80" + b"\xff" * 11])
def test_a_size_beyond_the_end_is_neither_trusted_nor_waited_for(size: bytes) -> None:
    with pytest.raises(OSError, match="its end mark is missing"):
        read_tar(with_size(size))


@pytest.mark.parametrize("size", [b"-1", b"\xff" * 12, b"12x", b"99"])
def test_a_size_that_is_no_number_is_refused(size: bytes) -> None:
    with pytest.raises(OSError, match="is not an octal number"):
        read_tar(with_size(size))


def test_a_header_whose_sum_is_wrong_is_refused_wherever_it_stands() -> None:
    data = bytearray(tar_of(CONTENTS))
    data[data.rindex(b"x/b.mjlog")] ^= 1
    members = iter_members(io.BytesIO(data))
    assert [next(members).name for _ in range(3)] == ["a.mjlog", LONG, "empty.mjlog"]
    with pytest.raises(OSError, match="its sum is wrong"):
        next(members)


def test_sums_of_signed_bytes_are_known() -> None:
    data = tar_of({"ä.mjlog": b"1"}, tarfile.GNU_FORMAT)
    header = data[512:1024]
    signed = sum(byte - 256 * (byte > 127) for byte in header[:148] + b" " * 8 + header[156:])
    assert read_tar(data[:660] + b"%06o\x00 " % signed + data[668:]) == {"ä.mjlog": b"1"}


def test_a_name_of_gigabytes_is_refused_before_it_is_read() -> None:
    def change(header: bytearray) -> None:
        header[124:136] = b"%011o\x00" % (MAX_HEADER_BYTES + 1)

    data = tar_of({LONG: b"1"}, tarfile.GNU_FORMAT)
    with pytest.raises(OSError, match="a name of 65,537 bytes"):
        read_tar(resealed(data, 512, change))


def test_thousands_of_headers_in_a_row_are_no_recursion() -> None:
    name = tar_of({LONG: b"1"}, tarfile.GNU_FORMAT)[512:1536]
    assert name[156:157] == b"L"
    assert read_tar(tar_of({})[:512] + name * 5000 + tar_of({"short": b"1"})[512:]) == {LONG: b"1"}


@pytest.mark.parametrize("record", [b"999999 path=a\n", b"0 path=a\n", b"no number\n", b"12 size=1e9\n"])
def test_a_damaged_pax_header_is_refused(record: bytes) -> None:
    def change(header: bytearray) -> None:
        header[156:157] = b"x"

    data = tar_of({"a.mjlog": record})
    with pytest.raises(OSError, match="damaged pax header"):
        read_tar(resealed(data, 512, change))


def test_a_size_in_a_pax_header_counts() -> None:
    info = tarfile.TarInfo("a.mjlog")
    info.size, info.pax_headers = 4, {"size": "4"}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(info, io.BytesIO(b"<a/>"))
    assert read_tar(file.getvalue()) == {"a.mjlog": b"<a/>"}


def test_sparse_files_are_refused() -> None:
    def change(header: bytearray) -> None:
        header[156:157] = b"S"

    with pytest.raises(OSError, match=r"a\.mjlog is a sparse file"):
        read_tar(resealed(tar_of({"a.mjlog": b"1"}), 512, change))
    sparse = tarfile.TarInfo("a.mjlog")
    sparse.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(sparse)
    with pytest.raises(OSError, match="has a sparse file"):
        read_tar(file.getvalue())


FILES = {"a.mjlog": b"<mjloggm/>", "folder/b.xml": b"<mjloggm></mjloggm>" * 100, "notes.txt": b"hello"}


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("folder/", b"")
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def read_zip(path: Path) -> tuple[list[RawRecord], Quarantine]:
    quarantine = Quarantine()
    return list(iter_texts([path], quarantine=quarantine)), quarantine


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_are_read_in_order(tmp_path: Path, method: int) -> None:
    (tmp_path / "x.zip").write_bytes(zip_of(FILES, method))
    members = iter_zip_members(tmp_path / "x.zip")
    assert [(member.name, member.read(10**6)) for member in members] == list(FILES.items())
    raws, quarantine = read_zip(tmp_path)
    assert [(raw.id, raw.source) for raw in raws] == [
        ("a", f"{tmp_path}/x.zip/a.mjlog"),
        ("b", f"{tmp_path}/x.zip/folder/b.xml"),
    ]
    assert quarantine.count == 0


def test_an_archive_in_an_archive_is_set_aside_alone(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zip_of({"inner.zip": zip_of(FILES), **FILES}))
    raws, quarantine = read_zip(tmp_path)
    assert len(raws) == 2
    assert [entry.reason for entry in quarantine.entries] == ["an archive in an archive: unpack it"]


@pytest.mark.parametrize("data", [b"", b"hello", zip_of(FILES)[:-30], b"PK\x05\x06"])
def test_what_is_no_zip_archive_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    raws, quarantine = read_zip(tmp_path)
    assert raws == []
    assert quarantine.by_reason == {UNREADABLE: 1}
    assert "not a zip archive, or cut off" in quarantine.entries[0].reason


def test_an_encrypted_member_is_set_aside_alone(tmp_path: Path) -> None:
    data = bytearray(zip_of(FILES))
    entry = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)  # of a.mjlog, behind the folder's
    data[entry + 8] |= 1
    data[data.index(b"a.mjlog") - 24] |= 1
    (tmp_path / "x.zip").write_bytes(data)
    raws, quarantine = read_zip(tmp_path)
    assert [raw.id for raw in raws] == ["b"]
    assert "encrypted" in quarantine.entries[0].reason


def test_a_bomb_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "FREE_UNPACKED_BYTES", 1000)
    (tmp_path / "x.zip").write_bytes(zip_of({"0.mjlog": bytes(8 * 1024 * 1024), **FILES}))
    raws, quarantine = read_zip(tmp_path)
    assert raws == []
    assert "unpacks to over 500 times its size" in quarantine.entries[0].reason


def test_a_giant_directory_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "MAX_DIRECTORY_BYTES", 100)
    (tmp_path / "x.zip").write_bytes(zip_of(FILES))
    _, quarantine = read_zip(tmp_path)
    assert "directory has over 100 bytes" in quarantine.entries[0].reason


def test_damaged_archives_end_in_entries_or_records(tmp_path: Path) -> None:
    rng = random.Random(1)
    sound = zip_of(FILES)
    for _ in range(500):
        data = bytearray(sound)
        for _ in range(rng.choice((1, 1, 3))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        (tmp_path / "x.zip").write_bytes(data)
        raws, quarantine = read_zip(tmp_path / "x.zip")
        assert len(raws) + quarantine.count <= 2 + len(FILES)
