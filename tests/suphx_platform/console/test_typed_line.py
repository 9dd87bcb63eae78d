from __future__ import annotations

import io
import sys

import pytest

from suphx_platform.console.typed_line import typed_line


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
