"""How far record files are read: to the end of every form, whatever is inside."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from suphx.games.riichi.records.archive.archive import Quarantine, parse_all
from suphx.games.riichi.records.archive.raw_record import iter_texts
from suphx.games.riichi.records.archive.read_share import ReadShare
from suphx.games.riichi.records.archive.record_writer import write_records
from tests.games.riichi.builders.random_game import random_game


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
