"""The steps of a command that takes a while, each shown with its time while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suphx_platform.console.console import Console


@contextmanager
def steps(console: Console) -> Iterator[Callable[[str], None]]:
    """Yield a function that ends the step before and begins the one of the given name.

    >>> with steps(console) as begin:
    ...     begin("collecting positions")
    ...     begin("encoding")
    """
    with ExitStack() as stack:

        def begin(name: str) -> None:
            stack.close()
            stack.enter_context(console.activity(name))

        yield begin
