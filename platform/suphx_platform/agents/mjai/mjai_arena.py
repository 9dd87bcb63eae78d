"""Our agents in other arenas: an agent that answers in the mjai protocol, the ways to an arena.

>>> player = MjaiPlayer(load_any_agent("ukeire", "riichi"), seat=2)
>>> player.see([{"type": "start_game"}, {"type": "start_kyoku", ...}, ...])
>>> player.answer()  # {"type": "dahai", "actor": 2, "pai": "E", "tsumogiri": False}

The ways are standard input and output, the TCP server of mjai itself, and a WebSocket as of RiichiLab. On the first two
every line is answered. A line with one event is answered by a move only if that event asks for one: mjai's own server
refuses another answer to ``dora`` or ``reach_accepted``, which it sends while it waits for nobody. On a WebSocket only
``request_action`` is, with its ``request_id``. A line has at most ``MAX_LINE`` bytes, and a server that sends no whole
line for ``SILENT_SECONDS`` is left.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO
from urllib.parse import urlsplit

import numpy as np

from suphx.experience.observation import F32
from suphx.games.game import Agent
from suphx.games.riichi.records.mjai_table import MjaiTable, reply_of_action
from suphx.json_text import parse_json
from suphx.kernel.record import Records
from suphx.printable_text import shortened
from suphx.selfplay.agents.agent import JudgingAgent
from suphx_platform.agents.mjai.programs import Event

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_ONLY_TABLE = np.zeros(1, np.int64)


class MjaiPlayer:
    """Consumes: what an arena sends. Produces: an answer each time that it is asked."""

    def __init__(self, agent: Agent, seat: int | None = None, *, has_meta: bool = False) -> None:
        """``seat`` (0-3) may be None if the arena tells it; with ``has_meta`` answers carry probabilities.

        ValueError if the agent has no probabilities, or cannot play without seeing hidden tiles.
        """
        nets = agent if isinstance(agent, JudgingAgent) else None
        if has_meta and nets is None:
            raise ValueError(f"{agent.name!r} has no probabilities to send: use an agent of nets, or no meta data")
        if nets is not None and nets.sees_hidden_tiles:
            raise ValueError(f"{agent.name!r} needs the hidden tiles, which no arena shows: use nets of another stage")
        self._agent = agent
        self._judge = nets if has_meta else None
        self._table = MjaiTable(seat)

    def see(self, message: object) -> None:
        """Follow one event or a list of events; ValueError for anything else, an impossible event or an error."""
        for event in message if isinstance(message, list) else [message]:
            if not isinstance(event, dict):
                raise ValueError(f"{event!r:.100} is not an mjai event: it must be a JSON object")
            if not isinstance(event.get("type", ""), str):
                raise ValueError(f"{event['type']!r:.100} is not a type of an event: it must be a text")
            if event.get("type") == "error":
                raise ValueError(f"the arena reports an error: {shortened(str(event.get('message', event)), 300)}")
            self._table.see(event)

    def answer(self) -> Event:
        """Return the agent's move, ``{"type": "none"}`` if it passes or has nothing to decide."""
        tables = self._table.decision()
        if tables is None:
            return {"type": "none"}
        reply = reply_of_action(tables[0], int(self._agent.act(tables, _ONLY_TABLE)[0]))
        if self._judge is None:
            return reply
        probabilities = self._judge.move_probabilities(tables, _ONLY_TABLE)[0]
        return reply | {"meta": {"moves": moves_of(tables[0], probabilities)}}


def decision_after(events: Iterable[Event]) -> Records | None:
    """Return a table (1,) that waits for the player who saw ``events``; None if it has nothing to decide.

    ValueError for an impossible event.
    """
    table = MjaiTable()
    for event in events:
        table.see(event)
    return table.decision()


def moves_of(table: Records, probabilities: F32) -> list[dict[str, Any]]:
    """Return ``[{"move": answer, "p": probability}]`` of all legal moves, the most probable first."""
    legal = [a for a in np.flatnonzero(table["legal"]).tolist() if np.isfinite(probabilities[a])]
    legal.sort(key=lambda action: -float(probabilities[action]))
    return [{"move": reply_of_action(table, a), "p": round(float(probabilities[a]), 4)} for a in legal]


