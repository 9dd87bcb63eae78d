from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest

from suphx.games.riichi.records.archive import zip_stream
from suphx.games.riichi.records.archive.archive import Quarantine
from suphx.games.riichi.records.archive.raw_record import RawRecord, iter_texts
from suphx.games.riichi.records.archive.zip_stream import iter_zip_members
from suphx.games.riichi.records.log.record_error import UNREADABLE

FILES = {"a.mjlog": b"<mjloggm/>", "folder/b.xml": b"<mjloggm></mjloggm>" * 100, "notes.txt": b"hello"}


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("folder/", b"")
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


def read(path: Path) -> tuple[list[RawRecord], Quarantine]:
    quarantine = Quarantine()
    return list(iter_texts([path], quarantine=quarantine)), quarantine


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_are_read_in_order(tmp_path: Path, method: int) -> None:
    (tmp_path / "x.zip").write_bytes(zip_of(FILES, method))
    members = iter_zip_members(tmp_path / "x.zip")
    assert [(member.name, member.read(10**6)) for member in members] == list(FILES.items())
    raws, quarantine = read(tmp_path)
    assert [(raw.id, raw.source) for raw in raws] == [
        ("a", f"{tmp_path}/x.zip/a.mjlog"),
        ("b", f"{tmp_path}/x.zip/folder/b.xml"),
    ]
    assert quarantine.count == 0


def test_an_archive_in_an_archive_is_set_aside_alone(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zip_of({"inner.zip": zip_of(FILES), **FILES}))
    raws, quarantine = read(tmp_path)
    assert len(raws) == 2
    assert [entry.reason for entry in quarantine.entries] == ["an archive in an archive: unpack it"]


@pytest.mark.parametrize("data", [b"", b"hello", zip_of(FILES)[:-30], b"PK\x05\x06"])
def test_what_is_no_zip_archive_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    raws, quarantine = read(tmp_path)
    assert raws == []
    assert quarantine.by_reason == {UNREADABLE: 1}
    assert "not a zip archive, or cut off" in quarantine.entries[0].reason


def test_an_encrypted_member_is_set_aside_alone(tmp_path: Path) -> None:
    data = bytearray(zip_of(FILES))
    entry = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)  # of a.mjlog, behind the folder's
    data[entry + 8] |= 1
    data[data.index(b"a.mjlog") - 24] |= 1
    (tmp_path / "x.zip").write_bytes(data)
    raws, quarantine = read(tmp_path)
    assert [raw.id for raw in raws] == ["b"]
    assert "encrypted" in quarantine.entries[0].reason


def test_a_bomb_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_stream, "FREE_UNPACKED_BYTES", 1000)
    (tmp_path / "x.zip").write_bytes(zip_of({"0.mjlog": bytes(8 * 1024 * 1024), **FILES}))
    raws, quarantine = read(tmp_path)
    assert raws == []
    assert "unpacks to over 500 times its size" in quarantine.entries[0].reason


def test_a_giant_directory_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_stream, "MAX_DIRECTORY_BYTES", 100)
    (tmp_path / "x.zip").write_bytes(zip_of(FILES))
    _, quarantine = read(tmp_path)
    assert "directory has over 100 bytes" in quarantine.entries[0].reason


def test_damaged_archives_end_in_entries_or_records(tmp_path: Path) -> None:
    rng = random.Random(1)
    sound = zip_of(FILES)
    for _ in range(500):
        data = bytearray(sound)
        for _ in range(rng.choice((1, 1, 3))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        (tmp_path / "x.zip").write_bytes(data)
        raws, quarantine = read(tmp_path / "x.zip")
        assert len(raws) + quarantine.count <= 2 + len(FILES)
