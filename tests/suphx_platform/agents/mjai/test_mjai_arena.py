"""Our agents at the tables of others: the same games as asked directly, legal in an outside arena, each way there."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import Any

import numpy as np
import pytest
from websockets.sync.server import ServerConnection, serve

from suphx.games.game import Agent
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.rules import Rules, tenhou, tonpuu
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx_platform.agents.mjai import mjai_arena
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.agents.mjai.mjai_arena import (
    MAX_LINE,
    MjaiPlayer,
    play_lines,
    play_on_tcp,
    play_on_websocket,
    read_lines,
)
from suphx_platform.agents.mjai.programs import CommandLine, Event
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.riichienv_arena import play_hanchan

NONE = {"type": "none"}
HIDDEN = ["?"] * 13


def start_of(hand: list[str]) -> list[Event]:
    """Return the first events of a deal, as an arena sends them to seat 1."""
    deal = {
        "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0, "dora_marker": "1p",
        "scores": [25000] * 4, "tehais": [HIDDEN, hand, HIDDEN, HIDDEN],
    }  # fmt: skip
    return [{"type": "start_game", "id": 1}, deal]


def first_turn(drawn: str) -> list[Event]:
    """Return the events up to the decision of seat 1 about its first discard."""
    return [
        {"type": "tsumo", "actor": 0, "pai": "?"},
        {"type": "dahai", "actor": 0, "pai": "N", "tsumogiri": True},
        {"type": "tsumo", "actor": 1, "pai": drawn},
    ]


START = start_of(["1m", "9m", "1p", "9p", "1s", "5mr", "5p", "6s", "6s", "E", "E", "F", "C"])
TO_DISCARD = [*START, *first_turn("2m")]


@pytest.fixture
def player() -> MjaiPlayer:
    return MjaiPlayer(load_agent("ukeire"))


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_random(tmp_path_factory.mktemp("nets")))


class PlayerInThisProcess:
    """Stands where MjaiAgent starts a program; the agent's address is the program's command line."""

    has_answered = True

    def __init__(self, address: CommandLine, seat: int, move_seconds: float, start_seconds: float | None) -> None:
        player = MjaiPlayer(load_agent(address.command), seat)
        self.send, self.receive, self.close = player.see, player.answer, lambda: None

    def refuse(self, reason: Exception) -> AssertionError:
        return AssertionError(str(reason))


def played(agent: Agent, name: str, num_games: int, rules: Rules) -> list[str]:
    """Return the records of games of an agent, at another seat each time, with three of the scripted agent ukeire."""
    seating = [[0 if seat == game % 4 else 1 for seat in range(4)] for game in range(num_games)]
    agents = [agent, load_agent("ukeire")]
    games = play_games(agents, np.array(seating), range(num_games), rules, names=[name, "ukeire"])
    return [write_mjai(game) for game in games]


@pytest.mark.parametrize("kind", ["ukeire", "nets"])
def test_what_an_agent_decides_does_not_depend_on_the_protocol(
    kind: str, nets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = nets if kind == "nets" else kind
    direct = played(load_agent(address), kind, 4, tenhou())
    monkeypatch.setattr("suphx_platform.agents.mjai.programs.MjaiProgram", PlayerInThisProcess)
    monkeypatch.setattr("shutil.which", lambda program: program)
    assert played(MjaiAgent(kind, CommandLine(address)), kind, 4, tenhou()) == direct


def test_the_command_plays_the_same_games_as_the_agent() -> None:
    program = CommandLine(f"{sys.executable} -m suphx_cli.cli mjai --agent ukeire")
    by_command = MjaiAgent("mjai", program, move_seconds=120)
    assert played(by_command, "A", 2, tonpuu()) == played(load_agent("ukeire"), "A", 2, tonpuu())


@pytest.mark.parametrize("num_hanchans", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_an_outside_arena_accepts_every_move(nets: str, num_hanchans: int) -> None:
    agents = [load_agent(address) for address in ("random", "ukeire", nets, f"{nets}:sampled")]
    moves: Counter[str] = Counter()
    for game in range(num_hanchans):
        seats = [MjaiPlayer(agents[(game + seat) % 4], seat if game % 2 else None) for seat in range(4)]
        moves += play_hanchan(seats, game)
    assert moves.total() > 200 * num_hanchans
    expected = {"none", "dahai", "reach", "chi", "pon", "hora"}
    assert set(moves) >= (expected if num_hanchans < 100 else expected | {"daiminkan", "ankan", "kakan"})


def test_meta_data_are_the_probabilities_of_the_legal_moves(nets: str) -> None:
    player = MjaiPlayer(load_agent(nets), 1, has_meta=True)
    player.see(TO_DISCARD)
    answer = player.answer()
    moves = answer.pop("meta")["moves"]
    assert moves[0]["move"] == answer
    assert sum(move["p"] for move in moves) == pytest.approx(1, abs=0.01)


# Lines


def answers(player: MjaiPlayer, *messages: object) -> list[Event]:
    """Return the answers to lines with these messages."""
    output = StringIO()
    assert play_lines(player, [b"\n", *(json.dumps(message).encode() for message in messages)], output) > 0
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_every_line_is_answered_whether_it_has_one_event_or_many(player: MjaiPlayer) -> None:
    *before, discard = answers(player, *TO_DISCARD)
    assert before == [NONE] * 4
    assert (discard["type"], discard["actor"]) == ("dahai", 1)
    assert answers(player, START, first_turn("2m")) == [NONE, discard]


def test_an_event_alone_that_asks_nobody_is_answered_by_none(player: MjaiPlayer) -> None:
    """mjai's own server reveals the indicator of a kan before it looks at the discard that it has been answered."""
    start = start_of(["2p", "2p", "2p", "2m", "4m", "6m", "8m", "2s", "4s", "6s", "8s", "P", "F"])
    after = [
        {"type": "ankan", "actor": 1, "consumed": ["2p"] * 4},
        {"type": "tsumo", "actor": 1, "pai": "9s"},
        {"type": "dora", "dora_marker": "E"},
    ]
    before = [*start, *first_turn("2p")]
    assert [answer["type"] for answer in answers(player, *before, *after)][-3:] == ["none", "dahai", "none"]
    last = answers(MjaiPlayer(load_agent("ukeire")), before, after)[-1]
    assert last["type"] == "dahai", "in a list the last event may come after the one that asks"


