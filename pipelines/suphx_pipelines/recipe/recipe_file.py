"""TOML into frozen dataclasses and back: strict keys, strict types, every error names the file and the key.

A field with a default may be left out; a field without must be there. ``T | None`` is None when left out (TOML has no
null). A whole number is accepted for a float; true and false are no numbers. A field with ``metadata={"set_by": …}`` is
no key: the code that the text names sets it.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from suphx.credentials import has_credentials, without_credentials
from suphx.finite_number import is_finite_number
from suphx.number_range import Range, Seed, check_ranges
from suphx.suggestion import closest, did_you_mean


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
    """Keys that say how a run is carried out, not what it gives: a run goes on when they are changed."""
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


C = TypeVar("C")
Table = dict[str, Any]


def load_config(cls: type[C], path: Path, overrides: Sequence[tuple[str, str]] = ()) -> C:
    """Read a recipe as ``cls``, a dataclass of dataclasses, with ``("a.b", "value")`` overrides on top.

    ``path`` is a TOML file or the name of a shipped recipe. A file with ``extends = "other.toml"``
    changes the recipe of that name or path, relative to its own folder. Raises ValueError for unknown and missing keys,
    wrong types, and values that ``__post_init__`` refuses.
    """
    table = read_table(path)
    try:
        for key, text in overrides:
            _set(table, key, text)
        return typing.cast(C, _build(cls, table, _Location(str(path), "")))
    except RecursionError:
        raise ValueError(f"{path}: its values are nested too deeply") from None


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


def to_plain(value: Any) -> Any:
    """Return a value of a config as TOML and JSON know it: tables, lists and plain values."""
    if dataclasses.is_dataclass(value):
        return to_table(value)
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
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


@dataclass(frozen=True, slots=True)
class _Override:
    """The text of ``--set``, which gets its type from the field that it is for."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class _Location:
    """Where a value stands, for error messages."""

    file: str
    key: str
    override: _Override | None = None

    def inside(self, key: str) -> _Location:
        return _Location(self.file, f"{self.key}.{key}" if self.key else key)

    def error(self, text: str) -> ValueError:
        if self.override is not None:
            return ValueError(f"--set {self.override.key}={without_credentials(self.override.text)}: {text}")
        return ValueError(f"{self.file}: {self.key}: {text}" if self.key else f"{self.file}: {text}")


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


def _set(table: Table, key: str, text: str) -> None:
    """Put the ``text`` of a ``--set`` into ``table``. An inline table sets its keys, as one of a recipe does."""
    if (inner := _inline_table(text)) is not None:
        for name, value in flatten(inner).items():
            _set(table, f"{key}.{name}", repr(value) if isinstance(value, float) else json.dumps(value, default=str))
        return
    *parents, last = key.split(".")
    for parent in parents:
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise ValueError(f"--set {key}={text}: {parent} is a value and has no keys: use --set {parent}=VALUE")
    table[last] = _Override(key, text)


