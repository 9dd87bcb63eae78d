"""The ways to an arena: standard input and output, the TCP server of mjai itself, a WebSocket as of RiichiLab.

On the first two every line is answered. A line with one event is answered by a move only if that event asks for one:
mjai's own server refuses another answer to ``dora`` or ``reach_accepted``, which it sends while it waits for nobody. On
a WebSocket only ``request_action`` is, with its ``request_id``.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from suphx_platform.agents.mjai.mjai_player import MjaiPlayer
    from suphx_platform.agents.mjai.mjai_program import Event

_CONNECT_SECONDS = 30.0
_SHOWN = 100
_ASKING = {"tsumo", "dahai", "chi", "pon", "reach", "ankan", "kakan", "request_action"}
"""Types of events after which a player may have to decide."""


def play_lines(player: MjaiPlayer, lines: Iterable[str], output: TextIO, *, name: str = "", room: str = "") -> int:
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
                answer = player.answer() if _asks(message) else {"type": "none"}
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        output.write(json.dumps(answer, separators=(",", ":")) + "\n")
        output.flush()
    return number


def play_on_tcp(player: MjaiPlayer, host: str, port: int, *, name: str, room: str) -> int:
    """Play on a server that sends lines; return how many. OSError if it cannot be reached."""
    try:
        connection = socket.create_connection((host, port), _CONNECT_SECONDS)
    except OSError as error:
        raise ValueError(
            f"{host}:{port} cannot be reached: {error.strerror or error}: check that it listens"
        ) from error
    with connection, connection.makefile("r", encoding="utf-8") as lines:
        connection.settimeout(None)
        with connection.makefile("w", encoding="utf-8") as output:
            return play_lines(player, lines, output, name=name, room=room)


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
            for frame in connection:
                if isinstance(frame, bytes):
                    continue
                message = json.loads(frame)
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


def _asks(message: Any) -> bool:
    """Tell whether a message may want a move: in a list, mjai.app sends all events since the last decision."""
    return isinstance(message, list) or message.get("type") in _ASKING


def _place(url: str) -> str:
    """Return an address without what may be secret in it."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        text = line.strip()[:_SHOWN]
        raise ValueError(f"{text!r} is not JSON: send one mjai event, or a list of events, per line") from None
