from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.repository import REPOSITORY

SCRIPT = REPOSITORY / "infra" / "setup" / "install.sh"


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("setup") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


def make_wheel(folder: Path, name: str) -> None:
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": "NUMBER = 7\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


def install(venv: Path, wheels: Path, requirements: str) -> subprocess.CompletedProcess[str]:
    file = wheels / "requirements.lock"
    file.write_text(requirements)
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run([str(SCRIPT), str(venv), str(file)], env=environment, text=True, capture_output=True)


def test_setup_installs_the_pinned_packages_compiled_and_says_so(venv: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path, "kakan")
    done = install(venv, tmp_path, "# a comment\nkakan==1.0\n")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("installing 1 packages (torch, ray, mlflow, …) into ")
    assert lines[-1] == "installed 1 packages"
    assert list(venv.rglob("__pycache__/kakan.*.pyc"))


def test_a_package_that_is_not_there_is_named(venv: Path, tmp_path: Path) -> None:
    done = install(venv, tmp_path, "minkan==1.0\n")
    assert done.returncode == 1
    assert "No matching distribution found for minkan==1.0" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("then run make setup again")
