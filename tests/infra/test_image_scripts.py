"""What the scripts for images do with buildah and debootstrap, which stand-ins replace here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.repository import REPOSITORY

SCRIPTS = REPOSITORY / "infra" / "docker"
SETTINGS = {"BASE", "MIRROR", "SECURITY_MIRROR", "REFRESH", "CPU_WHEELS", "TARGET", "MAKEFLAGS", "MFLAGS"}
"""Variables of the environment that the scripts and the Makefile read."""
BUILDAH = """#!/bin/sh
echo "$@" >>"$CALLS"
case $1 in
inspect) test -e "$BASE_EXISTS" ;;
from) echo container ;;
add) cp "$4/etc/apt/sources.list" "$SOURCES" ;;
esac
"""
DEBOOTSTRAP = """#!/bin/sh
mkdir -p "$3/etc/apt"
echo "deb $4 bookworm main" >"$3/etc/apt/sources.list"
"""


class Machine:
    """A folder with the stand-ins, and what they have noted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name, text in (("buildah", BUILDAH), ("debootstrap", DEBOOTSTRAP)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    def run(self, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {"CALLS": "calls", "BASE_EXISTS": "base", "SOURCES": "sources"}
        inherited = {name: text for name, text in os.environ.items() if name not in SETTINGS}
        variables = {name: str(self._folder / file) for name, file in own.items()}
        path = f"{self._folder}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [str(SCRIPTS / script), *arguments],
            env={**inherited, **variables, "PATH": path, **environment},
            capture_output=True,
            text=True,
        )

    def make_base(self) -> None:
        (self._folder / "base").touch()

    @property
    def calls(self) -> list[list[str]]:
        return [line.split() for line in (self._folder / "calls").read_text().splitlines()]

    @property
    def sources(self) -> list[str]:
        """The package sources of the base image; none if it was not built."""
        file = self._folder / "sources"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("refresh", ["", "1"])
def test_what_exists_is_built_again_only_if_it_is_asked_for(refresh: str, machine: Machine) -> None:
    machine.make_base()
    done = machine.run("image.sh", "cpu", REFRESH=refresh)
    assert done.returncode == 0, done.stderr
    assert bool(machine.sources) == bool(refresh)
    assert ("--no-cache" in machine.calls[-1]) == bool(refresh)
    assert machine.calls[-1][0] == "bud"


def test_an_image_for_gpus_never_gets_torch_without_cuda(machine: Machine) -> None:
    machine.make_base()
    done = machine.run("image.sh", "cuda", "--build-arg", "CPU_WHEELS=/wheels")
    assert done.returncode == 1
    assert "CPU_WHEELS installs torch without CUDA: omit it for suphx-cuda" in done.stderr
    assert machine.run("image.sh", "cpu", "--build-arg", "CPU_WHEELS=/wheels").returncode == 0
    assert machine.run("image.sh", "cuda").returncode == 0
    assert machine.run("image.sh", "cuda", "--build-arg", "CPU_WHEELS=", "--layers").returncode == 0


@pytest.mark.parametrize(
    ("settings", "torch"),
    [([], "cuda"), (["CPU_WHEELS=/wheels"], "cpu"), (["TARGET=cuda"], "cuda"), (["CPU_WHEELS=", "TARGET=cpu"], "cuda")],
)
def test_the_sbom_is_of_the_torch_that_the_image_gets(settings: list[str], torch: str) -> None:
    command = ["make", "--dry-run", "sbom", *settings]
    environment = {name: text for name, text in os.environ.items() if name not in SETTINGS}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    assert f"infra/setup/sbom.sh .venv/bin {torch} dist/sbom.json" in done.stdout
