"""The core, a training in one process and locks on macOS and Windows, which tests/other_system imitates.

There are no such machines here: the public workflow has them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.core_program import CORE
from tests.repository import REPOSITORY

SYSTEMS = ["macos", "windows"]
GAME = """
from pathlib import Path
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.seated_game import SUFFIX, Agents, PlayConfig, SeatedGame, continued_games

config = PlayConfig(agent="tsumogiri", seed=1, length="tonpuu", out=Path("games"))
agents = Agents("tsumogiri", load_agent)

def play(session, moves):
    while moves and not session.is_over:
        if session.is_agents_turn:
            session.play_agent()
        elif session.is_between_deals:
            session.next_deal(session.number)
        else:
            move = session.view()["moves"][0]
            session.move(session.number, move["action"], move["discards"][0] if move["discards"] else None)
            moves -= 1

game = SeatedGame.new(config, agents)
play(game.session, 3)
game.keep()
assert list(continued_games(config, agents)) == [], "it is being played"
game.close()
(game,) = continued_games(config, agents)
play(game.session, 10_000)
assert game.finish().exists()
assert not list(config.out.glob("*" + SUFFIX))
"""
WORKERS = """
from suphx_cli.cli import main
from suphx.usable_cores import usable_cores

assert usable_cores() >= 1
assert main(["evaluate", "--candidate", "ukeire", "--opponent", "random", "--hanchans", "8", "--workers", "2"]) == 0
"""
TRAINING = """
from pathlib import Path
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo_learning import ValueTrainer

config = MonteCarloConfig(
    games=2, batches=2, max_rounds=1, max_minutes=0, evaluate_rounds=1, evaluate_decks=1, threads=1
)
_, progress = ValueTrainer(config, candidate_game("doudizhu"), Rules(), Path("training")).run()
assert progress.step == 2
"""
LOCK = """
import os, subprocess, sys
from pathlib import Path
from suphx_pipelines.runs.run_lock import locked

ASK = '''
from pathlib import Path
from suphx_pipelines.runs.run_lock import check_free, holder, is_locked
print(is_locked(Path()), holder(Path()))
try:
    check_free(Path())
except ValueError as error:
    print(error)
'''

def ask():
    return subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True).stdout.splitlines()

with locked(Path()):
    held, message = ask()
    expected = f"True {os.getpid()}" if os.environ["SUPHX_SYSTEM"] == "macos" else "True None"
    assert held == expected, held
    assert f"is being run by process {os.getpid()}" in message, message
assert ask() == ["False None"]
"""
MISSING = {
    "macos": "import os; from suphx.usable_cores import os as ours; assert not hasattr(ours, 'sched_getaffinity')",
    "windows": "import suphx_platform.console.stop_request as ours; assert not hasattr(ours.signal, 'SIGHUP')",
}


def environment(system: str) -> dict[str, str]:
    folders = [str(REPOSITORY / "tests" / "other_system"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "SUPHX_SYSTEM": system, "PYTHONPATH": os.pathsep.join(filter(None, folders))}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    "program", [CORE, GAME, WORKERS, TRAINING, LOCK], ids=["core", "game", "workers", "training", "lock"]
)
def test_it_works_without_what_only_linux_has(system: str, program: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"{MISSING[system]}\n{program}"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(system), input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_external_program_ends_with_its_children_on_macos(tmp_path: Path) -> None:
    program = """
import time
import psutil
from suphx_platform.agents.mjai.programs import end_process, start_process

process = start_process(["sh", "-c", "sleep 600 & echo $!; wait"])
child = psutil.Process(int(process.stdout.readline()))
assert psutil.Process(process.pid).name() == "sh"
end_process(process)
assert not psutil.wait_procs([child], timeout=10)[1]
"""
    subprocess.run([sys.executable, "-c", program], env=environment("macos"), cwd=tmp_path, check=True)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_page_of_a_game_is_served(system: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "suphx_cli.cli", "play", "--no-browser", "--out", str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment(system), stdout=pipe, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        link = next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
        with urlopen(link) as page:
            assert page.status == 200
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_kernels_are_compiled_in_processes_that_are_not_forked(system: str, tmp_path: Path) -> None:
    program = """
from suphx_platform.console.console import Console
from suphx_platform.kernels.kernel_warmup import compile_kernels

assert set(compile_kernels(Console(), "hands").groups) == {"hands"}
"""
    seen = {**environment(system), "SUPHX_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=seen, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "kernels").glob("suphx.games.mahjong.shanten-*/*.nbc"))
