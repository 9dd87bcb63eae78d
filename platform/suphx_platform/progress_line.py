"""The text of a progress bar: what is done, the time left and a note, in as many columns as there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PERCENT_UNIT = "%"
_MIN_BAR, _MAX_BAR = 8, 20
_STEPS_OF_A_CELL = 8
_CELLS = " ▏▎▍▌▋▊▉█"  # how full a cell of the bar is, in eighths


@dataclass(slots=True)
class ProgressState:
    """How far some work is."""

    unit: str
    """What is counted, such as ``games``; ``%`` for a share of 100; empty for work that cannot be counted."""
    total: float | None = None
    """How many units there are; None if nobody knows."""
    name: str = ""
    """Shown in front, such as ``discard``."""
    done: float = 0.0
    """Units done, including those of an earlier sitting."""
    done_before: float = 0.0
    """Units done in an earlier sitting; the speed is measured without them."""
    note: str = ""
    """Items separated by ``, ``, the most important one first."""

    @property
    def share(self) -> float | None:
        """How much is done, 0 to 1; None if the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    def seconds_left(self, elapsed: float) -> float | None:
        """Return the time that the rest takes at the speed so far; None if that is unknown."""
        done_now = self.done - self.done_before
        if self.total is None or done_now <= 0 or elapsed <= 0:
            return None
        return max(0.0, self.total - self.done) * elapsed / done_now


def duration_text(seconds: float) -> str:
    """Return a duration in its two largest units, such as ``1 min 10 s`` or ``2 h 5 min``."""
    whole = max(0, round(seconds))
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    for place, (name, size) in enumerate(units):
        if whole >= size or size == 1:
            text = f"{whole // size:,} {name}"
            if place + 1 < len(units):
                next_name, next_size = units[place + 1]
                rest = whole % size // next_size
                text += f" {rest} {next_name}" if rest else ""
            return text
    raise AssertionError("the last unit always fits")


def plain_line(state: ProgressState, elapsed: float, *, is_finished: bool = False) -> str:
    """Return the progress as one line of a log, however long."""
    head = f"{state.name}: " if state.name else ""
    return head + ", ".join(_items(state, elapsed, is_finished=is_finished))


def bar_line(state: ProgressState, elapsed: float, columns: int, *, is_unicode: bool = True) -> str:
    """Return the progress as one line of at most ``columns`` characters, with a bar if the total is known.

    What does not fit is left out item by item, from the end of the note; a name or first item that is too long is cut.
    """
    head = f"{state.name} " if state.name else ""
    items = _items(state, elapsed)
    least = _MIN_BAR + 1 if state.share is not None else 0
    text = _fitting(items, columns - len(head) - least)
    if state.share is not None:
        width = min(_MAX_BAR, columns - len(head) - len(text) - 1)
        if width >= _MIN_BAR:
            text = f"{_bar(state.share, width, is_unicode)} {text}"
    return (head + text)[: max(0, columns)]


def _items(state: ProgressState, elapsed: float, *, is_finished: bool = False) -> list[str]:
    """Return what there is to show, the most important item first."""
    items = [_count(state)]
    if is_finished:
        items[0] += f" in {duration_text(elapsed)}"
    else:
        items.append(_time(state, elapsed))
    return [item for item in [*items, *state.note.split(", ")] if item]


def _count(state: ProgressState) -> str:
    if state.unit == PERCENT_UNIT:
        return f"{int(state.done)} %"
    if not state.unit:
        return ""
    of = f" of {state.total:,.0f}" if state.total is not None else ""
    return f"{int(state.done):,}{of} {state.unit}"


def _time(state: ProgressState, elapsed: float) -> str:
    left = state.seconds_left(elapsed)
    return duration_text(elapsed) if left is None else f"{duration_text(left)} left"


def _fitting(items: Sequence[str], columns: int) -> str:
    text = items[0] if items else ""
    for item in items[1:]:
        longer = f"{text}, {item}"
        if len(longer) > columns:
            break
        text = longer
    return text


def _bar(share: float, width: int, is_unicode: bool) -> str:
    if not is_unicode:
        full = int(share * (width - 2))
        return f"[{'#' * full}{'.' * (width - 2 - full)}]"
    eighths = int(share * width * _STEPS_OF_A_CELL)
    full, part = divmod(eighths, _STEPS_OF_A_CELL)
    return ("█" * full + (_CELLS[part] if full < width else "")).ljust(width)
