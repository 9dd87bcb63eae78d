from __future__ import annotations

import logging
from pathlib import Path

import pytest

from suphx_platform.console.console import Console
from suphx_platform.console.log_handler import logged_to

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


def test_messages_of_our_modules_are_shown_unless_the_command_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    for verbosity in ("normal", "quiet"):
        with logged_to(Console(verbosity=verbosity)):
            LOGGER.info("a %s command", verbosity)
            LOGGER.debug("nobody wants to know")
    assert capsys.readouterr().err == "a normal command\n"
    assert not LOGGER.isEnabledFor(logging.INFO), "a program that imports us is not told"


def test_an_output_that_is_closed_does_not_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise BrokenPipeError(text)

    console = Console()
    monkeypatch.setattr(console, "warn", refuse)
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with logged_to(console):
        LOGGER.warning("nobody reads this")


def test_a_traceback_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with logged_to(Console()):
        try:
            raise ValueError("the cause")
        except ValueError:
            LOGGER.exception("it starts again")
    assert "ValueError: the cause" in capsys.readouterr().err
