from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import numba
import pytest

from tests.repository import REPOSITORY

SCRIPT = REPOSITORY / "infra" / "setup" / "install.sh"


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("setup") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


def make_wheel(folder: Path, name: str, version: str = "1.0", requires: str = "") -> str:
    """Write a wheel with one module; return its pin with its hash."""
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        f"{name}.py": "NUMBER = 7\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, text in files.items():
            wheel.writestr(inner, text)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def make_sdist(folder: Path, name: str) -> str:
    """Write a source distribution with one module; return its pin with its hash."""
    path = folder / f"{name}-1.0.tar.gz"
    files = {
        "setup.py": f"from setuptools import setup\nsetup(name={name!r}, version='1.0', py_modules=[{name!r}])\n",
        f"{name}.py": "NUMBER = 7\n",
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
    }
    with tarfile.open(path, "w:gz") as archive:
        for inner, text in files.items():
            member = tarfile.TarInfo(f"{name}-1.0/{inner}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def wheel_of_setuptools(folder: Path) -> str:
    """Write a wheel of the installed setuptools; return its pin with its hash."""
    installed = distribution("setuptools")
    path = folder / f"setuptools-{installed.version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file in installed.files or []:
            if file.suffix != ".pyc" and not file.parts[0].startswith(".."):
                wheel.write(str(file.locate()), str(file))
    return f"setuptools=={installed.version} \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def install(venv: Path, wheels: Path, *locks: str) -> subprocess.CompletedProcess[str]:
    files = [wheels / f"{number}.lock" for number in range(len(locks))]
    for file, text in zip(files, locks, strict=True):
        file.write_text(text)
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}
    command = [str(SCRIPT), str(venv), *map(str, files)]
    return subprocess.run(command, env=environment, text=True, capture_output=True)


def test_setup_installs_the_pinned_packages_compiled_and_says_so(venv: Path, tmp_path: Path) -> None:
    pin = make_wheel(tmp_path, "kakan")
    done = install(venv, tmp_path, f"# a comment\n{pin}")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("installing 1 packages (torch, ray, mlflow, …) into ")
    assert lines[-1] == "installed 1 packages"
    assert list(venv.rglob("__pycache__/kakan.*.pyc"))


def test_a_file_with_another_hash_is_refused(venv: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, "daburi")
    done = install(venv, tmp_path, f"daburi==1.0 --hash=sha256:{'0' * 64}\n")
    assert done.returncode == 1
    assert "not the file that the lock names" in done.stderr.splitlines()[-1]
    assert not list(venv.rglob("daburi.py"))


def test_a_lock_that_lacks_a_dependency_is_refused(venv: Path, tmp_path: Path) -> None:
    pin = make_wheel(tmp_path, "rinshan", requires="houtei")
    done = install(venv, tmp_path, pin)
    assert done.returncode == 1
    assert "rinshan 1.0 requires houtei, which is not installed" in done.stderr
    subprocess.run([str(venv / "bin" / "pip"), "uninstall", "--quiet", "--yes", "rinshan"], check=True)


@pytest.mark.slow
def test_torch_without_cuda_is_taken_where_pip_finds_it_and_only_with_its_hash(venv: Path, tmp_path: Path) -> None:
    cuda = make_wheel(tmp_path, "torch", "2.0")
    elsewhere = tmp_path / "cpu"
    elsewhere.mkdir()
    cpu = make_wheel(elsewhere, "torch", "2.0+cpu")
    done = install(venv, tmp_path, make_wheel(tmp_path, "kakan"), cpu, cuda)
    assert done.returncode == 0, done.stderr
    assert list(venv.rglob("torch-2.0.dist-info"))
    (tmp_path / "torch-2.0+cpu-py3-none-any.whl").write_bytes(
        (elsewhere / "torch-2.0+cpu-py3-none-any.whl").read_bytes()
    )
    done = install(venv, tmp_path, make_wheel(tmp_path, "kakan"), cpu, cuda)
    assert done.returncode == 0, done.stderr
    assert list(venv.rglob("torch-2.0+cpu.dist-info"))
    subprocess.run([str(venv / "bin" / "pip"), "uninstall", "--quiet", "--yes", "torch"], check=True)
    other = f"torch==2.0+cpu --hash=sha256:{'0' * 64}\n"
    done = install(venv, tmp_path, make_wheel(tmp_path, "kakan"), other, cuda)
    assert done.returncode == 1
    assert "pip refuses the wheel of torch without CUDA" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_package_without_a_wheel_is_built_with_the_setuptools_of_the_lock(venv: Path, tmp_path: Path) -> None:
    """That of a new environment of Python 3.11 cannot build wheels."""
    lock = make_sdist(tmp_path, "suukantsu") + wheel_of_setuptools(tmp_path)
    done = install(venv, tmp_path, lock)
    assert done.returncode == 0, (venv / "install.log").read_text()
    assert list(venv.rglob("suukantsu.py"))


