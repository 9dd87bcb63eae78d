from __future__ import annotations

import io
import json
import logging
import os
import pty
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx_platform.console import progress as progress_module
from suphx_platform.console.console import Console, logged_to, typed_line

LOGGER = logging.getLogger("suphx_platform.storage.upload_queue")


def test_warnings_of_our_modules_are_redacted_and_in_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console()
    with console.log_to(tmp_path / "run.log"), logged_to(console):
        LOGGER.warning("%s does not answer", "http://me:planted-secret@host/bucket")
        logging.getLogger("urllib3").warning("of others")
    LOGGER.warning("after the command")
    shown = capsys.readouterr().err
    assert "warning: http://host/bucket does not answer\n" in shown
    assert console.warnings == ["http://host/bucket does not answer"]
    assert "planted-secret" not in shown + (tmp_path / "run.log").read_text()
    assert "does not answer" in (tmp_path / "run.log").read_text()


def test_an_output_that_is_closed_does_not_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise BrokenPipeError(text)

    console = Console()
    monkeypatch.setattr(console, "warn", refuse)
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with logged_to(console):
        LOGGER.warning("nobody reads this")


def test_the_prompt_is_not_in_the_result_that_a_program_reads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("5m\n"))
    assert typed_line("tile > ") == "5m"
    assert capsys.readouterr() == ("", "tile > ")
    with pytest.raises(EOFError):
        typed_line("tile > ")
    monkeypatch.setattr(sys, "stdin", io.StringIO("6m\n"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    capsys.readouterr()
    assert typed_line("tile > ") == "6m"
    assert capsys.readouterr() == ("tile > ", "")


def test_json_is_one_line_on_stdout_and_messages_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(is_json=True)
    console.say("working")
    console.result({"name": "ⓝSuphx", "rate": 0.25})
    output = capsys.readouterr()
    assert json.loads(output.out) == {"name": "ⓝSuphx", "rate": 0.25}
    assert output.out.count("\n") == 1
    assert output.err == "working\n"


def test_what_is_no_terminal_gets_plain_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.setenv(name, "1")
    console = Console()
    with console.progress("games", total=3) as progress:
        assert list(progress.count("ab")) == ["a", "b"]
        progress.advance(1, "almost there")
    console.result({"win_rate": 0.21961, "stages": {"a": {"games": 3}, "b": {"games": 12}}})
    output = capsys.readouterr()
    *lines, last = output.err.splitlines()
    assert re.fullmatch(r"3 of 3 games in [\d.]+ s", last)
    assert all("of 3 games, " in line for line in lines)  # of a slow machine
    assert "\x1b" not in output.out + output.err


@pytest.mark.parametrize("is_json", [False, True])
def test_a_path_that_is_not_utf_8_is_written_with_escapes(
    is_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console(is_json=is_json)
    with console.log_to(tmp_path / "log"):
        console.say("read b\udcff")
    console.result({"path": "c\udcff"})
    captured = capsys.readouterr()
    assert "c\\udcff" in captured.out
    assert "b\\udcff" in captured.err
    assert "\\udcff" in (tmp_path / "log").read_text(encoding="utf-8")
    assert not is_json or json.loads(captured.out) == {"path": "c\udcff"}


def test_quiet_shows_warnings_and_lines_only_and_the_log_file_has_every_message_with_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    console = Console(verbosity="quiet")
    log = tmp_path / "run.log"
    log.write_text("earlier\n")
    with console.log_to(log):
        console.say("reading")
        console.detail("figures")
        console.warn("few")
        console.line("better")
    console.say("after")
    with console.progress("games", total=1) as progress, console.activity("waiting"):
        progress.advance()
    assert capsys.readouterr() == ("better\n", "warning: few\n")
    assert console.warnings == ["few"]
    earlier, *lines = log.read_text().splitlines()
    assert earlier == "earlier"
    assert [line.split(" ", 2)[2] for line in lines] == ["reading", "figures", "warning: few", "better"]
    assert all(line[:2] == "20" and line[10] == " " for line in lines)


def test_work_that_reports_nothing_still_gets_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "SECONDS_TO_FIRST_LINE", 0.0)
    monkeypatch.setattr(progress_module, "_SECONDS_BETWEEN_LOOKS", 0.001)
    printed = threading.Event()

    class WatchedConsole(Console):
        def say(self, text: str) -> None:
            super().say(text)
            printed.set()

    with WatchedConsole().activity("opening the store"):
        assert printed.wait(60)
    assert re.fullmatch(r"(opening the store: \d+ s\n)+", capsys.readouterr().err)


class Screen:
    """The other end of a terminal: everything that was written to it so far."""

    def __init__(self, reader: int) -> None:
        self._reader = reader
        self._text = ""
        self._changed = threading.Condition()
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._reader, 65536)
            except OSError:  # Linux: the other end is closed
                break
            with self._changed:
                self._text += part.decode()
                self._changed.notify_all()
        os.close(self._reader)

    def wait_for(self, text: str) -> str:
        """Return everything written so far, as soon as ``text`` is part of it."""
        with self._changed:
            assert self._changed.wait_for(lambda: text in self._text, 60), f"{text!r} is not in …{self._text[-500:]!r}"
            return self._text


def on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch, show: Callable[[Console, Screen], None]) -> str:
    """Return everything that ``show`` writes to a terminal."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    reader, writer = pty.openpty()
    screen = Screen(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(sys, "stdout", terminal)
        show(Console(), screen)
    screen.thread.join()
    return screen.wait_for("")


def test_on_a_terminal_messages_stay_above_the_bars_which_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    def show(console: Console, screen: Screen) -> None:
        with console.progress("games", total=2, name="match") as progress, console.activity("waiting"):
            progress.advance(1, "first")
            assert "1 of 2 games" in screen.wait_for("left, first")
            screen.wait_for("waiting")
            console.say("a message")
            progress.advance(1, "second")
            assert "a message" in screen.wait_for("2 of 2 games, 0 s left, second")
        console.say("the end")

    assert on_a_terminal(80, monkeypatch, show).endswith("the end\r\n")
