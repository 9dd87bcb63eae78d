from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from benchmarks.opponents.tenhou_python_bot import TileIds, face_of
from tests.repository import REPOSITORY

ADAPTER = REPOSITORY / "benchmarks/opponents/mjai_client.py"
HIDDEN = ["?"] * 13
HAND = ["1m", "2m", "3m", "5p", "5pr", "7p", "1s", "3s", "9s", "E", "S", "W", "N"]
START: list[dict[str, Any]] = [
    {"type": "start_game", "names": ["0", "1", "2", "3"], "kyoku_first": 0, "aka_flag": True, "id": 1},
    {
        "type": "start_kyoku",
        "bakaze": "E",
        "dora_marker": "3p",
        "kyoku": 1,
        "honba": 0,
        "kyotaku": 0,
        "oya": 0,
        "scores": [25000] * 4,
        "tehais": [HIDDEN, HAND, HIDDEN, HIDDEN],
    },
    {"type": "tsumo", "actor": 0, "pai": "?"},
    {"type": "dahai", "actor": 0, "pai": "9m", "tsumogiri": True},
    {"type": "tsumo", "actor": 1, "pai": "9p"},
]

# Answers every event, and says which one it was; as a client of a server if it gets its address.
PLAIN = """
import json, socket, sys
source, target = sys.stdin, sys.stdout
if len(sys.argv) > 2:
    host, port = sys.argv[1].removeprefix("mjsonp://").split("/")[0].split(":")
    connection = socket.create_connection((host, int(port)))
    source, target = connection.makefile("r"), connection.makefile("w")
number = 0
for line in source:
    event = json.loads(line)
    number += 1
    print(json.dumps({"type": "none", "event": event["type"], "number": number, "seat": sys.argv[-1]}), file=target)
    target.flush()
"""
# Like akochan: answers only when it is asked, with all moves until the next question.
PIPE = """
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    if event["can_act"]:
        print(json.dumps([{"type": "reach", "actor": 1}, {"type": "dahai", "actor": 1, "pai": "9p"}]), flush=True)
"""


def answers(mode: list[str], program: str, arguments: list[str], *lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    command = [sys.executable, str(ADAPTER), *mode, sys.executable, "-c", program, *arguments, "1"]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    assert not run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_a_program_that_answers_every_event_is_asked_one_by_one() -> None:
    more = [{"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True}]
    first, second = answers([], PLAIN, ["{seat}"], START, more)
    assert first == {"type": "none", "event": "tsumo", "number": 5, "seat": "1"}
    assert second == {"type": "none", "event": "dahai", "number": 6, "seat": "1"}


def test_a_client_of_an_mjai_server_is_greeted_and_asked_one_by_one() -> None:
    (answer,) = answers(["--tcp"], PLAIN, ["mjsonp://{address}/default", "{seat}"], START)
    assert answer == {"type": "none", "event": "tsumo", "number": 6, "seat": "1"}  # after hello


def test_akochan_gives_its_discard_after_riichi_without_a_new_question() -> None:
    reach, discard = answers(["--akochan"], PIPE, [], START, [{"type": "reach", "actor": 1}])
    assert (reach["type"], discard["type"]) == ("reach", "dahai")


def test_tiles_get_the_ids_of_their_face_each_once() -> None:
    ids = TileIds()
    fives = [ids.new("5p") for _ in range(3)]
    assert [*fives, ids.new("5pr"), ids.new("C")] == [53, 54, 55, 52, 132]
    assert [face_of(tile) for tile in (*fives, 52, 132)] == ["5p", "5p", "5p", "5pr", "C"]
    with pytest.raises(ValueError, match="there are more tiles 5p than a game has"):
        ids.new("5p")


def test_an_opponent_needs_its_program() -> None:
    run = subprocess.run([sys.executable, str(ADAPTER), "1"], capture_output=True, text=True, check=False)
    assert "usage: mjai_client.py" in run.stderr
