from __future__ import annotations

import io
import tarfile
from collections.abc import Callable

import pytest

from suphx.games.riichi.records.archive.tar_stream import MAX_HEADER_BYTES, iter_members

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


def read(data: bytes) -> dict[str, bytes]:
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
    assert list(read(tar_of(CONTENTS, form)).items()) == list(CONTENTS.items())


def test_names_in_two_parts_are_joined() -> None:
    name = f"{'f' * 90}/{'g' * 90}.mjlog"
    assert read(tar_of({name: b"1"}, tarfile.USTAR_FORMAT)) == {name: b"1"}


def test_what_is_not_read_of_a_member_is_passed_over() -> None:
    data = tar_of(CONTENTS)
    assert [member.name for member in iter_members(io.BytesIO(data))] == list(CONTENTS)


def test_an_archive_without_its_end_mark_is_cut_off() -> None:
    data = tar_of(CONTENTS)
    for length in (0, 100, 512, 1100, data.rindex(b"link.mjlog")):
        with pytest.raises(OSError, match="its end mark is missing"):
            read(data[:length])


@pytest.mark.parametrize("size", [b"77777777777", b"\x80\x00\x00\x00" + b"\xff" * 8, b"\x80" + b"\xff" * 11])
def test_a_size_beyond_the_end_is_neither_trusted_nor_waited_for(size: bytes) -> None:
    with pytest.raises(OSError, match="its end mark is missing"):
        read(with_size(size))


@pytest.mark.parametrize("size", [b"-1", b"\xff" * 12, b"12x", b"99"])
def test_a_size_that_is_no_number_is_refused(size: bytes) -> None:
    with pytest.raises(OSError, match="is not an octal number"):
        read(with_size(size))


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
    assert read(data[:660] + b"%06o\x00 " % signed + data[668:]) == {"ä.mjlog": b"1"}


def test_a_name_of_gigabytes_is_refused_before_it_is_read() -> None:
    def change(header: bytearray) -> None:
        header[124:136] = b"%011o\x00" % (MAX_HEADER_BYTES + 1)

    data = tar_of({LONG: b"1"}, tarfile.GNU_FORMAT)
    with pytest.raises(OSError, match="a name of 65,537 bytes"):
        read(resealed(data, 512, change))


def test_thousands_of_headers_in_a_row_are_no_recursion() -> None:
    name = tar_of({LONG: b"1"}, tarfile.GNU_FORMAT)[512:1536]
    assert name[156:157] == b"L"
    assert read(tar_of({})[:512] + name * 5000 + tar_of({"short": b"1"})[512:]) == {LONG: b"1"}


@pytest.mark.parametrize("record", [b"999999 path=a\n", b"0 path=a\n", b"no number\n", b"12 size=1e9\n"])
def test_a_damaged_pax_header_is_refused(record: bytes) -> None:
    def change(header: bytearray) -> None:
        header[156:157] = b"x"

    data = tar_of({"a.mjlog": record})
    with pytest.raises(OSError, match="damaged pax header"):
        read(resealed(data, 512, change))


def test_a_size_in_a_pax_header_counts() -> None:
    info = tarfile.TarInfo("a.mjlog")
    info.size, info.pax_headers = 4, {"size": "4"}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(info, io.BytesIO(b"<a/>"))
    assert read(file.getvalue()) == {"a.mjlog": b"<a/>"}


def test_sparse_files_are_refused() -> None:
    def change(header: bytearray) -> None:
        header[156:157] = b"S"

    with pytest.raises(OSError, match=r"a\.mjlog is a sparse file"):
        read(resealed(tar_of({"a.mjlog": b"1"}), 512, change))
    sparse = tarfile.TarInfo("a.mjlog")
    sparse.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(sparse)
    with pytest.raises(OSError, match="has a sparse file"):
        read(file.getvalue())
