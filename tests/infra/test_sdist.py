"""The source distribution has all that the wheel is built from."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from tests.repository import REPOSITORY


def build(target: str, source: Path, folder: Path) -> Path:
    """Build a distribution of the sources into ``folder``; return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.iterdir()
    return built


def test_the_wheel_is_the_same_built_from_the_source_distribution(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", REPOSITORY, tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path / "sources", filter="data")
    (sources,) = (tmp_path / "sources").iterdir()
    wheels = [build("wheel", place, tmp_path / name) for name, place in (("a", REPOSITORY), ("b", sources))]
    names = [sorted(zipfile.ZipFile(wheel).namelist()) for wheel in wheels]
    assert names[0] == names[1]
    assert "suphx_platform/chart/Chart.yaml" in names[0]
