from __future__ import annotations

import json

import pytest

from suphx_platform.console import Console


def test_json_is_one_line_on_stdout_and_messages_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(is_json=True)
    console.say("working")
    console.result({"name": "ⓝSuphx", "rate": 0.25})
    output = capsys.readouterr()
    assert json.loads(output.out) == {"name": "ⓝSuphx", "rate": 0.25}
    assert output.out.count("\n") == 1
    assert output.err == "working\n"


def test_without_json_the_result_is_a_readable_list(capsys: pytest.CaptureFixture[str]) -> None:
    Console().result(
        {
            "games": 12_345,
            "rate": 0.21961,
            "stages": {"a": {"files": ["x", "y"]}},
            "left": [],
            "ok": True,
            "champion": None,
        }
    )
    assert capsys.readouterr().out.splitlines() == [
        "games: 12,345",
        "rate: 0.2196",
        "stages:",
        "  a:",
        "    files: [x, y]",
        "left: none",
        "ok: True",
        "champion: none",
    ]


def test_progress_off_a_terminal_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    with console.progress("games", total=3) as progress:
        assert list(progress.count("ab")) == ["a", "b"]
        progress.advance(1, "almost there")
    assert capsys.readouterr().err == "3 of 3 games in 0 s, almost there\n"


def test_a_result_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Console(is_json=True).result({"rate": float("nan")})
