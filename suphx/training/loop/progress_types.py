"""Whether what a saved state says of the progress has the types of a new one: JSON that was damaged may have others."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any


def check_types(progress: Any) -> None:
    """Raise TypeError if a value of a dataclass has another type than that of a new one.

    A whole number will do for a float, and any number for None; the items of a list are dicts or dataclasses.
    """
    new = type(progress)()
    for each in fields(progress):
        value = getattr(progress, each.name)
        if not _fits(value, getattr(new, each.name)):
            raise TypeError(f"{each.name} is {value!r:.80}")


def _fits(value: Any, new: Any) -> bool:
    if new is None:
        return value is None or type(value) in (int, float)
    if isinstance(new, list):
        return type(value) is list and all(isinstance(item, dict) or is_dataclass(item) for item in value)
    return type(value) is type(new) or (type(new) is float and type(value) is int)
