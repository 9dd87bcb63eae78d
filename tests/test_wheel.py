"""The built wheel, installed by pip into empty environments: commands, recipes, pages, chart and ``import suphx``.

pip takes the packages from where it is set up to take them, in the versions of the locks.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from suphx.extras import EXTRA_OF
from tests.core_program import CORE
from tests.helm.helm_program import with_helm
from tests.repository import REPOSITORY

pytestmark = pytest.mark.slow

LOCKS = ("requirements.lock", "infra/setup/torch-cuda.lock")
"""Versions; a build of torch without CUDA is taken where pip finds one, as `make setup` does."""
WITHOUT_EXTRAS = {"suphx.environments.riichi_v0": "pettingzoo is not installed: run pip install pettingzoo"}
"""Modules that need an extra -> how their error begins without it."""


class Installed:
    """An environment with the wheel, its dependencies and those of an extra, and nothing else."""

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        self.wheel = wheel
        self.bin = folder / "venv" / "bin"
        self._constraints = folder / "constraints.txt"
        locked = "".join((REPOSITORY / lock).read_text(encoding="utf-8") for lock in LOCKS)
        pins = re.findall(r"^[\w.-]+==[^ ;\\]+", locked, re.MULTILINE)
        self._constraints.write_text("\n".join(pins), encoding="utf-8")
        venv.create(folder / "venv", with_pip=True)
        self.pip(f"{wheel}[{extra}]" if extra else str(wheel))

    @property
    def packages(self) -> Path:
        return next(self.bin.parent.glob("lib/python3*/site-packages"))

    def pip(self, requirement: str) -> None:
        command = ["install", "--quiet", "--no-compile", "--disable-pip-version-check", "-c", str(self._constraints)]
        self._call([str(self.bin / "pip"), *command, requirement], self.bin)

    def run(self, folder: Path, program: str, *arguments: str, returncode: int = 0) -> str:
        """Run a program of the environment in another folder; return its output, or its messages if it must fail."""
        done = self._call([str(self.bin / program), *arguments], folder, returncode)
        return done.stderr if returncode else done.stdout

    def _call(self, command: list[str], folder: Path, returncode: int = 0) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        done = subprocess.run(
            command, cwd=folder, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert done.returncode == returncode, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with the platform, as pip installs it."""
    return Installed(tmp_path_factory.mktemp("installed"), wheel, "platform")


def test_the_core_plays_and_shows_games(wheel: Path, tmp_path: Path) -> None:
    core = Installed(tmp_path, wheel)
    others = set(EXTRA_OF) - {"packaging"}  # lazy-loader brings it
    assert not others & {path.name for path in core.packages.iterdir()}
    core.run(tmp_path, "python", "-c", CORE)
    assert "pip install 'suphx[platform]'" in core.run(tmp_path, "suphx", "run", "laptop", returncode=2)
    core.pip("suphx[tables]")  # the extra of what is installed, not a package of this name from an index
    table = "import suphx; print(suphx.games_table(suphx.simulate('tsumogiri')).to_pandas()['place'].max())"
    assert core.run(tmp_path, "python", "-c", table).split() == ["4"]


def test_its_dependencies_are_complete(installed: Installed, tmp_path: Path) -> None:
    assert "No broken requirements" in installed.run(tmp_path, "pip", "check")
    program = """
import importlib, json, pkgutil
failed = {}
for package in ("suphx", "suphx_platform", "suphx_pipelines", "suphx_cli"):
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, package + ".", onerror=lambda name: failed.setdefault(name, "package")):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            failed[module.name] = str(error)
print(json.dumps(failed))
"""
    failed = json.loads(installed.run(tmp_path, "python", "-c", program).splitlines()[-1])
    assert failed.keys() == WITHOUT_EXTRAS.keys(), failed
    assert all(failed[name].startswith(message) for name, message in WITHOUT_EXTRAS.items()), failed


def test_the_command_starts_and_finds_its_recipes(installed: Installed, tmp_path: Path) -> None:
    assert "usage: suphx" in installed.run(tmp_path, "suphx", "--help")
    found = json.loads(installed.run(tmp_path, "suphx", "recipes", "--json"))
    assert {"laptop", "self_play", "paper/rl_1"} <= {recipe["name"] for recipe in found["recipes"]}
    program = (
        "from pathlib import Path; from suphx_pipelines.recipe import recipe_file, recipe_kind; "
        "print(recipe_file.shipped_folder(), recipe_kind.load_run_recipe(Path('paper/rl_1')).name)"
    )
    shipped = installed.packages / "suphx_pipelines" / "recipes"
    assert installed.run(tmp_path, "python", "-c", program).split() == [str(shipped), "rl_1"]


def test_its_python_api_plays_and_its_viewer_shows_the_game(installed: Installed, tmp_path: Path) -> None:
    program = "import suphx; print(suphx.__file__, suphx.save_games(suphx.simulate('tsumogiri'), 'records'))"
    assert installed.run(tmp_path, "python", "-c", program).split() == [
        str(installed.packages / "suphx" / "__init__.py"),
        "1",
    ]
    installed.run(tmp_path, "suphx", "view", "records", "--no-browser", "--out", "game.html")
    assert (tmp_path / "game.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_preview_of_a_run_on_a_cluster_needs_helm(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    preview = ("launch", "reinforcement", "--preset", "small", "--dry-run=client")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "/usr/bin:/bin")
        assert "install Helm 3.18 or later" in installed.run(tmp_path, "suphx", *preview, returncode=1)
    monkeypatch.setenv("PATH", with_helm(tmp_path))
    assert "kind: RayJob" in installed.run(tmp_path, "suphx", *preview)
