"""JSON files of stages: written whole or not at all, read with an error that says which file is broken."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar, cast

from suphx.atomic_file import write_atomically
from suphx.json_text import parse_json
from suphx.printable_text import encodable

T = TypeVar("T")


class InvalidValueError(ValueError):
    """A value that is not what a dataclass takes; ``key``: where it stands, ``a.b``."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key = key


def typed(cls: type[T], content: bytes) -> T:
    """Return a JSON object as the dataclass ``cls``; keys that it does not have are ignored.

    InvalidValueError for values of other types, and for those that ``__post_init__`` refuses.
    """
    from pydantic import ValidationError

    try:
        value: T = _adapter(cast(Any, cls)).validate_json(b"[" + content + b"]")[0]
    except ValidationError as errors:
        error = errors.errors(include_url=False)[0]
        text = error.get("ctx", {}).get("error")  # of __post_init__
        if error["type"] == "missing":
            text = "this key is missing: add it"
        key = ".".join(part for part in error["loc"] if isinstance(part, str))
        raise InvalidValueError(key, str(text or f"{error['input']!r:.80}: {error['msg']}")) from errors
    return value


@cache
def _adapter(cls: type[Any]) -> Any:
    from pydantic import ConfigDict, TypeAdapter  # a fifth of a second, which most commands do not need

    config = ConfigDict(strict=True, allow_inf_nan=False)
    in_a_tuple: Any = GenericAlias(tuple, (cls,))  # a dataclass itself takes no config
    return TypeAdapter(in_a_tuple, config=config)


def write_json(path: Path, value: object) -> None:
    """Write ``value`` to ``path`` atomically; ValueError for NaN and infinity, which JSON does not have.

    Names of files that are not UTF-8 can be part of it: ``read_json`` returns them as they were.
    """
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"{path} would hold a number that is not finite: {error}") from error
    write_atomically(path, [encodable(text).encode(), b"\n"])


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in ``path``; ValueError if it does not contain a JSON object, OSError if it cannot be read."""
    try:
        content = parse_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): remove it and run again") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} does not contain a JSON object: remove it and run again")
    return content
