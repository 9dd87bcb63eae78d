"""docs/commands.md is current and complete."""

from __future__ import annotations

from suphx_cli.cli import build_parser
from tests.suphx_cli.commands_page import JSON_KEYS, PAGE, leaves, page

STREAMS = {"logs", "mjai"}
"""Commands that print what another process printed, or answers to it."""


def test_the_page_is_what_the_parser_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.suphx_cli.commands_page"


def test_every_command_has_the_keys_of_its_json() -> None:
    assert {name for name, _ in leaves(build_parser())} - STREAMS <= JSON_KEYS.keys()
