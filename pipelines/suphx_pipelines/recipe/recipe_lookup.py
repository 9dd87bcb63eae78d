"""Recipes by name: ``laptop`` or ``paper/rl_1`` from any folder, or a TOML file by its path.

The shipped recipes lie beside the packages in a source checkout (``pipelines/recipes``) and inside the package
``suphx_pipelines`` of an installed wheel.
"""

from __future__ import annotations

from pathlib import Path

from suphx.suggestion import did_you_mean

SUFFIX = ".toml"
_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "recipes", _PACKAGE.parent / "recipes")  # wheel, source checkout


def shipped_folder() -> Path:
    """Return the folder of the shipped recipes; ValueError if this installation has none."""
    for place in _PLACES:
        if place.is_dir():
            return place
    raise ValueError(f"{_PLACES[0]}: this installation has no recipes: install suphx again, or use a recipe file")


def shipped_recipes() -> dict[str, Path]:
    """Return name -> file of all shipped recipes, such as ``paper/rl_1``, those of sub-folders last."""
    folder = shipped_folder()
    files = sorted(folder.rglob(f"*{SUFFIX}"), key=lambda path: (len(path.parts), path))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}


def find_recipe(name: Path, extending: Path | None = None) -> Path:
    """Return the file of a recipe by path or by name; ValueError with the closest name if there is none.

    A path that exists wins, as seen from the folder of the file ``extending`` (the current folder by default); then a
    file of that name with ``.toml``; then the shipped recipe of that name, which a command names without ``.toml``: a
    file of the user that is not there is an error. ``extending`` itself comes after that one:
    a recipe can have the name of the one that it extends.
    """
    path = (extending.parent if extending else Path()) / name
    found = next((file for file in (path, Path(f"{path}{SUFFIX}")) if file.is_file()), None)
    is_itself = found is not None and extending is not None and found.resolve() == extending.resolve()
    shipped = shipped_recipes()
    known = _shipped_name(name)
    is_file_meant = extending is None and name.suffix == SUFFIX and known == str(name.with_suffix(""))
    if known in shipped and (found is None or is_itself):
        if is_file_meant:
            raise ValueError(f"{name}: no such file; to use the shipped recipe, write {known}")
        return shipped[known]
    if found is not None:
        return found
    if path.is_dir():
        raise ValueError(f"{name} is a folder: use a TOML file in it, or a recipe of `suphx recipes`")
    files = [str(name.parent / file.name) for file in sorted(path.parent.glob(f"*{SUFFIX}"))]
    hint = did_you_mean(known, shipped) or did_you_mean(str(name), files)
    remedy = hint or f"use a TOML file, or one of {', '.join(shipped)}; "
    raise ValueError(f"{name}: no such recipe: {remedy}`suphx recipes` lists all")


def _shipped_name(name: Path) -> str:
    """Return what a shipped recipe of that path would be called: ``pipelines/recipes/laptop.toml`` is laptop."""
    parts = (name.with_suffix("") if name.suffix == SUFFIX else name).parts
    return "/".join(parts[2:] if parts[:2] == ("pipelines", "recipes") else parts)
