"""The house rules that no other tool checks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repository import REPOSITORY, tracked_files

TORCH_LOCK = "infra/setup/torch-cuda.lock"


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("arguments", [["-c"], ["-I", "-c"]], ids=["repository on sys.path", "isolated"])
def test_platform_is_still_pythons_own_module(arguments: list[str]) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import platform; print(platform.__file__, platform.system())"
    )
    done = subprocess.run(
        [sys.executable, *arguments, program, str(REPOSITORY)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    file, system = done.stdout.split()
    assert Path(file).parent == Path(sysconfig.get_path("stdlib"))
    assert system


@pytest.mark.parametrize("folder", ["platform", "pipelines"])
def test_the_folders_above_the_packages_are_no_packages(folder: str) -> None:
    assert not (REPOSITORY / folder / "__init__.py").exists()


def test_tests_have_no_packages() -> None:
    assert list((REPOSITORY / "tests").rglob("__init__.py")) == []


def test_no_test_file_imports_from_another() -> None:
    # What several tests need is in a plain module, which stays where it is when a test moves.
    found = [
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path in (REPOSITORY / "tests").rglob("*.py")
        for name in imported(path)
        if re.search(r"(^|\.)(test_\w+|conftest)(\.|$)", name)
    ]
    assert found == []


def test_every_direct_dependency_is_locked_and_explained() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(requirement for extra in extras for requirement in extra)]
    names = [re.split(r"[<>=\[]", requirement)[0] for requirement in wanted]
    lock = "\n".join((REPOSITORY / name).read_text(encoding="utf-8") for name in ("requirements.lock", TORCH_LOCK))
    reasons = (REPOSITORY / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for name in set(names) - {"suphx"}:  # extras of the project itself
        assert re.search(rf"^{name}==", lock, re.MULTILINE), f"{name} is not in requirements.lock"
        assert f"| {name} |" in reasons, f"docs/dependencies.md does not say why {name} is needed"


def test_every_place_names_the_newest_version_of_the_changelog() -> None:
    places = {
        "CHANGELOG.md": r"^## \[([\d.]+)\]",
        "pyproject.toml": r'^version = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "helm/suphx/Chart.yaml": r'^appVersion: "(.+)"$',
        "infra/docker/Dockerfile": r"^ARG VERSION=(.+)$",
    }
    found = {
        name: re.findall(pattern, (REPOSITORY / name).read_text(encoding="utf-8"), re.MULTILINE)[:1]
        for name, pattern in places.items()
    }
    assert found == dict.fromkeys(places, found["CHANGELOG.md"])


def test_nothing_committed_names_a_machine() -> None:
    # Built from pieces, so that this file does not name one itself.
    machine_paths = ("/".join(("", "work", "")), "." + "library/")
    for path in tracked_files():
        text = path.read_text(encoding="utf-8", errors="ignore")
        assert not [part for part in machine_paths if part in text], f"{path} names a path of one machine"