def test_a_line_without_an_end_is_refused_after_a_megabyte(player: MjaiPlayer) -> None:
    endless = BytesIO(b" " * (4 * MAX_LINE))
    with pytest.raises(ValueError, match="a line has more than 1,048,576 bytes"):
        play_lines(player, read_lines(endless), StringIO())
    assert endless.tell() == MAX_LINE + 1


# TCP


@contextmanager
def tcp_server(peer: Callable[[socket.socket], object]) -> Iterator[int]:
    """Let ``peer`` serve one connection in a thread while the block runs; yields the port."""

    def serve_one() -> None:
        connection, _ = server.accept()
        with connection:
            peer(connection)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve_one)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def test_a_tcp_server_gives_a_seat_and_asks(player: MjaiPlayer) -> None:
    answers: list[Event] = []

    def ask(connection: socket.socket) -> None:
        with connection.makefile("rw", encoding="utf-8") as stream:
            for message in ({"type": "hello", "protocol": "mjsonp"}, *TO_DISCARD):
                stream.write(json.dumps(message) + "\n")
                stream.flush()
                answers.append(json.loads(stream.readline()))

    with tcp_server(ask) as port:
        assert play_on_tcp(player, "127.0.0.1", port, name="A", room="hall") == 6
    assert answers[0] == {"type": "join", "name": "A", "room": "hall"}
    assert [answer["type"] for answer in answers[1:]] == ["none"] * 4 + ["dahai"]
    with pytest.raises(ValueError, match=f"127.0.0.1:{port} cannot be reached"):
        play_on_tcp(player, "127.0.0.1", port, name="A", room="hall")


def flood(connection: socket.socket) -> None:
    send_often(connection, b"x" * 65536, 1 << 20, 0.0)


def drip(connection: socket.socket) -> None:
    """Send bytes of a line that does not end for five seconds, each long before the player's patience is over."""
    send_often(connection, b" ", 500, 0.01)


def send_often(connection: socket.socket, data: bytes, times: int, pause: float) -> None:
    try:
        for _ in range(times):
            connection.sendall(data)
            time.sleep(pause)
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
    with tcp_server(peer) as port, pytest.raises(ValueError, match=message):
        play_on_tcp(player, "127.0.0.1", port, name="A", room="hall")


# WebSocket


def on_websocket(ask: Callable[[ServerConnection], None], player: MjaiPlayer, token: str = "") -> int:
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


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda connection: connection.recv(), r"ws://127.0.0.1:\d+/ws has sent no whole message for 0.2 s"),
        (
            lambda connection: connection.close(code=1008, reason="unknown token"),
            r"ws://127.0.0.1:\d+/ws closed the connection: .*unknown token",
        ),
    ],
    ids=["silent", "closed"],
)
def test_a_websocket_that_fails_is_an_error_without_secrets(
    ask: Callable[[ServerConnection], None], message: str, player: MjaiPlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mjai_arena, "SILENT_SECONDS", 0.2)
    with pytest.raises(ValueError, match=message) as raised:
        on_websocket(ask, player, "secret")
    assert "secret" not in str(raised.value)


def test_a_websocket_that_is_not_there_is_named(player: MjaiPlayer) -> None:
    with pytest.raises(ValueError, match=r"ws://127.0.0.1:1/ws cannot be reached or refuses"):
        play_on_websocket(player, "ws://127.0.0.1:1/ws", "")
