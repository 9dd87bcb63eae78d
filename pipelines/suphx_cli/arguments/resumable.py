"""What commands do that can be stopped and typed again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suphx_platform.console.console import Console


@contextmanager
def resumable(console: Console, saved: Callable[[KeyboardInterrupt], str]) -> Iterator[None]:
    """Stop the block at the first Ctrl-C, SIGTERM or SIGHUP, and print what is saved and the command that continues.

    ``saved`` returns the sentence about what is saved. KeyboardInterrupt is raised again.
    """
    from suphx_pipelines.summary.run_summary import command_line
    from suphx_platform.console.stop_request import TwoStepStop

    next_step = f"Continue with: {shlex.join(command_line())}"
    try:
        with TwoStepStop(next_step):
            yield
    except KeyboardInterrupt as error:
        console.error(f"{saved(error)} {next_step}")
        raise
