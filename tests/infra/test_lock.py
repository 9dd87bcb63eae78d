"""The locks: what they pin, and that they agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import metadata, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.infra.setup_module import load_setup_module
from tests.repository import REPOSITORY


@pytest.fixture(scope="module")
def components(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    output = tmp_path_factory.mktemp("sbom") / "sbom.json"
    script = REPOSITORY / "infra" / "setup" / "sbom.sh"
    subprocess.run([str(script), str(Path(sys.executable).parent), "cpu", str(output)], check=True, capture_output=True)
    sbom = json.loads(output.read_text(encoding="utf-8"))
    assert sbom["bomFormat"] == "CycloneDX"
    assert sbom["metadata"]["component"]["name"] == "suphx"
    return {component["name"]: component for component in sbom["components"]}


def test_every_locked_package_of_the_image_is_in_it_and_no_other(components: dict[str, dict[str, Any]]) -> None:
    locks = [REPOSITORY / "infra" / "setup" / name for name in ("image.lock", "torch-cpu.lock")]
    lines = [line for lock in locks for line in lock.read_text(encoding="utf-8").splitlines() if "==" in line]
    assert {(name, component["version"]) for name, component in components.items()} == {
        tuple(line.split()[0].split("==")) for line in lines
    }
    assert "pytest" not in components


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


ALL_LOCK = REPOSITORY / "requirements.lock"
IMAGE_LOCK = REPOSITORY / "infra" / "setup" / "image.lock"
TORCH_CPU = REPOSITORY / "infra" / "setup" / "torch-cpu.lock"
TORCH_CUDA = REPOSITORY / "infra" / "setup" / "torch-cuda.lock"


def read_lock(path: Path) -> dict[str, str]:
    """The entries of a lock by name; a line that belongs to none of them is an error."""
    text = path.read_text(encoding="utf-8")
    entries: dict[str, str] = load_setup_module("lock").read_entries(text)
    comments = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    assert comments + "".join(entries.values()) == text
    return entries


@pytest.mark.parametrize("path", [ALL_LOCK, IMAGE_LOCK, TORCH_CPU, TORCH_CUDA], ids=lambda path: path.name)
def test_every_package_has_one_exact_version_and_hashes(path: Path) -> None:
    for entry in read_lock(path).values():
        first, *hashes = entry.rstrip("\n").split(" \\\n")
        assert re.fullmatch(r"[a-z0-9-]+==[A-Za-z0-9.]+(\+cpu)?( ; .+)?", first), first
        assert hashes
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", text) for text in hashes)


def test_the_images_have_the_versions_and_files_of_make_setup() -> None:
    assert read_lock(IMAGE_LOCK).items() <= read_lock(ALL_LOCK).items()


def test_both_builds_of_torch_have_one_version_and_the_others_stand_in_one_lock_only() -> None:
    cuda = read_lock(TORCH_CUDA)
    cpu_version = read_lock(TORCH_CPU)["torch"].split()[0]
    assert cpu_version == cuda["torch"].split()[0] + "+cpu"
    assert cuda.keys().isdisjoint(read_lock(ALL_LOCK))


def test_every_dependency_of_an_image_is_in_it() -> None:
    locked = read_lock(IMAGE_LOCK).keys() | {"torch"}
    for name in locked:
        for text in requires(name) or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                needed_name = canonicalize_name(needed.name)
                assert needed_name in locked or needed_name in read_lock(TORCH_CUDA), f"{name} needs {needed_name}"


def test_packages_of_the_image_accept_the_python_of_debian_12() -> None:
    for name in read_lock(IMAGE_LOCK):
        accepted = metadata(name).json.get("requires_python")
        assert accepted is None or SpecifierSet(str(accepted)).contains("3.11.2"), f"{name} needs Python {accepted}"


def test_a_new_version_of_torch_asks_for_the_hashes_of_its_wheels_without_cuda() -> None:
    lock = load_setup_module("lock")
    lock.check_cpu_lock(read_lock(TORCH_CUDA))
    with pytest.raises(SystemExit, match=r"torch is now 9\.9\.9: write torch==9\.9\.9\+cpu into infra/setup/torch-cpu"):
        lock.check_cpu_lock({"torch": "torch==9.9.9 \\\n    --hash=sha256:0\n"})
