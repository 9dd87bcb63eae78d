"""``suphx mjai``: mistakes are one line before anything starts; addresses of servers."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper

import pytest

from suphx_cli import cli
from suphx_cli.commands.mjai import tcp_address


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


@pytest.mark.parametrize(("options", "name"), [(["--name", "Anna"], "Anna"), ([], "suphx")])
def test_a_server_behind_standard_input_learns_the_name(
    options: list[str], name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys, "stdin", TextIOWrapper(BytesIO(b'{"type":"hello","protocol":"mjsonp","protocol_version":3}\n'))
    )
    assert cli.main(["mjai", "--agent", "ukeire", *options]) == 0
    assert json.loads(capfd.readouterr().out) == {"type": "join", "name": name, "room": "default"}