def _inline_table(text: str) -> Table | None:
    """Return the table that a text such as ``{threads=2}`` is; None if it is none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = parse_toml(f"value = {text}")["value"]
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _build(cls: type[Any], table: Table, location: _Location, base: Any = None) -> Any:
    """Return an instance of ``cls``; what the table leaves out is as in ``base``, else as the class has it."""
    hints = typing.get_type_hints(cls)
    fields = {field.name: field for field in recipe_fields(cls)}
    for key, value in table.items():
        if key not in fields:
            there = _Location(location.file, location.inside(key).key, _override_in(value))
            raise there.error(_unknown_key(cls, key, location))
    values = {}
    for name, field in fields.items():
        if name in table:
            values[name] = _convert(hints[name], table[name], location.inside(name), _default_of(field, base))
        elif base is not None:
            values[name] = getattr(base, name)
        elif field.default is MISSING and field.default_factory is MISSING:
            if not _is_optional(hints[name]):
                raise location.inside(name).error(f"this key is missing: add it ({type_name(hints[name])})")
            values[name] = None
    fixed = (field.name for field in dataclasses.fields(cls) if base is not None and field.name not in fields)
    try:
        return cls(**values, **{name: getattr(base, name) for name in fixed})
    except ValueError as error:
        raise location.error(str(error)) from error


def _unknown_key(cls: type[Any], key: str, location: _Location) -> str:
    """Return why ``key`` is no key of the table at ``location``, and what to write instead."""
    set_by = next((field.metadata["set_by"] for field in dataclasses.fields(cls) if field.name == key), None)
    if set_by is not None:
        return f"this is not a key of a recipe: {set_by}"
    meant = _meant_key(cls, key)
    keys = ", ".join(field.name for field in recipe_fields(cls))
    return f"there is no such key: {f'use {keys}' if meant is None else f'did you mean {location.inside(meant).key}?'}"


def _override_in(value: Any) -> _Override | None:
    """Return the ``--set`` that a value comes from, also if it made a table around it; None for one of a file."""
    if isinstance(value, dict):
        return next((found for item in value.values() if (found := _override_in(item)) is not None), None)
    return value if isinstance(value, _Override) else None


def _meant_key(cls: type[Any], key: str) -> str | None:
    """Return the key that was probably meant: the same one in a table below, or a similar one."""
    keys = list(_keys_of(cls))
    below = [path for path in keys if path.endswith(f".{key}")]
    if below:
        return min(below, key=lambda path: path.count("."))
    return closest(key, [path for path in keys if "." not in path])


def _keys_of(cls: type[Any], prefix: str = "") -> Iterator[str]:
    """Yield all keys of a config, ``a`` and ``a.b``."""
    hints = typing.get_type_hints(cls)
    for name in (field.name for field in recipe_fields(cls)):
        hint = hints[name]
        yield prefix + name
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            yield from _keys_of(hint, f"{prefix}{name}.")


def _default_of(field: dataclasses.Field[Any], base: Any) -> Any:
    """Return the table that a table in a recipe changes some keys of; None for values and where there is none."""
    if base is not None:
        return getattr(base, field.name)
    return None if field.default_factory is MISSING else field.default_factory()


def _convert(hint: Any, value: Any, location: _Location, default: Any = None) -> Any:
    if isinstance(value, _Override):
        location = dataclasses.replace(location, override=value)
        value = _typed(hint, value.text)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, dict):
            keys = ", ".join(field.name for field in recipe_fields(hint))
            remedy = (
                f"set {location.key}.KEY, with KEY one of {keys}" if location.override else f"write [{location.key}]"
            )
            raise location.error(f"{value!r} is a value: this is a table, {remedy}")
        return _build(hint, value, location, default)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _convert(next(a for a in arguments if a is not type(None)), value, location, default)
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(arguments[0], item, location) for item in value)
    if origin is dict and isinstance(value, dict):
        return {key: _convert(arguments[1], item, location.inside(key)) for key, item in value.items()}
    if origin is typing.Literal and type(value) is str and value in arguments:
        return value
    if hint is float and is_finite_number(value):
        return float(value)
    if type(value) is str and has_credentials(value):
        raise location.error(
            "the address contains a user or a password, which everybody could read in the recipe: remove it, use "
            "environment variables"
        )
    if hint in (bool, int, str) and type(value) is hint:
        return value
    example = ""
    if origin is tuple and location.override:
        example = f": write --set '{location.key}={_list_example(arguments[0])}'"
    hint_text = did_you_mean(value, arguments) if origin is typing.Literal and type(value) is str else ""
    raise location.error(f"{value!r:.80} is not {type_name(hint)}{hint_text and ': ' + hint_text.strip()}{example}")


def _typed(hint: Any, text: str) -> Any:
    """Read the text of an override as TOML, or as plain text where that is what it must be or all that it can be."""
    try:
        value = parse_toml(f"value = {text}")["value"]
    except ValueError:
        return text
    wants_text = hint is str or typing.get_origin(hint) is typing.Literal
    return text if wants_text and not isinstance(value, str) else value


def _list_example(hint: Any) -> str:
    """Return a list of such values as TOML has it."""
    allowed = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    values = allowed[:2] or {int: (1, 2), float: (0.1, 0.5), bool: (True, False)}.get(hint, ("a", "b"))
    return f"[{', '.join(json.dumps(value) for value in values)}]"


def _is_optional(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


def type_name(hint: Any) -> str:
    """Return in words what a field of that type takes, such as "a list, each a whole number, 1 to 64"."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return f"{type_name(arguments[0])}, {arguments[1]}"
    if origin is typing.Literal:
        return "one of " + ", ".join(repr(argument) for argument in arguments)
    if origin is tuple:
        return f"a list, each {type_name(arguments[0])}"
    if origin in (typing.Union, types.UnionType):
        return type_name(next(a for a in arguments if a is not type(None)))
    if dataclasses.is_dataclass(hint) or origin is dict:
        return "a table"
    names = {bool: "true or false", int: "a whole number", float: "a finite number", str: "a text in quotes"}
    return names.get(hint, str(hint))
