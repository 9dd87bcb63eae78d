from __future__ import annotations

import gzip
import io
import lzma

import pytest

from suphx.riichi import record_stream
from suphx.riichi.record_stream import DAMAGED_STREAM, MAX_RECORD_BYTES, decompressed, iter_lines, read_bounded


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_packed_files_are_known_by_their_first_bytes(pack: type[bytes]) -> None:
    assert read_bounded(decompressed(io.BytesIO(pack(b"hello\n")))) == b"hello\n"
    assert read_bounded(decompressed(io.BytesIO(pack(b"")))) == b""


def test_a_bomb_is_given_up_at_the_limit() -> None:
    bomb = gzip.compress(bytes(MAX_RECORD_BYTES + 1))
    assert len(bomb) < 100_000
    assert read_bounded(decompressed(io.BytesIO(bomb))) is None
    assert read_bounded(io.BytesIO(bytes(MAX_RECORD_BYTES))) == bytes(MAX_RECORD_BYTES)


def test_lines_are_numbered_and_a_long_one_is_skipped_alone() -> None:
    long = b"x" * (MAX_RECORD_BYTES + 1)
    lines = list(iter_lines(io.BytesIO(b"a\n\n" + long + b"\nb\nlast")))
    assert [(line.number, line.data) for line in lines] == [(1, b"a"), (2, b""), (3, None), (4, b"b"), (5, b"last")]
    assert [line.data for line in iter_lines(io.BytesIO(b"a\n" + long))] == [b"a", None]


def test_lines_across_pieces_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "_PIECE_BYTES", 3)
    lines = [line.data for line in iter_lines(io.BytesIO(b"abcdefg\nhi\n\njklm"))]
    assert lines == [b"abcdefg", b"hi", b"", b"jklm"]


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_stream, "_MAX_SKIPPED_BYTES", 1000)
    with pytest.raises(OSError, match="line 1 is longer"):
        list(iter_lines(io.BytesIO(bytes(300_000))))


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_damage_is_one_of_the_named_errors(pack: type[bytes]) -> None:
    data = pack(b"some text " * 1000)
    for broken in (data[:-9], data[:20], data[:30] + b"\x00\xff\x00" + data[33:]):
        with pytest.raises(DAMAGED_STREAM):
            read_bounded(decompressed(io.BytesIO(broken)))
