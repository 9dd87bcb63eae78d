"""``suphx mjai``: mistakes are one line before anything starts; addresses of servers."""

from __future__ import annotations

import argparse
import json
import re
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from suphx_cli import cli
from suphx_cli.commands.mjai import tcp_address, websocket_address


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--agent", "ukeira"], "'ukeira' is no agent: did you mean 'ukeire'?", 1),
        (["--agent", "mjai:python bot.py"], "is a program that speaks mjai itself: start it without suphx", 1),
        (["--agent", "ukeire", "--pack", "bot"], "--pack is bot: name a file that ends in .zip", 2),
        (["--agent", "ukeire", "2", "--pack", "bot.zip"], "SEAT is 2, and --pack plays nothing: leave it out", 2),
        (["--agent", "ukeire", "--meta", "--pack", "bot.zip"], "--meta has no effect on --pack", 2),
        (["--agent", "ukeire", "--name", "A", "--pack", "bot.zip"], "--name has no effect on --pack", 2),
        (["--agent", "ukeire", "--name", "A", "--websocket", "ws://host/x"], "--name has no effect on --websocket", 2),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], message: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["mjai", *arguments]) == code
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [[], ["--agent", "ukeire", "4"], ["--agent", "ukeire", "--tcp", "host:x"], ["--agent", "a", "--websocket", "host"]],
)
def test_wrong_usage_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        cli.main(["mjai", *arguments])
    assert raised.value.code == 2


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost", ("localhost", 11600, "default")),
        ("10.0.0.1:7/hall", ("10.0.0.1", 7, "hall")),
        ("mjsonp://example.org:11601/default", ("example.org", 11601, "default")),
    ],
)
def test_servers_are_named_as_mjai_does(text: str, address: tuple[str, int, str]) -> None:
    assert tcp_address(text) == address


def test_what_is_no_address_is_refused() -> None:
    for text in ("http://host", ":80", "host:99999", "[host"):
        with pytest.raises(argparse.ArgumentTypeError, match=re.escape(text)):
            tcp_address(text)
    for text in ("https://host/ws", "ws://host:99999/ws", "ws://[host/ws"):
        with pytest.raises(argparse.ArgumentTypeError, match="use wss://HOST/PATH"):
            websocket_address(text)
    assert websocket_address("wss://host/ws") == "wss://host/ws"


@pytest.mark.parametrize(("options", "name"), [(["--name", "Anna"], "Anna"), ([], "suphx")])
def test_a_server_behind_standard_input_learns_the_name(
    options: list[str], name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys, "stdin", TextIOWrapper(BytesIO(b'{"type":"hello","protocol":"mjsonp","protocol_version":3}\n'))
    )
    assert cli.main(["mjai", "--agent", "ukeire", *options]) == 0
    assert json.loads(capfd.readouterr().out) == {"type": "join", "name": name, "room": "default"}


def test_an_agent_is_packed_for_an_arena(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "bot.zip"
    assert cli.main(["mjai", "--agent", "ukeire", "--pack", str(archive), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == {"archive": str(archive), "files": result["files"], "bytes": archive.stat().st_size}
