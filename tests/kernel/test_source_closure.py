from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from suphx.kernel import source_closure
from suphx.kernel.source_closure import closure, closure_digest, forget, imported_names
from tests.repository import REPOSITORY

PROJECT = [
    p for folder in ("suphx", "platform", "pipelines", "tests") for p in sorted((REPOSITORY / folder).rglob("*.py"))
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project whose module engine.game depends on all others but game.reader and unrelated."""
    files = {
        "engine/__init__.py": "",
        "engine/game.py": "from engine import tile, wall\nfrom engine.rules.flag import X\nimport engine.rules.limit",
        "engine/tile.py": "NUM_KINDS = 34\n",
        "engine/wall.py": "def build():\n    from engine.seed import (  # (a comment)\n        SEED,\n    )",
        "engine/seed.py": "SEED = 1\n",
        "engine/rules/__init__.py": "",
        "engine/rules/flag.py": "X = 1\n",
        "engine/rules/limit.py": "import engine.deep.inner.constant as c\n",
        "engine/deep/inner/constant.py": "LIMIT = 3\n",
        "engine/reader.py": "from engine.game import play\n",
        "unrelated.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    forget()
    return tmp_path


def test_a_closure_has_all_that_is_imported_and_nothing_else(tree: Path) -> None:
    names = {Path(path).relative_to(tree).as_posix() for path in closure(tree / "engine" / "game.py", [tree])}
    assert names == {p.relative_to(tree).as_posix() for p in tree.rglob("*.py")} - {"engine/reader.py", "unrelated.py"}


@pytest.mark.parametrize(
    "changed",
    ["game", "tile", "wall", "seed", "__init__", "rules/__init__", "rules/flag", "rules/limit", "deep/inner/constant"],
)
def test_a_change_in_any_dependency_gives_a_new_digest(tree: Path, changed: str) -> None:
    before = closure_digest(tree / "engine" / "game.py", [tree])
    with (tree / "engine" / f"{changed}.py").open("a") as file:
        file.write("\nX = 2\n")
    forget()
    assert closure_digest(tree / "engine" / "game.py", [tree]) != before


def test_a_change_elsewhere_keeps_the_digest(tree: Path) -> None:
    before = closure_digest(tree / "engine" / "game.py", [tree])
    for name in ("engine/reader.py", "unrelated.py", "engine/new.py"):
        (tree / name).write_text("X = 2\n")
    forget()
    assert closure_digest(tree / "engine" / "game.py", [tree]) == before


def test_the_digest_does_not_depend_on_where_the_project_is(tree: Path) -> None:
    before = closure_digest(tree / "engine" / "game.py", [tree])
    moved = tree.rename(tree.with_name("elsewhere"))
    assert closure_digest(moved / "engine" / "game.py", [moved]) == before


@pytest.fixture
def lazy_tree(tree: Path) -> Path:
    """The package engine loads SEED and NUM_KINDS when they are first used."""
    (tree / "engine" / "__init__.pyi").write_text(
        "# What others see.\nfrom .seed import SEED as SEED\nfrom .tile import (\n    NUM_KINDS as NUM_KINDS,\n)\n"
    )
    forget()
    return tree


@pytest.mark.parametrize(
    ("statement", "imported"),
    [
        ("from engine import SEED", {"engine/seed.py"}),
        ("from engine import NUM_KINDS as n, SEED", {"engine/seed.py", "engine/tile.py"}),
        ("from engine import wall", {"engine/wall.py", "engine/seed.py"}),
        ("from engine.rules import flag", {"engine/rules/__init__.py", "engine/rules/flag.py"}),
        ("import engine", {"engine/seed.py", "engine/tile.py"}),
    ],
)
def test_names_that_a_package_loads_at_first_use_count(lazy_tree: Path, statement: str, imported: set[str]) -> None:
    user = lazy_tree / "user.py"
    user.write_text(f"{statement}\n")
    names = {Path(path).relative_to(lazy_tree).as_posix() for path in closure(user, [lazy_tree])}
    assert names == {"user.py", "engine/__init__.py", *imported}


@pytest.mark.parametrize(
    ("statement", "imported"),
    [
        ("from . import limit", {"rules/limit"}),
        ("from .limit import X", {"rules/limit"}),
        ("from .. import tile", {"tile"}),
        ("from ..deep.inner import constant", {"deep/inner/constant"}),
        ("from ..deep.inner.constant import LIMIT", {"deep/inner/constant"}),
    ],
)
def test_relative_imports_count(tree: Path, statement: str, imported: set[str]) -> None:
    start = tree / "engine" / "rules" / "start.py"
    start.write_text(statement)
    found = {Path(path).relative_to(tree / "engine").with_suffix("").as_posix() for path in closure(start, [tree])}
    assert imported <= found
    assert "wall" not in found


def test_of_installed_packages_only_those_of_this_project_count(tree: Path) -> None:
    installed = tree / "site-packages"
    for name in ("numpy", "suphx"):
        (installed / name).mkdir(parents=True)
        (installed / name / "__init__.py").write_text("")
    start = installed / "suphx" / "start.py"
    start.write_text("import numpy, suphx.kernel\n")
    (installed / "suphx" / "kernel.py").write_text("")
    names = {Path(path).relative_to(installed).as_posix() for path in closure(start, [installed])}
    assert names == {"suphx/start.py", "suphx/__init__.py", "suphx/kernel.py"}


def test_every_package_of_the_wheel_is_one_of_this_project() -> None:
    wheel = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert sorted(Path(folder).name for folder in wheel["packages"]) == sorted(source_closure._PROJECT)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a import b as c, d", {"a.b", "a.d"}),
        ("from a import (\n    b,  # (c)\n    d,\n)", {"a.b", "a.d"}),
        ("from a import b, \\\n    c", {"a.b", "a.c"}),
        ("x = 1; import a", {"a"}),
        ("if x: from a import b", {"a.b"}),
        ("def f():\n\tfrom a import b", {"a.b"}),
        ("from . import a", {".a"}),
        ("from ..a import b", {"..a.b"}),
        ("important = 1\nfrom_here = 2", set()),
    ],
)
def test_import_statements_of_every_form_are_found(source: str, names: set[str]) -> None:
    assert imported_names(source) == names


def test_every_import_that_the_parser_finds_in_this_project_is_found() -> None:
    for path in PROJECT:
        source = path.read_text(encoding="utf-8")
        parsed: set[str] = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                parsed |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                parsed |= {f"{node.module}.{alias.name}" for alias in node.names}
        assert parsed <= imported_names(source), path
