"""The ways to an arena, each with a real server of the other side."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from io import BytesIO, StringIO
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

from suphx.selfplay.agents.agent import load_agent
from suphx_platform.agents.mjai import mjai_arena
from suphx_platform.agents.mjai.mjai_arena import (
    MAX_LINE,
    MjaiPlayer,
    play_lines,
    play_on_tcp,
    play_on_websocket,
    read_lines,
)
from tests.suphx_platform.agents.mjai.arena_lines import FIRST_TURN, START, TO_DISCARD

NONE = {"type": "none"}


@pytest.fixture
def player() -> MjaiPlayer:
    return MjaiPlayer(load_agent("ukeire"))


def sent(*messages: object) -> list[bytes]:
    return [json.dumps(message).encode() for message in messages]


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_line_is_answered_whether_it_has_one_event_or_many(player: MjaiPlayer) -> None:
    single, together = StringIO(), StringIO()
    assert play_lines(player, sent(*TO_DISCARD), single) == 5
    assert play_lines(player, [*sent(START), b"\n", *sent(FIRST_TURN)], together) == 3
    *before, discard = lines(single.getvalue())
    assert before == [NONE] * 4
    assert (discard["type"], discard["actor"]) == ("dahai", 1)
    assert lines(together.getvalue()) == [NONE, discard]


def test_an_event_alone_that_asks_nobody_is_answered_by_none(player: MjaiPlayer) -> None:
    """mjai's own server reveals the indicator of a kan before it looks at the discard that it has been answered."""
    kan = {"type": "ankan", "actor": 1, "consumed": ["2p"] * 4}
    rinshan, dora = {"type": "tsumo", "actor": 1, "pai": "9s"}, {"type": "dora", "dora_marker": "E"}
    hand = ["2p", "2p", "2p", "2m", "4m", "6m", "8m", "2s", "4s", "6s", "8s", "P", "F"]
    hands = [hand if seat == 1 else ["?"] * 13 for seat in range(4)]
    start = [{**event, "tehais": hands} if event["type"] == "start_kyoku" else event for event in TO_DISCARD[:-1]]
    drawn = [{**TO_DISCARD[-1], "pai": "2p"}, kan, rinshan, dora]
    single, together = StringIO(), StringIO()
    play_lines(player, sent(*start, *drawn), single)
    assert [answer["type"] for answer in lines(single.getvalue())][-3:] == ["none", "dahai", "none"]
    other = MjaiPlayer(load_agent("ukeire"))
    play_lines(other, sent([*start, drawn[0]], drawn[1:]), together)
    assert lines(together.getvalue())[-1]["type"] == "dahai", (
        "in a list the last event may come after the one that asks"
    )


def test_a_line_without_an_end_is_refused_after_a_megabyte(player: MjaiPlayer) -> None:
    endless = BytesIO(b" " * (4 * MAX_LINE))
    with pytest.raises(ValueError, match="a line has more than 1,048,576 bytes"):
        play_lines(player, read_lines(endless), StringIO())
    assert endless.tell() == MAX_LINE + 1


def test_a_tcp_server_gives_a_seat_and_asks(player: MjaiPlayer) -> None:
    answers: list[dict[str, Any]] = []

    def ask(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, connection.makefile("rw", encoding="utf-8") as stream:
            for message in ({"type": "hello", "protocol": "mjsonp"}, *TO_DISCARD):
                stream.write(json.dumps(message) + "\n")
                stream.flush()
                answers.append(json.loads(stream.readline()))

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        thread = threading.Thread(target=ask, args=(server,))
        thread.start()
        assert play_on_tcp(player, "127.0.0.1", port, name="A", room="hall") == 6
        thread.join()
    assert answers[0] == {"type": "join", "name": "A", "room": "hall"}
    assert [answer["type"] for answer in answers[1:]] == ["none"] * 4 + ["dahai"]
    with pytest.raises(ValueError, match=f"127.0.0.1:{port} cannot be reached"):
        play_on_tcp(player, "127.0.0.1", port, name="A", room="hall")


def flood(connection: socket.socket) -> None:
    try:
        while True:
            connection.sendall(b"x" * 65536)
    except ConnectionError:
        return


def drip(connection: socket.socket) -> None:
    """Send bytes of a line that does not end for five seconds, each long before the player's patience is over."""
    try:
        for _ in range(500):
            connection.sendall(b" ")
            time.sleep(0.01)
    except ConnectionError:
        return


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        (flood, "a line has more than 1,048,576 bytes"),
        (lambda connection: connection.recv(1), r"127\.0\.0\.1:\d+ has sent no whole message for 0.2 s"),
        (drip, r"127\.0\.0\.1:\d+ has sent no whole message for 0.2 s"),
    ],
    ids=["flood", "silence", "drip"],
)
def test_a_hostile_tcp_server_is_left(
    peer: Callable[[socket.socket], object], message: str, player: MjaiPlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mjai_arena, "SILENT_SECONDS", 0.2)

    def serve_one(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            peer(connection)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_one, args=(server,))
        thread.start()
        with pytest.raises(ValueError, match=message):
            play_on_tcp(player, "127.0.0.1", server.getsockname()[1], name="A", room="hall")
        thread.join()


def on_websocket(ask: Callable[[ServerConnection], None], player: MjaiPlayer, token: str) -> int:
    with serve(ask, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            return play_on_websocket(player, f"ws://127.0.0.1:{server.socket.getsockname()[1]}/ws", token)
        finally:
            server.shutdown()
            thread.join()


def test_a_websocket_server_gets_answers_to_its_requests_only(player: MjaiPlayer) -> None:
    seen: dict[str, Any] = {}

    def ask(connection: ServerConnection) -> None:
        assert connection.request is not None
        seen["token"] = connection.request.headers["Authorization"]
        for event in (*TO_DISCARD, {"type": "request_action", "request_id": 41, "possible_actions": []}):
            connection.send(json.dumps(event))
        seen["answer"] = json.loads(connection.recv(timeout=60))
        connection.send(b"binary frames mean nothing")
        connection.send(json.dumps({"type": "action_ack", "request_id": 41, "status": "accepted"}))

    assert on_websocket(ask, player, "secret") == 1
    assert seen["token"] == "Bearer secret"
    assert (seen["answer"]["type"], seen["answer"]["request_id"]) == ("dahai", 41)


def test_a_silent_websocket_is_left(player: MjaiPlayer, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(connection: ServerConnection) -> None:
        connection.recv()

    monkeypatch.setattr(mjai_arena, "SILENT_SECONDS", 0.2)
    with pytest.raises(ValueError, match=r"ws://127.0.0.1:\d+/ws has sent no whole message for 0.2 s"):
        on_websocket(ask, player, "")


def test_a_websocket_that_breaks_off_is_an_error_without_secrets(player: MjaiPlayer) -> None:
    def ask(connection: ServerConnection) -> None:
        connection.close(code=1008, reason="unknown token")

    with pytest.raises(ValueError, match=r"ws://127.0.0.1:\d+/ws closed the connection: .*unknown token") as raised:
        on_websocket(ask, player, "secret")
    assert "secret" not in str(raised.value)
    with pytest.raises(ValueError, match=r"ws://127.0.0.1:1/ws cannot be reached or refuses"):
        play_on_websocket(player, "ws://127.0.0.1:1/ws", "")
