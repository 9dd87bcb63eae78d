"""The house rules that no other tool checks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import version
from pathlib import Path

import grimp
import pytest

from tests.repository import REPOSITORY, tracked_files

CODE_FOLDERS = ("suphx", "platform", "pipelines", "tests")
SOURCES = [path for folder in CODE_FOLDERS for path in sorted((REPOSITORY / folder).rglob("*.py"))]
MAX_FILE_LINES = 500
TORCH_LOCK = "infra/setup/torch-cuda.lock"
MAX_FILES = 15
PACKAGES = [
    REPOSITORY / folder
    for folder in ("suphx", "platform/suphx_platform", "pipelines/suphx_pipelines", "pipelines/suphx_cli")
]
GAMES = REPOSITORY / "suphx" / "games"
LAYERS = [
    *(path.parent for path in sorted((REPOSITORY / "suphx").glob("*/__init__.py")) if path.parent != GAMES),
    *(path.parent for path in sorted(GAMES.glob("*/__init__.py"))),
    *PACKAGES[1:],
]
MAX_FUNCTION_LINES = 60
BANNED_NAMES = {"utils", "util", "common", "helpers", "helper", "base", "misc"}


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


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


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_folders_are_small_and_say_what_they_are(package: Path) -> None:
    for folder in {path.parent for path in package.rglob("*.py")}:
        files = [path for path in folder.iterdir() if path.is_file()]
        assert len(files) <= MAX_FILES, f"{folder} has {len(files)} files: give some of them a folder"
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))), folder


def test_folders_of_tests_are_small() -> None:
    for folder in {path.parent for path in (REPOSITORY / "tests").rglob("*.py")}:
        files = [path for path in folder.iterdir() if path.is_file()]
        assert len(files) <= MAX_FILES, f"{folder} has {len(files)} files: give some of them a folder"


def test_twins_have_folders_of_their_own() -> None:
    found = [path for path in (REPOSITORY / "tests").rglob("*_twin.py") if path.parent.name != "twins"]
    assert found == [], "a slow twin of a kernel belongs in the nearest folder twins/"


@pytest.mark.parametrize("layer", LAYERS, ids=lambda path: path.name)
def test_folders_say_what_they_import_and_where_to_start(layer: Path) -> None:
    """Of its own layer a folder imports only those that its docstring names, or "every other" of them."""
    root = next(parent for parent in (*layer.parents, REPOSITORY) if not (parent / "__init__.py").exists())
    names = {".".join(path.parent.relative_to(root).parts): path.parent for path in layer.rglob("__init__.py")}
    own = ".".join(layer.relative_to(root).parts)
    for name, folder in names.items():
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert re.search("[Ii]mport", text), f"{name}: say what it may import"
        assert "tart in" in text, f"{name}: say where to start reading"
        if name == own or re.search("every other folder|everything|all below|other modules|rest of", text):
            continue
        modules = {found.rpartition(".")[0] for path in folder.glob("*.py") for found in imported(path)}
        for module in modules:
            used = module if module in names else module.rpartition(".")[0]
            if used in names and not used.startswith(name) and not name.startswith(used):
                mentioned = [f"{part}/" in text for part in used.removeprefix(f"{own}.").split(".")]
                assert any(mentioned), f"{name} imports {used}: its docstring does not say so"


def import_graph() -> grimp.ImportGraph:
    """Return who imports whom in the four packages; imports for type checkers count, since a reader follows them too.

    An ``__init__.py`` that imports nothing of ours is left out: whoever needs only a folder's path is in no circle.
    """
    graph = grimp.build_graph(*(package.name for package in PACKAGES), cache_dir=None)
    for module in graph.modules:
        if graph.find_children(module) and not graph.find_modules_directly_imported_by(module):
            for importer in graph.find_modules_that_directly_import(module):
                graph.remove_import(importer=importer, imported=module)
    return graph


def file_imports(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def folder_imports(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    """Return for each folder the folders that its own files import, without those of the folders below it."""
    folders = {module for module in graph.modules if graph.find_children(module)}
    found: dict[str, set[str]] = defaultdict(set)
    for module, used in file_imports(graph).items():
        own = module if module in folders else module.rpartition(".")[0]
        found[own] |= {name if name in folders else name.rpartition(".")[0] for name in used} - {own}
    return found


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """Return one circle of imports, its first name again at its end; empty if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def circles_with_subfolders(graph: grimp.ImportGraph) -> list[str]:
    """Return the folders of which a file imports from a subfolder that, anywhere below, imports from the folder."""
    folders = {module for module in graph.modules if graph.find_children(module)}
    imports = file_imports(graph)
    found = []
    for folder in folders:
        own = {folder} | (graph.find_children(folder) - folders)
        for subfolder in graph.find_children(folder) & folders:
            below = {subfolder} | graph.find_descendants(subfolder)
            if any(imports[name] & below for name in own) and any(imports[name] & own for name in below):
                found.append(f"{folder} <-> {subfolder}")
    return sorted(found)


