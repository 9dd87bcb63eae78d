"""Progress bars on a terminal, drawn by rich: a line for each piece of work under way, messages above them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.progress import Progress as RichProgress
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from suphx_platform.console.progress import Progress
from suphx_platform.console.progress_line import fitting_items

_BAR_COLUMNS = 20
_REFRESHES_PER_SECOND = 4
_BARE_COLUMNS = 60
"""A narrower terminal gets no bar, only its text."""


class ProgressBars:
    """Usage: ``with bars.show(Progress(state)) as progress: …``; several may be shown at once."""

    def __init__(self) -> None:
        self._bars: _Bars | None = None

    @contextmanager
    def show(self, progress: Progress) -> Iterator[None]:
        """Show a line for ``progress`` while the block runs; it is removed afterwards."""
        bars = self._bars
        if bars is None:
            bars = self._bars = _Bars(sys.stderr)
        is_first = not bars.tasks
        task = bars.add_task(progress.state.name, progress=progress)
        if is_first:
            bars.start()
        try:
            yield
        finally:
            bars.remove_task(task)
            if is_first:
                bars.stop()
                self._bars = None


class _Bars(RichProgress):
    """A renderable whose lines are our own; rich redraws them and keeps what is printed meanwhile above them."""

    def __init__(self, stderr: IO[str]) -> None:
        console = Console(file=stderr, highlight=False, markup=False, emoji=False)
        super().__init__(console=console, transient=True, refresh_per_second=_REFRESHES_PER_SECOND)

    def get_renderables(self) -> Iterator[RenderableType]:
        for task in self.tasks:
            yield _line(task.fields["progress"], self.console.width)


def _line(progress: Progress, columns: int) -> RenderableType:
    state = progress.state
    has_bar = state.share is not None and columns >= _BARE_COLUMNS
    table = Table.grid(padding=(0, 1, 0, 0))
    cells: list[RenderableType] = []
    room = columns - 1
    if state.name:
        cells.append(Text(state.name, no_wrap=True))
        room -= cell_len(state.name) + 1
    if has_bar:
        cells.append(ProgressBar(total=1.0, completed=state.share or 0.0, width=_BAR_COLUMNS))
        room -= _BAR_COLUMNS + 1
    cells.append(Text(fitting_items(state, progress.elapsed, room), no_wrap=True, overflow="crop"))
    table.add_row(*cells)
    return table
