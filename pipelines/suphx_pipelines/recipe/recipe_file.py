"""TOML into frozen dataclasses and back: strict keys, strict types (pydantic), every error names the file and the key.

A whole number is accepted for a float; true and false are no numbers. TOML has no null: a key ``T | None`` is left out.
A field with ``metadata={"set_by": …}`` is not a key: the code that the text names sets it.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from suphx.credentials import has_credentials, without_credentials
from suphx.number_range import Range, Seed, check_ranges
from suphx.suggestion import closest, did_you_mean
from suphx_pipelines.json_file import InvalidValueError, typed


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a file; ValueError if it is not TOML or nested too deeply."""
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not TOML: {error}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text; ValueError (``tomllib.TOMLDecodeError`` is one) if it cannot be read."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyRecipe:
    """What every recipe has."""

    free_keys: ClassVar[tuple[str, ...]] = ("about", "minutes", "storage")
    """Keys that say how a run is carried out, not what it gives: a run continues when they are changed."""
    name: str
    """First part of the run's id: lower-case letters, digits, - and _."""
    about: str = ""
    """What the recipe does, in one line (``suphx recipes`` prints it)."""
    minutes: Annotated[int, Range(0, 1_000_000)] = 0
    """Approximate duration in minutes on two idle cores; 0 = not measured."""
    seed: Seed = 1
    """The seeds of all stages are derived from it, and those of walls or decks."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_name(self.name)


def check_name(name: str) -> None:
    """Raise ValueError unless the name can be a part of the name of a folder and of an object of a cluster."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", name):
        raise ValueError(
            f"name is {name!r}: use 1 to 63 lower-case letters, digits, - and _, as it becomes a folder name"
        )


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
    file of that name with ``.toml``; then the shipped recipe of that name. ``extending`` itself comes after that one:
    a recipe can have the name of the one that it extends.
    """
    path = (extending.parent if extending else Path()) / name
    found = next((file for file in (path, Path(f"{path}{SUFFIX}")) if file.is_file()), None)
    is_itself = found is not None and extending is not None and found.resolve() == extending.resolve()
    shipped = shipped_recipes()
    known = (name.with_suffix("") if extending and name.suffix == SUFFIX else name).as_posix()
    if known in shipped and (found is None or is_itself):
        return shipped[known]
    if found is not None:
        return found
    if path.is_dir():
        raise ValueError(f"{name} is a folder: use a TOML file in it, or a recipe of `suphx recipes`")
    files = [str(name.parent / file.name) for file in sorted(path.parent.glob(f"*{SUFFIX}"))]
    hint = did_you_mean(str(name), files) or did_you_mean(name.with_suffix("").as_posix(), shipped)
    remedy = hint or f"use a TOML file, or one of {', '.join(shipped)}; "
    raise ValueError(f"{name}: no such recipe: {remedy}`suphx recipes` lists all")


C = TypeVar("C")
Table = dict[str, Any]


def load_config(cls: type[C], path: Path, overrides: Sequence[tuple[str, str]] = ()) -> C:
    """Read a recipe as ``cls``, a dataclass of dataclasses, with ``("a.b", "value")`` overrides on top.

    ``path`` is a TOML file or the name of a shipped recipe. A file with ``extends = "other.toml"``
    changes the recipe of that name or path, relative to its own folder. Raises ValueError for unknown and missing keys,
    wrong types, and values that ``__post_init__`` refuses.
    """
    table, given = read_table(path), dict[str, str]()
    try:
        for key, text in overrides:
            value = _typed(cls, key, text)
            is_table = isinstance(value, dict)
            given |= {name: json.dumps(inner, default=str) if is_table else text
                      for name, inner in flatten({key: value}).items()}  # fmt: skip
            for part in reversed(key.split(".")):
                value = {part: value}
            table = _merged(table, value)
        return typed(cls, json.dumps(_completed(cls, table), default=str).encode())
    except RecursionError:
        raise ValueError(f"{path}: its values are nested too deeply") from None
    except InvalidValueError as error:
        for key, text in given.items():
            if error.key == key or error.key.startswith(f"{key}."):
                raise ValueError(f"--set {key}={without_credentials(text)}: {error}") from error
        raise ValueError(": ".join(filter(None, (str(path), error.key, str(error))))) from error


def read_table(path: Path) -> Table:
    """Return the tables of a recipe, by path or name, and of those that it extends; ValueError if there is none."""
    return _read(find_recipe(path), ())


def to_table(config: object) -> Table:
    """Return a config as nested dicts of plain values; fields that are None are left out."""
    table: Table = {}
    for field in recipe_fields(typing.cast(Any, config)):
        value = getattr(config, field.name)
        if value is not None:
            table[field.name] = to_plain(value)
    return table


def recipe_fields(config: Any) -> list[dataclasses.Field[Any]]:
    """Return the fields of a config (or of its class) that are keys of a recipe."""
    return [field for field in dataclasses.fields(config) if "set_by" not in field.metadata]


def table_class(hint: Any) -> Any:
    """Return the class of a key that is a table, perhaps one that may be left out (``Rules | None``); else None."""
    kinds = (each for each in (hint, *typing.get_args(hint)) if isinstance(each, type))
    return next(filter(dataclasses.is_dataclass, kinds), None)


def to_plain(value: Any) -> Any:
    """Return a value of a config as TOML and JSON know it: tables, lists and plain values."""
    if dataclasses.is_dataclass(value):
        return to_table(value)
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    return value


def to_toml(config: object) -> str:
    """Return a config as TOML text that ``load_config`` reads back to an equal one."""
    import tomlkit  # a tenth of a second, which commands that only read do not need

    return tomlkit.dumps(to_table(config))


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return ``{"a": {"b": 1}}`` as ``{"a.b": 1}``."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def without(table: Mapping[str, Any], keys: Sequence[str], prefix: str = "") -> Table:
    """Return a copy of ``table`` without the ``keys``, which are written as ``a.b``."""
    kept: Table = {}
    for key, value in table.items():
        if prefix + key not in keys:
            kept[key] = without(value, keys, f"{prefix}{key}.") if isinstance(value, Mapping) else value
    return kept


def look_up(table: Mapping[str, Any], key: str) -> Any:
    """Return the value at ``a.b``; None if it is not there."""
    value: Any = table
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _read(path: Path, below: tuple[Path, ...]) -> Table:
    """Return the tables of a file and of those that it extends; ``below``: the files that extend it."""
    if path.resolve() in below:
        raise ValueError(f"{path}: extends: it extends itself: name another file, or remove the key")
    table = read_toml(path)
    extended = table.pop("extends", None)
    if extended is None:
        return table
    if not isinstance(extended, str):
        raise ValueError(f"{path}: extends: {extended!r} is not a text in quotes: name a recipe or a TOML file")
    try:
        base = find_recipe(Path(extended), extending=path)
    except ValueError as error:
        raise ValueError(f"{path}: extends: {error}") from error
    return _merged(_read(base, (*below, path.resolve())), table)


def _merged(base: Table, changes: Table) -> Table:
    """Return ``base`` with all values of ``changes``, table by table."""
    merged = dict(base)
    for key, value in changes.items():
        both_tables = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value) if both_tables else value
    return merged


def _typed(cls: type[Any], key: str, text: str) -> Any:
    """Read the text of a ``--set`` as TOML, or as plain text where that is what it must be or all that it can be."""
    try:
        value = parse_toml(f"value = {text}")["value"]
    except ValueError:
        return text
    hint: Any = cls
    for part in key.split("."):
        table = table_class(hint)
        hint = typing.get_type_hints(table).get(part) if table else None
    wants_text = hint is str or typing.get_origin(hint) is typing.Literal
    return text if wants_text and not isinstance(value, str) else value


def _completed(cls: type[Any], table: Table, base: Any = None, place: str = "") -> Table:
    """Return the table at the key ``place``; what it leaves out is as in ``base``, else as ``cls`` has it.

    Refuses keys that ``cls`` does not have, and passwords.
    """
    hints = typing.get_type_hints(cls)
    known = {field.name: field for field in recipe_fields(cls)}
    found: Table = {}
    for key, value in table.items():
        path = f"{place}{key}"
        if key not in known:
            raise InvalidValueError(next(iter(flatten({path: value})), path), _unknown_key(cls, key, place))
        if (inner := table_class(hints[key])) is not None:
            if not isinstance(value, dict):
                raise InvalidValueError(
                    path, f"{value!r:.80} is a value, and this is a table: set its keys, {path}.KEY"
                )
            factory = known[key].default_factory
            start = getattr(base, key) if base is not None else None if factory is MISSING else factory()
            value = _completed(inner, value, start, f"{path}.")
        elif isinstance(value, dict):
            raise InvalidValueError(next(iter(flatten({path: value})), path), f"{path} is a value and has no keys")
        elif any(
            isinstance(each, str) and has_credentials(each) for each in (value if isinstance(value, list) else [value])
        ):
            raise InvalidValueError(
                path,
                "the address contains a user or a password, which everybody could read in the recipe: remove it, use "
                "environment variables",
            )
        found[key] = value
    return found if base is None else to_table(base) | found


def _unknown_key(cls: type[Any], key: str, place: str) -> str:
    """Return why ``key`` is not a key of the table at ``place``, and what to write instead."""
    set_by = next((field.metadata["set_by"] for field in dataclasses.fields(cls) if field.name == key), None)
    if set_by is not None:
        return f"this is not a key of a recipe: {set_by}"
    keys = list(_keys_of(cls))
    below = [path for path in keys if path.endswith(f".{key}")]
    direct = [path for path in keys if "." not in path]
    meant = min(below, key=lambda path: path.count(".")) if below else closest(key, direct)
    hint = f"use {', '.join(direct)}" if meant is None else f"did you mean {place}{meant}?"
    return f"there is no such key: {hint}"


def _keys_of(cls: type[Any], prefix: str = "") -> Iterator[str]:
    """Yield all keys of a config, ``a`` and ``a.b``."""
    hints = typing.get_type_hints(cls)
    for name in (field.name for field in recipe_fields(cls)):
        yield prefix + name
        if (table := table_class(hints[name])) is not None:
            yield from _keys_of(table, f"{prefix}{name}.")
