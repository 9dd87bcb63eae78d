"""Bytes of record files are unpacked by their first bytes, cut into lines and members, and bounded."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx.games.riichi.archive import record_stream as streams
from suphx.games.riichi.archive.raw_record import RawRecord, iter_texts
from suphx.games.riichi.records.quarantine import UNREADABLE, Quarantine
from tests.games.riichi.builders.packed_files import tar_of, zip_of

PACKS = [gzip.compress, lzma.compress, bz2.compress]


def source(data: bytes) -> io.BufferedIOBase:
    return streams.unpacked(io.BufferedReader(io.BytesIO(data)))


def test_the_share_rises_to_the_whole(tmp_path: Path) -> None:
    table = b"".join(b"%d\t\t<a/>\n" % number for number in range(100_000))
    members = {f"{number}.mjlog": b"<a/>" * 100_000 for number in range(3)}
    contents = {
        "a.mjlog": b"<a/>", "games.tsv": table, "broken.tsv.xz": lzma.compress(table)[:-200],
        "two.tar": tar_of(members), "two.zip": zip_of(members, zipfile.ZIP_STORED),
    }  # fmt: skip
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    read, quarantine = streams.ReadShare(), Quarantine()
    assert read.share == 0
    shares = [read.share for _ in iter_texts([tmp_path], quarantine=quarantine, read=read)]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1
    assert read.share == 1
    assert quarantine.count == 1


@pytest.mark.parametrize("pack", [bytes, *PACKS])
def test_packed_files_are_known_by_their_first_bytes(pack: Callable[[bytes], bytes]) -> None:
    assert streams.read_bounded(source(pack(b"hello\n"))) == b"hello\n"
    assert streams.read_bounded(source(pack(b""))) == b""
    assert streams.read_bounded(source(gzip.compress(pack(b"hello\n")))) == b"hello\n"


def test_what_is_packed_three_times_is_named() -> None:
    with pytest.raises(streams.OtherFormat, match="packed over 2 times: unpack it"):
        source(gzip.compress(bz2.compress(lzma.compress(b"hello\n"))))


def test_a_record_is_given_up_at_the_limit() -> None:
    assert streams.read_bounded(source(gzip.compress(bytes(streams.MAX_RECORD_BYTES + 1)))) is None
    assert streams.read_bounded(source(bytes(streams.MAX_RECORD_BYTES))) == bytes(streams.MAX_RECORD_BYTES)


@pytest.mark.parametrize("pack", [*PACKS, lambda data: gzip.compress(gzip.compress(data))])
def test_a_bomb_is_given_up_by_its_ratio(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "FREE_UNPACKED_BYTES", 100_000)
    bomb = pack(b"\n" * 10_000_000)
    assert len(bomb) < 10_000_000 // streams.MAX_UNPACKED_RATIO
    with pytest.raises(OSError, match="unpacks to over 500 times its size"):
        list(streams.iter_lines(source(bomb)))


@pytest.mark.parametrize("pack", PACKS)
def test_joined_packed_files_are_read_on(pack: Callable[[bytes], bytes]) -> None:
    assert streams.read_bounded(source(pack(b"a") + pack(b"") + pack(b"b"))) == b"ab"


@pytest.mark.parametrize("pack", PACKS)
def test_damage_is_an_os_error(pack: Callable[[bytes], bytes]) -> None:
    data = pack(b"some text " * 1000)
    for broken in (data[:-9], data[:20], data[:30] + b"\x00\xff\x00" + data[33:]):
        with pytest.raises(OSError, match=r"damaged or encrypted|CRC|Invalid data"):
            streams.read_bounded(source(broken))


def test_lines_are_numbered_and_a_long_one_is_skipped_alone() -> None:
    long = b"x" * (streams.MAX_RECORD_BYTES + 1)
    lines = list(streams.iter_lines(source(b"a\n\n" + long + b"\nb\n" + long[1:] + b"\nlast")))
    numbers = [(line.number, line.data and len(line.data)) for line in lines]
    assert numbers == [(1, 1), (3, None), (4, 1), (5, streams.MAX_RECORD_BYTES), (6, 4)]
    assert [line.data for line in streams.iter_lines(source(b"a\n" + long))] == [b"a", None]


LONG = f"{'folder/' * 40}ゲーム.mjlog"
CONTENTS = {"a.mjlog": b"<a/>", LONG: b"x" * 700, "empty.mjlog": b"", "x/b.mjlog": b"b" * 512}


def read_tar(data: bytes) -> dict[str, bytes]:
    return {member.name: member.file.read() for member in streams.iter_tar_members(io.BytesIO(data))}


def with_header(place: int, value: bytes, data: bytes | None = None) -> bytes:
    """Return an archive with other bytes in the header of a.mjlog, the second member, and a sum that fits."""
    data = data or tar_of({"a.mjlog": b"<a/>"})
    header = bytearray(data[512:1024])
    header[place : place + len(value)] = value
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header)
    return data[:512] + bytes(header) + data[1024:]


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_files_of_a_tar_come_in_order_with_names_of_any_length(form: int) -> None:
    data = tar_of(CONTENTS, form)
    assert list(read_tar(data).items()) == list(CONTENTS.items())
    assert [member.name for member in streams.iter_tar_members(io.BytesIO(data))] == list(
        CONTENTS
    )  # nothing is read of them


def test_a_tar_without_its_end_mark_is_cut_off() -> None:
    data = tar_of(CONTENTS)
    for length in (0, 100, 512, 1100, data.rindex(b"link.mjlog")):
        with pytest.raises(OSError, match="cut off"):
            read_tar(data[:length])


@pytest.mark.parametrize("size", [b"77777777777\0", b"\x80" + b"\x7f" * 11, b"\xff" * 12, b"12x\0", b"99\0"])
def test_a_size_that_a_tar_does_not_have_is_neither_trusted_nor_waited_for(size: bytes) -> None:
    with pytest.raises(OSError, match=r"damaged|cut off"):
        read_tar(with_header(124, size))


def test_a_header_whose_sum_is_wrong_is_refused_wherever_it_stands() -> None:
    data = bytearray(tar_of(CONTENTS))
    data[data.rindex(b"x/b.mjlog")] ^= 1
    members = streams.iter_tar_members(io.BytesIO(data))
    assert [next(members).name for _ in range(3)] == ["a.mjlog", LONG, "empty.mjlog"]
    with pytest.raises(OSError, match="bad checksum"):
        next(members)


def test_sparse_files_are_refused() -> None:
    with pytest.raises(OSError, match=r"a\.mjlog is a sparse file"):
        read_tar(with_header(156, b"S"))


FILES = {"a.mjlog": b"<mjloggm/>", "folder/b.xml": b"<mjloggm></mjloggm>" * 100, "notes.txt": b"hello"}


def read_zip(folder: Path, data: bytes | bytearray) -> tuple[list[RawRecord], Quarantine]:
    (folder / "x.zip").write_bytes(data)
    quarantine = Quarantine()
    return list(iter_texts([folder], quarantine=quarantine)), quarantine


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_of_a_zip_are_read_in_order(tmp_path: Path, method: int) -> None:
    raws, quarantine = read_zip(tmp_path, zip_of(FILES, method))
    assert [(raw.id, raw.source, raw.text) for raw in raws] == [
        ("a", f"{tmp_path}/x.zip/a.mjlog", FILES["a.mjlog"].decode()),
        ("b", f"{tmp_path}/x.zip/folder/b.xml", FILES["folder/b.xml"].decode()),
    ]
    assert quarantine.count == 0


@pytest.mark.parametrize("data", [b"", b"hello", zip_of(FILES)[:-30], b"PK\x05\x06"])
def test_what_is_no_zip_archive_is_named(tmp_path: Path, data: bytes) -> None:
    raws, quarantine = read_zip(tmp_path, data)
    assert raws == []
    assert quarantine.by_reason == {UNREADABLE: 1}
    assert "not a zip archive, or cut off" in quarantine.entries[0].reason


def test_an_encrypted_member_of_a_zip_is_set_aside_alone(tmp_path: Path) -> None:
    data = bytearray(zip_of(FILES))
    entry = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)  # of a.mjlog, behind the folder's
    data[entry + 8] |= 1
    data[data.index(b"a.mjlog") - 24] |= 1
    raws, quarantine = read_zip(tmp_path, data)
    assert [raw.id for raw in raws] == ["b"]
    assert "encrypted" in quarantine.entries[0].reason
