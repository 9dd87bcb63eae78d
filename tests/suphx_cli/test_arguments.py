from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

import pytest

from suphx_cli.arguments import DEFAULT_RUNS, add_command, show_page
from suphx_platform.console.console import Console

PAGE = """
try: try it

PATH…          files
[RUN_ID]       a run
--games N      how many; a longer text
               goes on
| --fast       a switch
| --slow X     another one
--mode         what to do
--runs

examples:
  suphx try a b
"""


def test_a_manual_page_becomes_a_parser() -> None:
    parser = argparse.ArgumentParser()
    mode = {"choices": ("a", "b"), "default": "a"}
    add_command(parser.add_subparsers(), None, PAGE, None, games=20, mode=mode)
    args = vars(parser.parse_args(["try", "x", "y", "--fast"]))
    assert args.pop("path") == [Path("x"), Path("y")]
    assert args == {"games": 20, "fast": True, "mode": "a", "runs": DEFAULT_RUNS, "run_id": None, "slow": None}
    for wrong in (["--fast", "--slow", "1"], ["--games", "0"], ["--mode", "c"]):
        with pytest.raises(SystemExit):
            parser.parse_args(["try", "x", *wrong])


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of all programs that are found; no browser is known, and there is a terminal but no screen."""
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    monkeypatch.setattr(webbrowser, "_browsers", {})
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def browser(folder: Path, name: str) -> Path:
    """Write a browser that notes the address that it opens; return it."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$1" >> {folder}/opened\n', encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["w3m", "www-browser"])
def test_a_browser_of_the_terminal_is_not_opened(
    name: str, programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    browser(programs, name)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert webbrowser.get().basename == name
    show_page("http://127.0.0.1:1/", Console())
    assert "open http://127.0.0.1:1/ yourself" in capsys.readouterr().err
    assert not (programs / "opened").exists()


@pytest.mark.parametrize("form", ["{}", "{} %s"])
def test_the_browser_of_the_environment_is_opened(form: str, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", form.format(browser(programs, "my-browser")))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    show_page("http://127.0.0.1:1/", Console())
    assert (programs / "opened").read_text() == "http://127.0.0.1:1/\n"