def test_what_is_installed_first_compiles_all_kernels_that_need_no_torch() -> None:
    """Everything else is missing for the program."""
    text = SCRIPT.read_text(encoding="utf-8").replace("\\\n", " ")
    first = re.findall(r"^install_first (.*)$", text, re.MULTILINE)[0].split()
    program = f"""
import re, sys
from importlib.metadata import packages_distributions

first = {[*first, "suphx"]}
for module, names in packages_distributions().items():
    if not any(re.sub("[-_.]+", "-", name).lower() in first for name in names):
        sys.modules[module] = None
from suphx.training.warmup import KERNEL_GROUPS, WITHOUT_TORCH

for group in WITHOUT_TORCH:
    KERNEL_GROUPS[group]()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
def test_kernels_of_the_first_games_are_compiled_during_the_installation(
    venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "cache"))
    (site,) = venv.glob("lib/python3*/site-packages")
    (site / "numba.pth").write_text(str(Path(numba.__file__).parents[1]))  # as if it had been installed first
    try:
        done = install(venv, tmp_path, make_wheel(tmp_path, "chankan"))
    finally:
        (site / "numba.pth").unlink()
    assert done.returncode == 0, done.stderr
    compiled = (venv / "kernels.log").read_text().split("\n")
    assert {"engine", "hands", "scripted games"} <= set(compiled)
    assert list((tmp_path / "cache" / "kernels").glob("suphx.games.riichi.simulator-*"))


@pytest.fixture
def other_python(tmp_path: Path) -> Path:
    """A Python of another version, as far as the scripts ask it."""
    program = tmp_path / "python3"
    program.write_text("#!/bin/sh\necho 3.11.4\n")
    program.chmod(0o755)
    return program


def test_a_python_of_another_version_is_refused_before_anything_is_made(tmp_path: Path, other_python: Path) -> None:
    for name in ("Makefile", "infra/setup/install.sh", "infra/setup/check_python.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    for python, told in ((other_python, "is 3.11.4"), (tmp_path / "none", "is not there, or does not start")):
        done = subprocess.run(
            ["make", ".venv/bin/pip", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode != 0
        assert f"Python 3.11.5 to 3.14 is needed, but {python} {told}: run make setup PYTHON=" in done.stderr
        assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("repository", ["", "https://example.org/team/suphx/"])
def test_a_published_readme_has_addresses_instead_of_paths(repository: str) -> None:
    command = [sys.executable, "-m", "hatchling", "metadata"]
    environment = {**os.environ, "SUPHX_REPOSITORY": repository}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    metadata = json.loads(done.stdout)
    targets = re.findall(r'\]\(([^)]+)\)|(?:src|srcset)="([^"]+)"', metadata["readme"]["text"])
    paths = [path for link, picture in targets if not (path := link or picture).startswith("http")]
    if not repository:
        assert paths
        assert metadata.get("urls", {}) == {}
        return
    assert paths == []
    address = re.compile(rf"{repository}(?:blob|raw)/v{re.escape(metadata['version'])}/([^#]+)")
    own = [found[1] for target in targets if (found := address.match("".join(target)))]
    assert len(own) > 30
    assert [path for path in own if not (REPOSITORY / path).exists()] == []
    assert metadata["urls"]["Repository"] == repository.rstrip("/")
