from __future__ import annotations

import argparse
import errno
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suphx_platform import cli
from suphx_platform.console import Console

if TYPE_CHECKING:
    pass


def run(*arguments: str) -> tuple[int, str, str]:
    """Run the real command in its own process: exit code, stdout, stderr."""
    done = subprocess.run([sys.executable, "-m", "suphx_platform.cli", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_help_and_version_import_nothing_heavy() -> None:
    code = (
        "import sys; from suphx_platform.cli import build_parser; build_parser();"
        "print([m for m in ('torch', 'numba', 'numpy', 'mlflow', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("suphx ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["records"], "arguments are required: COMMAND"),
        (["records", "verify"], "arguments are required: PATH"),
        (["records", "verify", "x", "--limit", "0"], "'0' is not a whole number of at least 1"),
        (["records", "statistics", "x"], "arguments are required: --player"),
        (["records", "convert", "a", "b", "--to", "sgf"], "invalid choice: 'sgf'"),
        (["run", "a.toml", "--set", "learner.steps"], "is not KEY=VALUE"),
        (["ui", "--port", "70000"], "'70000' is not a port"),
        (["run", "a.toml", "--speed", "9"], "unrecognized arguments: --speed 9"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert "--help" in lines[0]


def test_a_missing_recipe_is_one_line_and_exit_code_1() -> None:
    code, out, err = run("run", "nowhere.toml", "--json")
    assert (code, out) == (1, "")
    assert err == "suphx: nowhere.toml: no such recipe: name a TOML file, such as pipelines/recipes/laptop.toml\n"


@pytest.mark.parametrize("arguments", [["--debug", "ui", "--runs", "nowhere"], ["ui", "--runs", "nowhere", "--debug"]])
def test_debug_shows_the_traceback_wherever_it_stands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert error.splitlines()[-1].startswith("suphx: nowhere has no mlflow.db")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("two\n  lines"), "two lines"),
        (
            OSError(errno.ENOSPC, "No space left", "runs/a.bin"),
            "No space left: runs/a.bin: see that the disk has room and the folder can be written, then try again",
        ),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.xml"), "No such file: a.xml: check the path"),
        (OSError(errno.ENOSPC, "cannot write x: disk full; free space"), "cannot write x: disk full; free space"),
        (KeyError("tile"), "unexpected KeyError: 'tile'; add --debug for the traceback"),
    ],
)
def test_every_error_is_told_in_one_line(error: Exception, line: str) -> None:
    assert cli.describe(error) == line


class _Failing:
    """A command that fails with the error that it is given."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def add_parser(
        self, commands: argparse._SubParsersAction[argparse.ArgumentParser], options: argparse.ArgumentParser
    ) -> None:
        commands.add_parser("fail", parents=[options]).set_defaults(execute=self.execute)

    def execute(self, args: argparse.Namespace, console: Console) -> None:
        print("a library's chatter")
        raise self.error


@pytest.mark.parametrize(("error", "code"), [(RuntimeError("bug"), 1), (KeyboardInterrupt(), 130)])
def test_chatter_goes_to_stderr_and_the_exit_code_tells_how_it_ended(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "COMMANDS", (_Failing(error),))
    assert cli.main(["fail", "--json"]) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("a library's chatter\nsuphx: ")


def test_a_taken_port_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        assert cli.main(["ui", "--port", str(number), "--runs", str(tmp_path)]) == 1
    assert f"port {number} on 127.0.0.1 cannot be used" in capsys.readouterr().err


@pytest.mark.slow
def test_warmup_compiles_and_says_where() -> None:
    code, out, err = run("warmup", "--json")
    assert code == 0, err
    assert Path(json.loads(out)["folder"]).is_dir()
