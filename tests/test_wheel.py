"""The built wheel works without the checkout: commands, recipes, pages, the chart and ``import suphx``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.repository import REPOSITORY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the wheel is unpacked, as pip does it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def run(installed: Path, folder: Path, *arguments: str) -> str:
    """Run Python in another folder with the wheel's packages before all others; return its output."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def test_recipes_come_with_it(installed: Path, tmp_path: Path) -> None:
    found = json.loads(run(installed, tmp_path, "-m", "suphx_cli.cli", "recipes", "--json"))
    assert {"laptop", "self_play", "paper/rl_1"} <= {recipe["name"] for recipe in found["recipes"]}
    program = (
        "from pathlib import Path; from suphx_pipelines.recipe import recipe, recipe_lookup as lookup; "
        "print(lookup.shipped_folder(), recipe.load_recipe(Path('paper/rl_1')).name)"
    )
    assert run(installed, tmp_path, "-c", program).split() == [str(installed / "suphx_pipelines" / "recipes"), "rl_1"]


def test_its_python_api_plays_and_its_viewer_shows_the_game(installed: Path, tmp_path: Path) -> None:
    program = "import suphx; print(suphx.__file__, suphx.save_games(suphx.simulate('tsumogiri'), 'records'))"
    assert run(installed, tmp_path, "-c", program).split() == [str(installed / "suphx" / "__init__.py"), "1"]
    run(installed, tmp_path, "-m", "suphx_cli.cli", "view", "records", "--no-browser", "--out", "game.html")
    assert (tmp_path / "game.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_its_chart_is_rendered_for_a_launch(installed: Path, tmp_path: Path) -> None:
    program = (
        "from suphx_platform.cluster import chart; "
        "print(chart.FOLDER, chart.rendered_template(None, release=None, namespace=None)['kind'])"
    )
    assert run(installed, tmp_path, "-c", program).split() == [str(installed / "suphx_platform" / "chart"), "ConfigMap"]
