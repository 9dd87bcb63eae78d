"""What the shipped packages import is installed with them, or belongs to an extra and is asked for in a message."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import NamedTuple

from suphx.extras import EXTRA_OF
from tests.repository import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
SHIPPED = [REPOSITORY / folder for folder in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]
NO_USERS = {"dev", "supply-chain"}
"""Extras for whoever changes the project: what is shipped must not need them."""
COMPANIONS = {
    "botocore": "boto3",
    "llvmlite": "numba",
    "markupsafe": "jinja2",
    "s3transfer": "boto3",
    "urllib3": "kubernetes",
}
"""Package -> the dependency that is built on it and chooses its version."""
ELSEWHERE = {"MahjongGB": "/bench/mcr.py:"}
"""Peers that a user installs, each imported by one file."""
FOR_OTHERS = {"nvidia-ml-py"}
"""What a dependency imports if it is there: MLflow measures GPUs with it."""
IMPORTERS = {"_import", "import_module", "__import__"}
"""Functions that import the module which their first argument names."""


class Import(NamedTuple):
    """A package that a file imports."""

    package: str
    place: str
    is_guarded: bool
    """Whether a message follows if the package is missing."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements: list[str]) -> set[str]:
    """Return the packages of requirements, without versions, extras and markers."""
    return {normal(re.split(r"[^\w.-]", requirement)[0]) for requirement in requirements}


EXTRAS = {extra: named(found) for extra, found in PROJECT["project"]["optional-dependencies"].items()}
CORE = named(PROJECT["project"]["dependencies"])
LIBRARY = CORE | EXTRAS["learn"] | EXTRAS["tables"]
"""What the package suphx needs with nets and tables."""
DEPENDENCIES = LIBRARY | EXTRAS["platform"]


def imported(tree: ast.AST, place: str, *, is_guarded: bool = False) -> Iterator[Import]:
    """Yield all packages that are imported below a node."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
            is_dynamic = isinstance(node, ast.Call)  # the importer has the message: test_bench.py
            for name in module_names(node):
                yield Import(name.partition(".")[0], f"{place}:{node.lineno}", is_guarded or is_dynamic)
        yield from imported(node, place, is_guarded=is_guarded or catches_import_errors(node))


def module_names(node: ast.Import | ast.ImportFrom | ast.Call) -> list[str]:
    """Return the modules that a statement or a call imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    is_importer = ast.unparse(node.func).rpartition(".")[2] in IMPORTERS
    return [str(one.value) for one in node.args[:1] if is_importer and isinstance(one, ast.Constant)]


def catches_import_errors(node: ast.AST) -> bool:
    caught = [one.type for one in node.handlers if one.type is not None] if isinstance(node, ast.Try) else []
    return any(name in ast.unparse(one) for one in caught for name in ("ImportError", "ModuleNotFoundError"))


@cache
def outside() -> tuple[tuple[Import, frozenset[str]], ...]:
    """Return the imports of other people's packages with the distributions that have them."""
    distributions = packages_distributions()
    known = sys.stdlib_module_names | {folder.name for folder in SHIPPED}
    paths = [path for folder in SHIPPED for path in folder.rglob("*.py")]
    every = [
        one
        for path in paths
        for one in imported(ast.parse(path.read_text(encoding="utf-8")), str(path.relative_to(REPOSITORY)))
    ]
    return tuple(
        (one, frozenset(normal(name) for name in distributions.get(one.package, [one.package])))
        for one in every
        if one.package not in known and ELSEWHERE.get(one.package, "nowhere") not in one.place
    )


def test_everything_imported_is_declared() -> None:
    optional = {name for extra, names in EXTRAS.items() if extra not in NO_USERS for name in names}
    known = DEPENDENCIES | optional | set(COMPANIONS)
    missing = sorted({f"{found.place}: {found.package}" for found, names in outside() if not names & known})
    assert missing == [], "add the package to dependencies or to an extra of pyproject.toml"


def test_the_library_needs_nothing_of_the_platform() -> None:
    optional = {name for extra, names in EXTRAS.items() if extra not in ("platform", *NO_USERS) for name in names}
    own = [(found, names) for found, names in outside() if found.place.startswith("suphx/")]
    assert len(own) > 100
    assert sorted({found.place for found, names in own if not names & (LIBRARY | optional | set(COMPANIONS))}) == []


def test_what_an_extra_brings_is_imported_with_a_message() -> None:
    bare = {found.place for found, names in outside() if not names & (DEPENDENCIES | set(COMPANIONS))}
    guarded = {found.place for found, _ in outside() if found.is_guarded}
    assert sorted(bare - guarded) == [], "catch ModuleNotFoundError, and tell which extra the package belongs to"


def test_the_message_about_a_missing_package_names_its_extra() -> None:
    distributions = packages_distributions()
    modules = {module: extra for module, extra in EXTRA_OF.items() if module not in COMPANIONS}
    found = {normal(name): extra for module, extra in modules.items() for name in distributions[module]}
    for extra in ("learn", "tables", "platform"):
        named_here = {name for name in EXTRAS[extra] if found.get(name) == extra}
        assert named_here == EXTRAS[extra] - {"suphx"} - FOR_OTHERS


def test_companions_come_with_their_dependency() -> None:
    for package, dependency in COMPANIONS.items():
        assert dependency in DEPENDENCIES
        always = [requirement for requirement in requires(dependency) or [] if "extra ==" not in requirement]
        assert package in named(always), f"{dependency} no longer needs {package}: declare it"


def test_extras_have_the_same_versions_for_users_and_for_development() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert [one for extra in ("peers", "pettingzoo") for one in extras[extra] if one not in extras["dev"]] == []


def test_imports_of_all_kinds_are_found() -> None:
    text = """
import a.b
from c import d
def f():
    try:
        import e
    except ModuleNotFoundError:
        raise
x = importlib.import_module("g.h")
"""
    found = [(one.package, one.is_guarded) for one in imported(ast.parse(text), "x")]
    assert found == [("a", False), ("c", False), ("e", True), ("g", True)]


def test_nobody_is_told_to_take_suphx_from_a_package_index() -> None:
    """The name is not ours there: ``pip install suphx`` would install what somebody else wrote."""
    told = re.compile(r"pip install (-\S+ )*[\"']?suphx\b")
    asked = SHIPPED[0] / "extras.py"  # of somebody who has it: pip takes the extra of what is installed
    paths = [path for folder in (*SHIPPED, REPOSITORY / "docs", REPOSITORY / "examples") for path in folder.rglob("*")]
    texts = [path for path in (*paths, *REPOSITORY.glob("*.md")) if Path(path).suffix in {".py", ".md", ".rst", ".js"}]
    assert [str(path) for path in texts if path != asked and told.search(path.read_text(encoding="utf-8"))] == []