_CONNECT_SECONDS = 30.0
SILENT_SECONDS = 1800.0
"""A room may wait for more players, and people think; a server that is silent for longer has forgotten its players."""
MAX_LINE = 1 << 20
"""Bytes of one line; all events of a hanchan in one list have about 100,000."""
_PIECE = 1 << 16
_LEAST_SECONDS = 0.001
_SHOWN = 100
_ASKING = ("tsumo", "dahai", "chi", "pon", "reach", "ankan", "kakan", "request_action")
"""Types of events after which a player may have to decide."""


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file or pipe; ValueError for one over ``MAX_LINE`` bytes."""
    while line := file.readline(MAX_LINE + 1):
        yield _checked(line)


def play_lines(player: MjaiPlayer, lines: Iterable[bytes], output: TextIO, *, name: str = "", room: str = "") -> int:
    """Answer every line, a JSON object or a list of them, until there are no more; return how many it were.

    A server that says ``hello`` is asked for a seat in ``room``, for ``name``. ValueError for a line that is no JSON
    or no event, with the number of the line.
    """
    number = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            message = _parsed(line)
            if isinstance(message, dict) and message.get("type") == "hello":
                answer: Event = {"type": "join", "name": name, "room": room}
            else:
                player.see(message)
                # In a list, mjai.app sends all events since the last decision.
                asks = isinstance(message, list) or message.get("type") in _ASKING
                answer = player.answer() if asks else {"type": "none"}
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        output.write(json.dumps(answer, separators=(",", ":")) + "\n")
        output.flush()
    return number


def play_on_tcp(player: MjaiPlayer, host: str, port: int, *, name: str, room: str) -> int:
    """Play on a server that sends lines; return how many. ValueError if it cannot be reached, fails or is silent."""
    try:
        connection = socket.create_connection((host, port), _CONNECT_SECONDS)
    except OSError as error:
        raise ValueError(
            f"{host}:{port} cannot be reached: {error.strerror or error}: check that it listens"
        ) from error
    try:
        with connection, connection.makefile("w", encoding="utf-8") as output:
            return play_lines(player, _lines_of(connection), output, name=name, room=room)
    except TimeoutError as error:
        raise ValueError(f"{host}:{port} {_SILENT.format(SILENT_SECONDS)}") from error
    except OSError as error:
        raise ValueError(f"{host}:{port} has broken off the connection: {error.strerror or error}") from error


def _lines_of(connection: socket.socket) -> Iterator[bytes]:
    """Yield the lines of a server, the last one perhaps without its end.

    ValueError for a line over ``MAX_LINE`` bytes, TimeoutError if the next one is not there in ``SILENT_SECONDS``.
    """
    rest = b""
    while True:
        limit = time.monotonic() + SILENT_SECONDS
        while b"\n" not in rest:
            connection.settimeout(max(limit - time.monotonic(), _LEAST_SECONDS))
            piece = connection.recv(_PIECE)
            if not piece:
                if rest:
                    yield rest
                return
            rest = _checked(rest) + piece
        connection.settimeout(SILENT_SECONDS)  # of the answer
        line, _, rest = rest.partition(b"\n")
        yield _checked(line)


def play_on_websocket(player: MjaiPlayer, url: str, token: str) -> int:
    """Play on a WebSocket until the server closes it; return how often the agent was asked.

    ``token`` goes into the header ``Authorization: Bearer``, if it is not empty. ValueError if the server cannot be
    reached or refuses.
    """
    from websockets.exceptions import ConnectionClosed, WebSocketException
    from websockets.sync.client import connect

    headers = {"Authorization": f"Bearer {token}"} if token else None
    num_asked = 0
    try:
        with connect(url, additional_headers=headers, open_timeout=_CONNECT_SECONDS) as connection:
            for frame in _frames(connection, url):
                message = _parsed(frame)
                player.see(message)
                if isinstance(message, dict) and message.get("type") == "request_action":
                    num_asked += 1
                    answer = player.answer() | {"request_id": message.get("request_id")}
                    connection.send(json.dumps(answer, separators=(",", ":")))
    except ConnectionClosed as error:
        raise ValueError(f"{_place(url)} closed the connection: {error}") from error
    except (OSError, WebSocketException) as error:
        raise ValueError(f"{_place(url)} cannot be reached or refuses: {error}: check the address and token") from error
    return num_asked


def _frames(connection: ClientConnection, url: str) -> Iterator[str]:
    """Yield the texts of a server until it closes the connection; ValueError if it sends none for a long time."""
    from websockets.exceptions import ConnectionClosedOK

    limit = time.monotonic() + SILENT_SECONDS
    while True:
        try:
            frame = connection.recv(max(limit - time.monotonic(), 0))
        except ConnectionClosedOK:
            return
        except TimeoutError as error:
            raise ValueError(f"{_place(url)} {_SILENT.format(SILENT_SECONDS)}") from error
        if isinstance(frame, str):
            yield frame
            limit = time.monotonic() + SILENT_SECONDS


_SILENT = "has sent no whole message for {:g} s, or does not read the answers: connect again when a game begins"


def _place(url: str) -> str:
    """Return an address without what may be secret in it."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def _checked(line: bytes) -> bytes:
    """Return a line, or the part of it that has come; ValueError if it is too long."""
    if len(line) > MAX_LINE:
        raise ValueError(f"a line has more than {MAX_LINE:,} bytes: send one mjai event, or a list of events, per line")
    return line


def _parsed(line: str | bytes) -> Any:
    try:
        return parse_json(line)
    except ValueError as error:
        text = line.strip()[:_SHOWN]
        shown = text if isinstance(text, str) else text.decode(errors="replace")
        raise ValueError(
            f"{shown!r} is not JSON ({error}): send one mjai event, or a list of events, per line"
        ) from error
