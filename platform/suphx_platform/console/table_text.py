"""Results as a person reads them: aligned lines and tables with sensible digits and units instead of Python values.

The keys of a result are those of its JSON; the ending of a key gives the unit (``seconds``, ``_share``, ``_rate``,
``_bytes``). A result is a mapping; a list of mappings in it becomes a table.
"""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence

MAX_WIDTH = 100
"""A wider table is turned by 90 degrees if that makes it narrower."""
_INDENT = "  "
_NARROWEST = 24
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_PLAIN_WHOLE_NUMBERS = ("seed", "port", "version", "position", "step")  # names rather than amounts: no commas
_UNITS = {"_microseconds": " µs", "_milliseconds": " ms"}

Row = Mapping[str, object]


def result_lines(values: Row) -> list[str]:
    """Return the lines of a result: single values first, then its tables, in their order.

    None and what is empty are skipped.
    """
    shown = {key: value for key, value in values.items() if value is not None and value not in ({}, [], ())}
    single = [(label(key), value_text(key, value)) for key, value in shown.items() if not _is_nested(value)]
    width = max((len(name) for name, _ in single), default=0) + 1
    lines = [f"{name + ':':<{width}} {text}" for name, text in single]
    for key, value in shown.items():
        if _is_nested(value):
            lines += ["", f"{label(key)}:", *((_INDENT + line).rstrip() for line in _nested_lines(value))]
    return lines if single else lines[1:]


def mapping_table(rows: Iterable[Row]) -> list[str]:
    """Return mappings as a table with a column for each key, in the order in which the keys appear."""
    kept = list(rows)
    named = dict.fromkeys(key for row in kept for key in row)
    keys = [key for key in named if any(row.get(key) is not None for row in kept)]
    cells = [[value_text(key, row.get(key)) for key in keys] for row in kept]
    header = [label(key) for key in keys]
    lines = text_table(header, cells)
    if len(cells) < len(keys) and max(map(len, lines)) > MAX_WIDTH:
        turned = text_table((), [list(column) for column in zip(header, *cells, strict=True)])
        return turned if max(map(len, turned)) < max(map(len, lines)) else lines
    return lines


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return aligned lines of texts, columns of numbers to the right; an empty ``header`` gives none."""
    columns = list(zip(*([header] if header else []), *rows, strict=True))
    bodies = list(zip(*rows, strict=True)) or [()] * len(columns)
    widths = [max(map(len, column)) for column in columns]
    is_right = [any(body) and all(text[:1] in "0123456789-+" for text in body if text) for body in bodies]
    lines = []
    for row in [header, *rows] if header else rows:
        cells = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, is_right, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def wrapped_table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Return a table whose last column, a text, is wrapped so that lines have at most ``width`` characters.

    Without ``width`` it is that of the terminal; output that goes elsewhere is not wrapped.
    """
    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    before = text_table(header[:-1], [row[:-1] for row in rows])
    offset = max(map(len, before)) + 2
    room = max(_NARROWEST, width - offset)
    lines = []
    for start, last in zip(before, (header[-1], *(row[-1] for row in rows)), strict=True):
        parts = textwrap.wrap(last, room) if len(last) > room else [last]
        lines.append(f"{start:<{offset}}{parts[0]}".rstrip())
        lines += [" " * offset + part for part in parts[1:]]
    return lines


def label(key: str) -> str:
    """Return a key in words: ``"cold_start_seconds"`` is "cold start", as its value has the unit; a name stays.

    >>> label("hanchans_per_second"), label("lookahead_microseconds"), label("points_interval")
    ('hanchans per second', 'lookahead', 'points 95 % interval')
    """
    if not key.isidentifier():  # such as the id of a run
        return key
    if key == "seconds":
        return "time"
    if key.endswith("interval"):
        return f"{key.removesuffix('interval')}95 % interval".replace("_", " ")
    for ending in ("_seconds", *_UNITS):
        key = key.removesuffix(ending)
    return key.replace("_", " ")


def value_text(key: str, value: object) -> str:
    """Return one value with digits and unit as its key suggests; None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number_with_unit(key, value)
    if isinstance(value, list | tuple):
        if all(item is None for item in value):
            return ""
        texts = [value_text(key.removesuffix("_interval"), item) for item in value]
        return " to ".join(texts) if "interval" in key and len(texts) == 2 else ", ".join(texts)
    if isinstance(value, Mapping):
        return ", ".join(f"{label(name)} {value_text(name, item)}" for name, item in value.items() if item is not None)
    return str(value)


def number_text(value: float) -> str:
    """Return a number with four significant digits and commas: 0.01235, 12.35, 12,346."""
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}" if math.isfinite(value) else str(value)
    return f"{value:.4g}" if value else "0"


def count_text(count: float, singular: str, plural: str | None = None) -> str:
    """Return a whole number with its noun, such as ``1 game`` or ``2,000 games``; ``plural``: default with an s."""
    return f"{count:,.0f} {singular if count == 1 else plural or f'{singular}s'}"


def share_text(value: float) -> str:
    """Return a share as a percentage: 0.1234 is "12.3 %"."""
    return f"{100 * value:.1f} %"


def duration_text(seconds: float) -> str:
    """Return a time in two units at most: "0.84 s", "75 s", "4 min 10 s", "3 h 20 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 20 else f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _DAY} d {whole % _DAY // _HOUR} h"


def bytes_text(number: float) -> str:
    """Return an amount of memory in binary units: "512 bytes", "3.4 MiB"."""
    unit = 0
    while abs(number) >= 1024 and unit < 4:
        number /= 1024
        unit += 1
    return f"{number:.0f} bytes" if not unit else f"{number:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[unit - 1]}"


def _number_with_unit(key: str, value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    key = key.removesuffix("_low").removesuffix("_high")  # an end of the interval of a figure has its unit
    if key == "seconds" or key.endswith(("_seconds", "seconds_per_hand")):
        return duration_text(value)
    for ending, unit in _UNITS.items():
        if key.endswith(ending):
            return number_text(value) + unit
    if key.endswith(("share", "accuracy")) or (key.endswith("_rate") and key != "learning_rate"):
        return share_text(value)
    if key.endswith("bytes"):
        return bytes_text(value)
    return str(value) if isinstance(value, int) and key in _PLAIN_WHOLE_NUMBERS else number_text(value)


def _is_nested(value: object) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping)


def _nested_lines(value: object) -> list[str]:
    """Return the lines of a mapping, of a mapping of mappings (a table with their names), or of a list of mappings."""
    if not isinstance(value, Mapping):
        assert isinstance(value, list | tuple)
        return mapping_table(value)
    inner = list(value.values())
    if inner and all(isinstance(row, Mapping) and not any(map(_is_nested, row.values())) for row in inner):
        return mapping_table({"": name, **row} for name, row in value.items())
    return result_lines(value)
