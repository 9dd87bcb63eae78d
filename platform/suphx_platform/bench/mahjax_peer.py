"""Mahjax, a riichi environment on JAX, in a process of its own: its Python may be that of another environment.

>>> with start_mahjax("mahjax/bin/python", num_tables=256, num_steps=4, seed=0) as peer:
...     peer.play("observed")
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Literal

from suphx.json_text import parse_json
from suphx_platform.bench.mahjax_process import MISSING

PACKAGE = "mahjax==0.1.6"
"""What was tried."""
_PROGRAM = Path(__file__).with_name("mahjax_process.py")
_LAST_LINES = 3


@contextmanager
def start_mahjax(python: str, *, num_tables: int, num_steps: int, seed: int) -> Iterator[MahjaxPeer]:
    """Start the process and wait until it has compiled, which takes minutes; the process ends with the block.

    ``python``: the interpreter of an environment with mahjax. ``num_steps``: decisions at each of ``num_tables``
    tables in one call. ValueError if the interpreter does not exist, has no mahjax, or cannot run it.
    """
    command = [python, str(_PROGRAM), str(num_tables), str(num_steps), str(seed)]
    with TemporaryFile("w+", encoding="utf-8") as errors:
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        except OSError as error:
            raise ValueError(f"--mahjax-python is {python}, which cannot be started: {error.strerror}") from error
        with process:
            try:
                yield MahjaxPeer(process, errors)
            finally:
                process.kill()


class MahjaxPeer:
    """Consumes: names of what to play. Produces: numbers of decisions. Waits for: the process, which has one core."""

    name = "mahjax"

    def __init__(self, process: subprocess.Popen[str], errors: IO[str]) -> None:
        """Wait until ``process`` is ready; it writes its messages to ``errors``. ValueError if it ends."""
        self._process = process
        self._errors = errors
        ready = parse_json(self._answer())
        self.version: str = ready["mahjax"]
        self.jax_version: str = ready["jax"]
        self.compile_seconds: float = ready["compile_seconds"]

    def play(self, kind: Literal["observed", "unobserved"]) -> int:
        """Play random legal moves at all seats and return the number of decisions.

        ``observed``: with the observation of the seat that decides, at each decision; ``unobserved``: the rules only.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(f"{kind}\n")
        self._process.stdin.flush()
        return int(self._answer())

    def _answer(self) -> str:
        """Return the next line of the process; ValueError with its last messages if it has ended."""
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            return line
        status = self._process.wait()
        self._errors.seek(0)
        messages = " ".join(self._errors.read().splitlines()[-_LAST_LINES:])
        if status == MISSING:
            raise ValueError(
                f"mahjax cannot be imported ({messages}): run python3.11 -m venv mahjax && mahjax/bin/pip install "
                f"{PACKAGE}, then add --mahjax-python mahjax/bin/python, or leave it out of --peer"
            )
        raise ValueError(f"mahjax ended with status {status}: {messages}")
