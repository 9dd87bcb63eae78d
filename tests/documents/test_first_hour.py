"""docs/first-hour.md: every command of the page runs, in order, in an empty folder, with small settings."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.free_port import free_port
from tests.helm.helm_program import with_helm
from tests.repository import REPOSITORY

PAGE = REPOSITORY / "docs" / "first-hour.md"
SUPHX = (sys.executable, "-m", "suphx_cli.cli")
NOT_RUN = ("make setup", "source .venv/bin/activate")
"""The tests run in the environment that these two make."""
SMALL = {
    "run laptop": (
        *("records.played_games=24", "supervised.total_minutes=0.2", "split.max_test_samples=200"),
        *("evaluation.hanchans=8", "evaluation.workers=1"),
    ),
    "run self_play": (
        *("records.played_games=24", "supervised.total_minutes=0.2", "split.max_test_samples=200"),
        *("evaluation.hanchans=8", "evaluation.workers=1", "reinforcement.evaluation_deals=0"),
        *("reinforcement.max_updates=2", "reinforcement.evaluate_every=0", "reinforcement.final_hanchans=8"),
        *(
            "reinforcement.simulator.num_tables=16",
            "reinforcement.buffer.batch_size=128",
            "reinforcement.report_every=1",
        ),
    ),
    "tournament": ("workers=1", "decision.games=96", "decision.fresh_games=24", "leaderboard.games=40"),
}
"""Settings by the beginning of a command; they replace those of the page."""


def page_commands() -> list[str]:
    """Return the lines of the page's code blocks."""
    blocks = re.findall(r"^```\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def words_of(command: str, run_id: str) -> list[str]:
    """Return a command of the page with the run's name in place of RUN, and with small settings."""
    name = command.removeprefix("suphx ").replace("RUN", run_id)
    words = re.sub(r"--hanchans \d+", "--hanchans 8", name)
    settings = next((small for start, small in SMALL.items() if name.startswith(start)), ())
    return [*SUPHX, *shlex.split(words), *(word for setting in settings for word in ("--set", setting))]


def run(words: list[str], folder: Path) -> str:
    """Run a command to its end and return its output; the test fails with it if the command fails."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def interrupt(words: list[str], folder: Path, sign: str) -> tuple[int, str]:
    """Start a command, press Ctrl-C when it prints ``sign``, and return exit code and output."""
    with subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    ) as process:
        assert process.stdout is not None
        shown = ""
        for line in process.stdout:
            if sign in line and sign not in shown:
                process.send_signal(signal.SIGINT)
            shown += line
    return process.returncode, shown


@pytest.mark.slow
def test_the_first_hour_works_as_written(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", with_helm(tmp_path_factory.mktemp("helm")))
    run_id = ""
    seen: set[str] = set()
    for command in page_commands():
        words = words_of(command, run_id)
        if command in NOT_RUN:
            continue
        if command == "suphx ui":
            port = str(free_port())
            _, shown = interrupt([*words, "--port", port], tmp_path, "Press Ctrl-C")
            assert f"http://127.0.0.1:{port}" in shown
        elif command.startswith("suphx play"):
            _, shown = interrupt([*words, "--no-browser"], tmp_path, "Press Ctrl-C")
            assert re.search(r"http://127\.0\.0\.1:\d+/\?token=", shown), shown
        elif "learning_rate" in command and command not in seen:
            code, shown = interrupt(words, tmp_path, "supervised/kong: running")
            assert (code, "Continue with: suphx run laptop" in shown) == (130, True), shown
            assert "records: reusing the result of" in shown
        else:
            shown = run(words, tmp_path)
        if command == "suphx run self_play":
            (run_id,) = (
                line.split()[1].rstrip(":") for line in shown.splitlines() if line.startswith("run self_play-")
            )
            assert (tmp_path / "runs" / run_id / "reinforcement" / "discard.safetensors").is_file()
        if command == "suphx run laptop":
            (run_id,) = (line.split()[1].rstrip(":") for line in shown.splitlines() if line.startswith("run laptop-"))
            assert (tmp_path / "runs" / run_id / "report" / "report.html").is_file()
            assert json.loads((tmp_path / "runs" / run_id / "run.json").read_text())["state"] == "finished"
        elif command in seen and command.startswith("suphx run "):
            assert "continuing" in shown
        seen.add(command)
