"""Ranges of the numbers in configs, and choices of words: declared with the type of a field, checked when one is made.

>>> @dataclass(frozen=True)
... class Config(Checked):
...     batch_size: Annotated[int, Range(1, 65_536)] = 512
>>> Config(batch_size=2**62)
Traceback (most recent call last):
ValueError: batch_size is 4611686018427387904: use 1 to 65,536

A bound is above what anybody needs and below what no machine can do. A number beyond it is a slip of the hand, which
would otherwise be noticed by an allocation that fails, or by a run that never makes its first update.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass, fields
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from ``low`` to ``high``; ``closed``: the bounds that belong to it, as in pandas' intervals."""

    low: float
    high: float
    closed: Literal["both", "left", "right", "neither"] = "both"

    def __contains__(self, value: float) -> bool:
        is_above = value >= self.low if self.closed in ("both", "left") else value > self.low
        return is_above and (value <= self.high if self.closed in ("both", "right") else value < self.high)

    def __str__(self) -> str:
        """Return such as "1 to 65,536" or "more than 0, and less than 1"."""
        if self.closed == "both":
            return f"{_text(self.low)} to {_text(self.high)}"
        low = f"{_text(self.low)} or more" if self.closed == "left" else f"more than {_text(self.low)}"
        return f"{low}, {f'at most {_text(self.high)}' if self.closed == 'right' else f'less than {_text(self.high)}'}"


def _text(bound: float) -> str:
    return f"{bound:,}" if type(bound) is int else f"{bound:g}"


Seed: TypeAlias = Annotated[int, Range(0, 2**32 - 1)]
Threads: TypeAlias = Annotated[int, Range(0, 1024)]
Processes: TypeAlias = Annotated[int, Range(1, 1024)]
Steps: TypeAlias = Annotated[int, Range(0, 1_000_000_000)]
"""Updates, steps and rounds, where 0 has a meaning of its own."""
Interval: TypeAlias = Annotated[int, Range(1, 1_000_000_000)]
"""Updates, steps or rounds between two events."""
Minutes: TypeAlias = Annotated[float, Range(0, 1_000_000)]
Seconds: TypeAlias = Annotated[float, Range(0, 1_000_000)]
Share: TypeAlias = Annotated[float, Range(0, 1)]
PositiveShare: TypeAlias = Annotated[float, Range(0, 1, "right")]
LearningRate: TypeAlias = Annotated[float, Range(0, 1, "neither")]
Weight: TypeAlias = Annotated[float, Range(0, 10_000)]
"""Of a term of a loss, or another factor without unit."""
Positive: TypeAlias = Annotated[float, Range(0, 1_000_000, "right")]
"""A scale or a norm."""


class Checked:
    """A dataclass whose values are checked; one that checks more calls ``check_ranges`` in its ``__post_init__``."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_ranges(self)


def check_ranges(config: object) -> None:
    """Raise ValueError if a value of a dataclass is not one that its type declares.

    That is a number outside its ``Range``, also one in a tuple, or a word that is none of a ``Literal``.
    """
    cls: Any = type(config)
    for name, words in _choices(cls).items():
        if (value := getattr(config, name)) not in words:
            raise ValueError(f"{name} is {value!r:.80}: use {', '.join(words[:-1])} or {words[-1]}")
    for name, (kind, allowed) in _ranges(cls).items():
        value = getattr(config, name)
        is_list = isinstance(value, tuple)
        for number in value if is_list else (value,):
            if not (isinstance(number, kind) and number in allowed):
                shown = list(value) if is_list else value
                whole = "" if isinstance(number, kind) or kind is Real else "a whole number, "
                raise ValueError(f"{name} is {shown!r:.80}: use {whole}{allowed}")


def range_of(hint: Any) -> Range | None:
    """Return the range that the type of a field declares; None if it has none."""
    found = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Range)]
    return found[0] if found else next(filter(None, map(range_of, typing.get_args(hint))), None)


@cache
def _ranges(cls: type[Any]) -> dict[str, tuple[type[Any], Range]]:
    """Return for each field that declares one what kind of numbers it takes, and their range."""
    ranged, plain = typing.get_type_hints(cls, include_extras=True), typing.get_type_hints(cls)
    found = {}
    for field in fields(cls):
        if allowed := range_of(ranged[field.name]):
            is_whole = int in (plain[field.name], *typing.get_args(plain[field.name]))
            found[field.name] = Integral if is_whole else Real, allowed
    return found


@cache
def _choices(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    """Return the words of each field that is a choice of at least two."""
    hints = typing.get_type_hints(cls)
    names = [field.name for field in fields(cls) if typing.get_origin(hints[field.name]) is Literal]
    choices = {name: typing.get_args(hints[name]) for name in names}
    return {name: words for name, words in choices.items() if len(words) > 1}
