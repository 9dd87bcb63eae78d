from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from suphx_cli import arguments, cli, command_parser
from suphx_platform.console.console import Console
from suphx_platform.kernels.kernel_warmup import KernelWarmup
from tests.repository import REPOSITORY

HEAVY = {"torch", "ray", "numba", "mlflow", "matplotlib", "scipy", "boto3", "kubernetes"}


def run(*arguments: str) -> tuple[int, str, str]:
    """Run the real command in its own process: exit code, stdout, stderr."""
    done = subprocess.run([sys.executable, "-m", "suphx_cli.cli", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


LIGHT = ("--help", "--version", "recipes", "agents", "", "run --help", "bench selfplay --help")
MISTAKES = [
    ("--verison", 2, "unknown option --verison: did you mean '--version'?"),
    ("--version=1", 2, "ignored explicit argument '1'"),
    ("rnu laptop", 2, "there is no command 'rnu': did you mean 'run'?"),
    ("run laptop --recrods x", 2, "unknown option --recrods: did you mean '--records'?"),
    ("bench inference --size tinny", 2, "invalid choice: 'tinny': did you mean 'tiny'?"),
    ("run labtop", 1, "labtop: no such recipe: did you mean 'laptop'?"),
    ("run laptop --set supervised.max_step=3", 1, "there is no such key: did you mean supervised.max_steps?"),
    ("run laptop --records nowhere", 1, "nowhere: no such file or folder of records"),
    ("run laptop --records .", 1, ". is an empty folder"),
    ("runs list --runs nowhere", 1, "nowhere: no such folder of runs"),
    ("runs show laptop-1", 1, "runs: no such folder of runs"),
    ("tournament nightly --set pool.newest=many", 1, "'many': Input should be a valid integer"),
    ("tournament laptop", 1, "laptop is a recipe of another command"),
    ('tournament nightly --set pool.agents=["ukiere"]', 1, "'ukiere' is not an agent: did you mean 'ukeire'?"),
    ("evaluate --candidate ukiere --opponent random", 1, "'ukiere' is not an agent: did you mean 'ukeire'?"),
    ("evaluate --candidate random --opponent none/supervised", 1, "there is no 'none' in ."),
    ("evaluate --candidate random --opponent ukeire --hanchans 9", 2, "9 hanchans: use a multiple of 4"),
    ("evaluate --candidate random --opponent ukeire --sequential nan", 2, "difference is nan"),
    ("evaluate --candidate random --opponent ukeire --sequential 7", 2, "7: use a number above 0 and below 1.5, the"),
    ("evaluate --candidate random --opponent ukeire --sequential 90 --decides points", 2, "above 0 and below 90, the"),
    ("bench selfplay --tables 511", 2, "--tables is 511: use an even number"),
    ("launch laptop --rm", 2, "--rm deletes the run when it has ended: add --follow"),
    ("adapt --agent ukeire", 1, "'ukeire' has no nets"),
    ("--json", 2, "arguments are required: COMMAND"),
    ("dance", 2, "there is no command 'dance': use one of run, "),
    ("records", 2, "arguments are required: COMMAND"),
    ("runs replay x --wall 0", 2, "'0' is not a whole number, 1 to 10,000,000"),
    ("run a.toml --set learner.steps", 2, "is not KEY=VALUE"),
    ("ui --port 70000", 2, "'70000' is not a port"),
    ("run a.toml --speed 9", 2, "unknown option --speed"),
    ("run a.toml --run=x", 2, "unknown option --run: did you mean '--runs'?"),
    ("run a.toml b.toml", 2, "unexpected argument 'b.toml'"),
    *(
        (f"{command}={number}", 2, word)
        for number in ("1e12", "-1", "nan", "inf")
        for command, word in (
            ("adapt --agent random --temperature", "temperature"),
            ("evaluate --candidate random --opponent ukeire --sequential", "difference"),
            ("evaluate --candidate random --opponent ukeire --sequential 0.1 --error", "error"),
        )
    ),
]
MANY = """
import contextlib, io, json, sys
from suphx_cli import cli
for words in json.loads(sys.argv[1]):
    error = io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = cli.main(words)
        except SystemExit as stop:
            code = stop.code
    print(json.dumps([code, error.getvalue(), [name for name in sys.argv[2:] if name in sys.modules]]))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run commands one after the other in one process: exit code, stderr, heavy packages that were imported so far."""
    commands = [*LIGHT, *(command for command, _, _ in MISTAKES)]
    words = json.dumps([command.split() for command in commands])
    program = [sys.executable, "-c", MANY, words, *sorted(HEAVY)]
    done = subprocess.run(program, cwd=tmp_path_factory.mktemp("empty"), capture_output=True, text=True, check=True)
    return dict(zip(commands, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("command", LIGHT)
def test_help_version_and_lists_import_nothing_heavy(command: str, answers: dict[str, Any]) -> None:
    assert answers[command] == [0, "", []]


@pytest.mark.parametrize(("command", "code", "message"), MISTAKES)
def test_a_mistake_is_known_before_anything_heavy_is_imported(
    command: str, code: int, message: str, answers: dict[str, Any]
) -> None:
    result, error, heavy = answers[command]
    assert message in error
    assert len(error.splitlines()) == 1
    assert (result, heavy) == (code, [])


def test_without_arguments_the_help_has_every_command_in_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    text = capsys.readouterr().out
    for title, names in command_parser.GROUPS:
        assert f"\n{title}:\n" in text
        assert all(f"\n  {name} " in text for name in names)
    grouped = {name for _, names in command_parser.GROUPS for name in names}
    assert grouped == {parser.prog.split()[1] for parser in ALL_PARSERS[1:]}


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from parsers(each)


ALL_PARSERS = list(parsers(cli.build_parser()))


def test_every_command_and_option_is_explained() -> None:
    for parser in ALL_PARSERS:
        assert (parser.description or "").endswith("."), parser.prog
        for action in parser._actions:
            assert action.help or isinstance(action, argparse._SubParsersAction), f"{parser.prog} {action.dest}"
        parser.format_help()  # a stray % would fail here


@pytest.mark.parametrize("kind", [arguments.positive, arguments.parallel, arguments.seconds, arguments.any_port])
@pytest.mark.parametrize("text", [str(2**62), str(10**12), "-1", "nan", "inf", "eight"])
def test_no_type_of_a_number_takes_what_nothing_can_have(kind: Callable[[str], object], text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        kind(text)
    kind("8")


def test_the_examples_of_the_help_can_be_parsed() -> None:
    for each in ALL_PARSERS:
        for line in (each.epilog or "").splitlines()[1:]:
            assert callable(cli.build_parser().parse_args(shlex.split(line)[1:]).execute)


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_pipe_ends_the_command_in_silence(closed: str, tmp_path: Path) -> None:
    arguments = ["recipes"] if closed == "stdout" else ["run", "nowhere"]
    reader, writer = os.pipe()
    os.close(reader)
    others = {"stderr": subprocess.PIPE} if closed == "stdout" else {"stdout": subprocess.PIPE}
    command = [sys.executable, "-m", "suphx_cli.cli", *arguments]
    process = subprocess.Popen(command, cwd=tmp_path, text=True, **{closed: writer}, **others)  # type: ignore[call-overload]
    os.close(writer)
    output = "".join(text for text in process.communicate(timeout=300) if text)
    assert (process.returncode, output) == (cli.PIPE_CLOSED, "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_output_that_the_caller_has_closed_goes_nowhere(closed: str, tmp_path: Path) -> None:
    command = f"{shlex.join([sys.executable, '-m', 'suphx_cli.cli', 'recipes'])} {closed}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("laptop" in done.stdout) == (closed == "2>&-")


# The signal comes while a module is imported, in a command, or in a callback of C code, where Python drops exceptions.
IMPORT = """
import signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "suphx_cli.commands":
            signal.raise_signal(NUMBER)
sys.meta_path.insert(0, Finder())
from suphx_cli import cli
sys.exit(cli.main(["recipes"]))
"""
COMMAND = """
import signal, sys
from suphx_cli import cli
from suphx_cli.commands import run
def execute(args, console):
    signal.raise_signal(NUMBER)
run.execute_recipes = execute
sys.exit(cli.main(["recipes"]))
"""
CALLBACK = """
import ctypes, signal, sys, time
from suphx_cli import cli
from suphx_cli.commands import run
def execute(args, console):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(NUMBER))()
    time.sleep(30)
run.execute_recipes = execute
sys.exit(cli.main(["recipes"]))
"""


@pytest.mark.parametrize(
    ("program", "number"),
    [
        (IMPORT, signal.SIGINT),
        (COMMAND, signal.SIGINT),
        (COMMAND, signal.SIGTERM),
        (CALLBACK, signal.SIGINT),
        (CALLBACK, signal.SIGTERM),
    ],
    ids=["Ctrl-C in an import", "Ctrl-C", "kill", "Ctrl-C in a callback", "kill in a callback"],
)
def test_ctrl_c_is_one_line_and_130_wherever_it_comes(program: str, number: int, tmp_path: Path) -> None:
    # A shell that runs the tests in the background lets them, and what they start, ignore Ctrl-C.
    program = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + program
    program = program.replace("NUMBER", str(int(number)))
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (cli.STOPPED, "", "suphx: stopped\n")


@pytest.mark.parametrize("arguments", ["--debug ui --runs nowhere", "ui --runs nowhere --debug"])
def test_debug_shows_the_traceback_wherever_it_stands(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments.split()) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert error.splitlines()[-1].startswith("suphx: nowhere has no mlflow.db")


def test_a_package_that_is_missed_before_the_command_begins_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> argparse.ArgumentParser:
        raise ModuleNotFoundError("No module named 'ray'", name="ray")

    monkeypatch.setattr(cli, "build_parser", fails)
    assert cli.main(["recipes"]) == cli.WRONG_USAGE
    assert capsys.readouterr().err == "suphx: needs ray: pip install 'suphx[platform]'\n"


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
    monkeypatch.setattr(command_parser, "command_modules", lambda: (_Failing(error),))
    assert cli.main(["fail", "--json"]) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("a library's chatter\nsuphx: ")


NETS = REPOSITORY / "examples" / "agents" / "supervised"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("records verify noise.mjlog", "none of 1 records can be used; the first: noise.mjlog"),
        ("view noise.mjlog --no-browser", "noise.mjlog"),
        (f"review noise.mjlog --agent {NETS}", "none of 1 records can be used; the first: noise.mjlog"),
        ("run laptop --records noise.mjlog --dry-run", "none of 1 records can be used; the first: noise.mjlog"),
        ("run dazhong --records records --dry-run", "records has no records of Dazhong mahjong: check --records"),
        ("records statistics noise.mjlog --player Anna", "none of 1 records can be used; the first: noise.mjlog"),
        ("run laptop --runs noise.mjlog", "into the folder noise.mjlog (a file is in its place)"),
        ("tournament nightly --runs noise.mjlog", "nothing can be written into the folder noise.mjlog"),
        ("tournament nightly --set pool.newest_from=nowhere --dry-run", "pool.newest_from is nowhere, which is no"),
        ("run laptop --set evaluation.opponent=no/nets --dry-run", "evaluation.opponent: 'no/nets' is not an agent"),
        ("run laptop --set initial_agent=no/nets --dry-run", "initial_agent: no/nets"),
        ("evaluate --candidate models:/suphx@champion --opponent random", "runs"),
        ("evaluate --candidate gs://b/nets --opponent random", "use an address that begins with s3:// or models:/"),
        ("play --agent models:/suphx@champion --no-browser", "runs"),
        ("play --agent nets --no-browser", "nets/chow.safetensors is damaged"),
        ("evaluate --candidate nets --opponent random", "nets/chow.safetensors is damaged"),
        ("adapt --agent nets", "nets/chow.safetensors is damaged"),
        ("play --runs noise.mjlog --no-browser", "--runs is noise.mjlog, which is no"),
        (
            "evaluate --candidate ukeire --opponent random --runs noise.mjlog",
            "--runs is noise.mjlog, which is not a folder",
        ),
        ("mjai --agent ukeire --runs nowhere", "--runs is nowhere, which is not a folder"),
        ("play --port BUSY --no-browser", "cannot be used (Address already in use): choose another with --port"),
        ("ui --port BUSY", "cannot be used (Address already in use): choose another with --port"),
    ],
)
def test_wrong_input_is_found_before_a_kernel_is_compiled(
    arguments: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def begin(warmup: KernelWarmup) -> None:
        raise AssertionError("compiling has begun")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path / "cache"))  # it is empty
    monkeypatch.setattr(KernelWarmup, "__enter__", begin)
    noise = random.Random(1).randbytes(5000)
    nets = [f"nets/{path.name}" for path in NETS.glob("*.safetensors")]
    for path in map(Path, ("noise.mjlog", "records/noise.mjlog", *nets)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(noise)
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = arguments.replace("BUSY", str(server.getsockname()[1])).split()
        assert cli.main(words) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert {path.name for path in Path().iterdir()} <= {"noise.mjlog", "records", "nets", "cache"}
