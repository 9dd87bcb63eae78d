"""The text of progress: what is done, the time left and a note, in as many columns as there are."""

from __future__ import annotations

from dataclasses import dataclass

from suphx_platform.console.table_text import duration_text

PERCENT_UNIT = "%"
_ROUNDING = 1e-6
"""Parts of a unit are summed: a thousand games may be 999.999999."""
_KNOWN_SHARE = 0.05
"""Of the work of this sitting: before it is done, start-up costs make an estimate of the time left useless."""
_KNOWN_SECONDS = 60.0
"""After this time even less work gives an estimate: that of a run of days."""


@dataclass(slots=True)
class ProgressState:
    """How far some work is."""

    unit: str
    """What is counted, such as ``games``; ``%`` for a share of 100; empty for work that cannot be counted."""
    total: float | None = None
    """How many units there are; None if unknown."""
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
        """Return the time that the rest takes at the speed so far; None as long as too little is done to know it."""
        done_now = self.done - self.done_before
        if self.total is None or done_now <= 0 or elapsed <= 0:
            return None
        if elapsed < _KNOWN_SECONDS and done_now < _KNOWN_SHARE * (self.total - self.done_before):
            return None
        return max(0.0, self.total - self.done) * elapsed / done_now


def plain_line(state: ProgressState, elapsed: float, *, is_finished: bool = False) -> str:
    """Return the progress as one line of a log, however long; at the end without the note, which is over then."""
    head = f"{state.name}: " if state.name else ""
    return head + ", ".join(_items(state, elapsed, is_finished=is_finished))


def fitting_items(state: ProgressState, elapsed: float, columns: int) -> str:
    """Return the progress in at most ``columns`` characters; items that do not fit are left out from the end."""
    items = _items(state, elapsed)
    text = items[0] if items else ""
    for item in items[1:]:
        longer = f"{text}, {item}"
        if len(longer) > columns:
            break
        text = longer
    return text


def _items(state: ProgressState, elapsed: float, *, is_finished: bool = False) -> list[str]:
    """Return what there is to show, the most important item first."""
    count = _count(state)
    if is_finished:
        return [f"{count} in {duration_text(round(elapsed))}"]
    return [item for item in (count, _time(state, elapsed), *state.note.split(", ")) if item]


def _count(state: ProgressState) -> str:
    if state.unit == PERCENT_UNIT:
        return f"{int(state.done + _ROUNDING)} %"
    if not state.unit:
        return ""
    of = f" of {state.total:,.0f}" if state.total is not None else ""
    is_one = (state.done if state.total is None else state.total) == 1
    return f"{int(state.done + _ROUNDING):,}{of} {state.unit.removesuffix('s') if is_one else state.unit}"


def _time(state: ProgressState, elapsed: float) -> str:
    left = state.seconds_left(elapsed)
    if left is not None:
        return f"{duration_text(round(left))} left"
    return duration_text(round(elapsed)) + (" elapsed" if state.unit else "")
