"""Lets programs that speak other dialects of mjai play as agents of ``suphx evaluate`` (docs: README.md).

``mjai:`` gives a program a list of events when it has to decide, and wants one answer. This adapter passes the events
on one by one, in the way that the program needs:

    mjai_client.py PROGRAM …            reads events from standard input, answers each (Mortal in review mode)
    mjai_client.py --tcp PROGRAM …      is a client of the original mjai server, answers each (Manue)
    mjai_client.py --akochan PROGRAM …  akochan's mode "pipe": answers with the list of its next moves

``{seat}``, ``{address}`` and ``{port}`` are replaced in the arguments of the program; the seat comes last.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any

HELLO = {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
CONNECT_SECONDS = 60.0


Event = dict[str, Any]
NONE: Event = {"type": "none"}


class Program:
    """A running program that answers every event on a line of its own."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it; OSError if that is not possible."""
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[str] = self._process.stdin
        self._output: IO[str] = self._process.stdout

    def decide(self, events: Sequence[Event]) -> Event:
        """Return the answer to the last of ``events``. EOFError if the program has ended."""
        answer: Any = NONE
        for event in events:
            self.write(event)
            answer = self.read()
        return dict(answer)

    def write(self, event: Event) -> None:
        """Send an event."""
        self._input.write(json.dumps(event, separators=(",", ":")) + "\n")
        self._input.flush()

    def read(self) -> Any:
        """Return its next line. EOFError if the program has ended."""
        while line := self._output.readline():
            if line.strip():
                return json.loads(line)
        raise EOFError("the program has ended")

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


class TcpProgram(Program):
    """A client of the original mjai server, which this process is for it."""

    def __init__(self, command: Sequence[str], listener: socket.socket) -> None:
        """Start it. OSError if that is not possible, TimeoutError if it does not connect within 60 seconds."""
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, text=True)
        listener.settimeout(CONNECT_SECONDS)
        connection, _ = listener.accept()
        connection.settimeout(None)
        self._input, self._output = connection.makefile("w"), connection.makefile("r")
        self.decide([HELLO])  # its answer: join


class AkochanProgram(Program):
    """akochan, which answers with a list of moves: after reach, chi and pon the next one is the discard."""

    def __init__(self, command: Sequence[str], seat: int) -> None:
        """Start it; OSError if that is not possible."""
        super().__init__(command)
        self._seat = seat
        self._moves: list[Event] = []

    def decide(self, events: Sequence[Event]) -> Event:
        """Return its move. EOFError if the program has ended."""
        last = events[-1]
        is_own = last.get("actor") == self._seat
        is_asked = last["type"] == "tsumo" if is_own else last["type"] in ("dahai", "kakan")
        for event in events[:-1]:
            self.write(event | {"can_act": False})
        self.write(last | {"can_act": is_asked})
        if is_asked:
            self._moves = list(self.read())
        return self._moves.pop(0) if self._moves else NONE


def main(arguments: Sequence[str]) -> None:
    """Play one game; ``arguments``: as above."""
    mode = arguments[0] if arguments and arguments[0] in ("--tcp", "--akochan") else ""
    *command, seat = arguments[1:] if mode else arguments
    if not command:
        raise SystemExit("usage: mjai_client.py [--tcp | --akochan] PROGRAM [ARGUMENT …] SEAT")
    listener = socket.create_server(("127.0.0.1", 0))
    port = str(listener.getsockname()[1])
    for name, value in {"{seat}": seat, "{port}": port, "{address}": f"127.0.0.1:{port}"}.items():
        command = [argument.replace(name, value) for argument in command]
    program = (
        TcpProgram(command, listener)
        if mode == "--tcp"
        else AkochanProgram(command, int(seat))
        if mode
        else Program(command)
    )
    try:
        for line in sys.stdin:
            print(json.dumps(program.decide(json.loads(line))), flush=True)
    finally:
        program.end()


if __name__ == "__main__":
    main(sys.argv[1:])
