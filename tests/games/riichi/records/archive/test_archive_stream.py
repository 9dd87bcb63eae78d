from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx.games.riichi.archive import record_stream
from suphx.games.riichi.archive.raw_record import RawRecord, iter_texts
from suphx.games.riichi.archive.record_stream import MAX_HEADER_BYTES, iter_members, iter_zip_members
from suphx.games.riichi.records.quarantine import UNREADABLE, Quarantine

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
