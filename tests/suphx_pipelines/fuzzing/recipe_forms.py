"""Damaged recipes: the TOML of a file, and ``--set`` on the command line."""

from __future__ import annotations

import functools
from pathlib import Path
from random import Random

from suphx_pipelines.recipe.recipe_file import flatten, read_table
from suphx_pipelines.recipe.recipe_kind import load_run_recipe, load_tournament_recipe
from tests.games.riichi.fuzzing.file_damage import damage_bytes
from tests.repository import RECIPES
from tests.suphx_pipelines.fuzzing.stored_form import Files, StoredForm

LOADERS = {
    "nightly": load_tournament_recipe,
    "doudizhu_tournament": load_tournament_recipe,
}
"""Of recipes that are not for ``suphx run``."""
VALUES = (
    "", "0", "-1", "1e400", "nan", "inf", "-inf", "1e-320", "true", "1979-05-27", "''", '"x"', "[]", "[[[]]]", "{}",
    "{a = 1}", '["mini", 1]', "9" * 400, "0x" + "f" * 300, "\x00", "\ud7ff", "é", "../../etc/passwd", "s3://",
    "http://u:p@host", "1\n[x]\ny = 1", "1 # x", '"""', "[" * 3000, "{a=" * 3000, "a." * 3000 + "b = 1",
    "1_000_000_000_000", "s3://bucket/x", "models:/x@y", "mjai:", "[1, 2", "07:32:00", "1e308", "-0.0", "'" * 9,
)  # fmt: skip
LINES = (
    "[a.b]",
    "[[a]]",
    "extends = 'recipe.toml'",
    "extends = 1",
    "extends = '../x.toml'",
    "a = 1\na = 2",
    "[",
    "= 1",
)


def recipe_forms() -> list[StoredForm]:
    """Return both kinds."""
    return [
        StoredForm("recipe", 3, _damaged_recipe, _load_file),
        StoredForm("--set", 3, lambda random: {}, _load_with_overrides),
    ]


@functools.cache
def _texts() -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted(RECIPES.glob("*.toml"))}


@functools.cache
def _keys() -> tuple[str, ...]:
    return tuple(sorted({key for path in RECIPES.glob("*.toml") for key in flatten(read_table(path))}))


def _damaged_recipe(random: Random) -> Files:
    name, text = random.choice(list(_texts().items()))
    if random.random() < 0.3:
        return {f"{name}.toml": damage_bytes(random, text)}
    lines = text.decode().splitlines()
    for _ in range(random.choice((1, 1, 2, 5))):
        place = random.randrange(len(lines))
        key, equals, _ = lines[place].partition("=")
        kind = random.randrange(4)
        if kind == 0:
            del lines[place]
            lines = lines or [""]
        elif kind == 1:
            lines.insert(place, random.choice((*LINES, random.choice(lines))))
        elif kind == 2:
            lines.insert(place, f"{random.choice(_keys())} = {random.choice(VALUES)}")
        elif equals:
            lines[place] = f"{key}= {random.choice(VALUES)}"
    return {f"{name}.toml": "\n".join(lines).encode("utf-8", "surrogatepass")}


def _load_file(folder: Path, random: Random) -> None:
    (path,) = folder.iterdir()
    LOADERS.get(path.stem, load_run_recipe)(path)


def _load_with_overrides(folder: Path, random: Random) -> None:
    name = random.choice(list(_texts()))
    overrides = [(_key(random), random.choice(VALUES)) for _ in range(random.choice((1, 1, 2, 4)))]
    LOADERS.get(name, load_run_recipe)(Path(name), overrides)


def _key(random: Random) -> str:
    key = random.choice(_keys())
    match random.randrange(6):
        case 0:
            return f"{key}.{random.choice(_keys())}"
        case 1:
            return key.rpartition(".")[0] or "net"
        case 2:
            return random.choice(
                ("", ".", "..", "a" * 5000, "a." * random.choice((20, 3000)) + "b", "\x00", "é", "extends")
            )
        case _:
            return key
