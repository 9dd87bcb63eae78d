"""A program that plays in an outside arena: started as the arena would start it, fed with lines, asked for lines.

Nothing of this project is between the arena and the program but the two pipes.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SECONDS = 300.0
"""For an answer; the first one includes the start of the program."""
NONE: dict[str, Any] = {"type": "none"}


class LineProgram:
    """Consumes: the events of one seat. Produces: the program's answers.

    With ``is_single`` every event is a line of its own, as mjai's own server sends them, and each line has an answer.
    Only the last one of a turn may be a move, or one that the arena then makes itself, because it is the only legal
    one. Otherwise a line is a list of all new events, as on mjai.app.
    """

    def __init__(self, process: subprocess.Popen[str], *, is_single: bool) -> None:
        self._process = process
        self._is_single = is_single
        self._answer = NONE

    def see(self, events: Sequence[dict[str, Any]]) -> None:
        """Send events, and read the answer to each line."""
        for line in events if self._is_single else [list(events)]:
            if self._answer != NONE:
                assert isinstance(line, dict)
                assert self._answer.items() <= line.items(), f"{self._answer} is a move where {line} followed"
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
            self._answer = self._read()

    def answer(self) -> dict[str, Any]:
        """Return the answer to the last line."""
        answer, self._answer = self._answer, NONE
        return answer

    def end(self) -> None:
        """Close its standard input; AssertionError unless it then ends without an error and without another word."""
        rest, _ = self._process.communicate(timeout=_SECONDS)
        assert (self._process.returncode, rest) == (0, "")

    def _read(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], _SECONDS)
        line = stdout.readline() if ready else ""
        assert line.endswith("\n"), f"{self._process.args!r}: no answer within {_SECONDS:g} s, or it has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def line_program(command: Sequence[str], folder: Path | None = None, *, is_single: bool) -> Iterator[LineProgram]:
    """Yield a started program; it is killed if the block ends before it does.

    ``folder``: of an unpacked bot, which then sees no other code of this project (no ``PYTHONPATH``).
    """
    environment = dict(os.environ)
    if folder is not None:
        environment.pop("PYTHONPATH", None)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=folder, env=environment) as process:
        try:
            yield LineProgram(process, is_single=is_single)
        finally:
            process.kill()