def test_every_folder_with_folders_has_its_order_of_imports() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contracts = settings["contracts"]
    assert not [contract["name"] for contract in contracts if "ignore_imports" in contract], "no exceptions"
    orders = [contract for contract in contracts if "containers" in contract]
    assert not [contract["name"] for contract in orders if not contract.get("exhaustive")]
    graph = import_graph()
    folders = {module for module in graph.modules if graph.find_children(module)}
    with_folders = {folder for folder in folders if graph.find_children(folder) & folders}
    assert with_folders - {container for contract in orders for container in contract["containers"]} == set()


def test_no_circle_of_imports() -> None:
    # Folders that lie beside each other: the contract of import-linter in pyproject.toml.
    graph = import_graph()
    assert circle(file_imports(graph)) == []
    assert circle(folder_imports(graph)) == []
    assert circles_with_subfolders(graph) == []


@pytest.mark.parametrize(
    ("imports", "has_files", "has_folders", "has_subfolders"),
    [
        ([("a.x", "a.y"), ("a.y", "a.x")], True, False, False),
        ([("a.x", "b.x"), ("b.y", "a.y")], False, True, False),
        ([("a.x", "a.c.x"), ("a.c.y", "a.y")], False, True, True),
        ([("a.x", "a.c.x"), ("a.c.d.x", "a.y"), ("a.c.x", "b.x")], False, False, True),
        ([("a.x", "a.c.x"), ("a.c.x", "b.x"), ("a.c.d.x", "a.c.x")], False, False, False),
    ],
)
def test_circles_of_imports_are_seen(
    imports: list[tuple[str, str]], has_files: bool, has_folders: bool, has_subfolders: bool
) -> None:
    graph = grimp.ImportGraph()
    for module in ("a", "a.x", "a.y", "a.c", "a.c.x", "a.c.y", "a.c.d", "a.c.d.x", "b", "b.x", "b.y"):
        graph.add_module(module)
    for importer, imported_module in imports:
        graph.add_import(importer=importer, imported=imported_module)
    assert bool(circle(file_imports(graph))) == has_files
    assert bool(circle(folder_imports(graph))) == has_folders
    assert bool(circles_with_subfolders(graph)) == has_subfolders


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


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_files_and_functions_are_short_and_well_named(path: Path) -> None:
    assert path.stem not in BANNED_NAMES, f"{path.stem} says nothing: name the file after its one noun"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES
    long = [f.name for f in functions(path) if (f.end_lineno or 0) - f.lineno >= MAX_FUNCTION_LINES]
    assert long == [], f"over {MAX_FUNCTION_LINES} lines"


def test_the_plan_of_the_house_names_every_file_with_actors() -> None:
    plan = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    platform = REPOSITORY / "platform" / "suphx_platform"
    found = [path for path in platform.rglob("*.py") if "ray.remote" in path.read_text(encoding="utf-8")]
    (sentence,) = re.findall(r"`ray\.remote` is in (.*?)\)", plan)
    assert set(re.findall(r"`([\w/]+\.py)`", sentence)) == {str(path.relative_to(platform)) for path in found}


def test_every_direct_dependency_is_locked_and_explained() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(requirement for extra in extras for requirement in extra)]
    names = [re.split(r"[<>=\[]", requirement)[0] for requirement in wanted]
    lock = "\n".join((REPOSITORY / name).read_text(encoding="utf-8") for name in ("requirements.lock", TORCH_LOCK))
    reasons = (REPOSITORY / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for name in names:
        assert re.search(rf"^{name}==", lock, re.MULTILINE), f"{name} is not in requirements.lock"
        assert f"| {name} |" in reasons, f"docs/dependencies.md does not say why {name} is needed"


def test_the_installed_version_is_that_of_the_project_and_the_changelog() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert version("suphx") == project["version"]
    assert f"## [{project['version']}]" in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")


def test_nothing_committed_names_a_machine() -> None:
    # Built from pieces, so that this file does not name one itself.
    machine_paths = ("/".join(("", "work", "")), "." + "library/")
    for path in tracked_files():
        text = path.read_text(encoding="utf-8", errors="ignore")
        assert not [part for part in machine_paths if part in text], f"{path} names a path of one machine"
