"""The shell blocks of the documents: what a laptop can run is run, with small settings; the rest has a reason.

The parser reads the others too (test_documents.py). docs/first-hour.md has a test of its own (test_first_hour.py).
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.archive.store import write_store
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_platform.tracking.tracking import TrackingStore
from tests.code_blocks import SHELL, pages, texts
from tests.free_port import free_port
from tests.games.riichi.builders.games import random_game
from tests.repository import REPOSITORY
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament.small_side_tournament import save_nets

NOT_RUN = {
    "docs/commands.md": "it shows the syntax, generated from the parser",
    "docs/first-hour.md": "tests/documents/test_first_hour.py runs it",
    "README.md": "make setup makes what the tests run in; make train is in tests/documents/test_first_hour.py",
    "CONTRIBUTING.md": "make setup makes what the tests run in; the other targets are the tests themselves",
    "helm/suphx/README.md": "needs a Kubernetes cluster; tests/helm renders the chart, tests/cluster runs its pods",
    "docs/kubernetes.md": "needs a Kubernetes cluster; tests/helm renders the chart with such values",
    "k8s/README.md": "needs a Kubernetes cluster; tests/k8s renders the overlays",
    "infra/docker/README.md": "needs root and a registry; tests/infra checks the files",
    "infra/terraform/README.md": "needs an account in a cloud; tests/infra checks the files",
    "benchmarks/opponents/README.md": "needs programs of others; tests/benchmarks/test_opponents.py runs the adapters",
    "docs/measuring.md": "needs a GPU: pytest -m gpu measures the same",
}
"""Page -> why its blocks are not run."""
NOT_HERE = {
    "--device cuda": "needs a GPU",
    "gpus_per_engine": "needs a GPU",
    "--tensorboard": "trains for minutes; tests/suphx_platform/tracking/test_event_files.py writes and reads the files",
    "export MLFLOW_TRACKING_URI": "is for the commands after it, which need a model in a registry",
    "models:/suphx@champion": "needs a model in a registry; tests/suphx_platform/agents loads nets from one",
    "mlflow models": "installs an environment; tests/suphx_platform/agents/test_served_model.py serves models in one",
    "tensorboard --logdir": "needs a browser; tests/suphx_platform/tracking/test_event_files.py reads the files",
    "ray.stress": "takes minutes of a quiet machine",
    "benchmarks/": "plays thousands of games; tests/benchmarks runs the scripts with small settings",
    "suphx sweep": "runs a recipe many times; tests/suphx_pipelines/test_sweep.py runs a small one",
    "trainer_comparison": "trains for an hour; tests/games/doudizhu/peers runs it with small settings",
}
"""Part of a command -> why it is not run."""
NETS = (
    *("net.channels=4", "net.num_blocks=1", "supervised.total_minutes=0", "supervised.max_steps=4"),
    *("supervised.validate_every=2", "supervised.max_epochs=0", "supervised.batch_size=32", "stream.num_workers=0"),
    *("split.validation_fraction=0.2", "split.test_fraction=0.2", "evaluation.hanchans=8", "evaluation.workers=1"),
)
SELF_PLAY = (
    *("reinforcement.max_updates=2", "reinforcement.evaluate_every=0", "reinforcement.evaluation_deals=0"),
    *("reinforcement.final_hanchans=8", "reinforcement.evaluation_workers=1", "reinforcement.report_every=1"),
    *("reinforcement.simulator.num_tables=16", "reinforcement.buffer.batch_size=128"),
    "reinforcement.learner.critic_warmup.decisions=0",
)
SMALL = {
    "run supervised": NETS,
    "run rl_basic": (*NETS, *SELF_PLAY),
    "run rl_basic --set 'initial_agent=\"runs/RUN": ("encoder=mini",),
    "run overnight": (
        *(*NETS, *SELF_PLAY, "oracle.max_updates=1", "oracle_decay.steps=1", "oracle_decay.updates_per_step=1"),
        *("oracle_decay.continued_updates=1", "agent_comparison.hanchans=8", "agent_comparison.workers=1"),
        "reward_predictor.learning.max_epochs=1",
    ),
    "run doudizhu": (
        *("learning.games=2", "learning.batches=1", "learning.max_rounds=1", "learning.evaluate_rounds=1"),
        *("learning.evaluate_decks=2", "learning.threads=1", "match.decks=4"),
    ),
    "tournament doudizhu_tournament": ("leaderboard.games=160", "workers=1"),
}
"""Beginning of a command -> settings that replace those of the page and of its recipe."""
FASTER = {
    "adapt": ["--hands", "2", "--tests", "16", "--rollouts", "16"],
    "bench selfplay": ["--seconds", "1", "--tables", "16"],
}
ENDLESS = {"play": "Press Ctrl-C", "ui": "Press Ctrl-C"}
"""Commands that run until Ctrl-C -> what they print then."""
IN_TERMINAL = ("--terminal", "doudizhu", "runs/RUN/learning")
"""Words of ``play`` in the terminal, which ends with the input."""
TYPED = "q\n"
START_SECONDS = 300
"""A limit for a command that may first have to compile kernels; nothing waits that long otherwise."""

PAGES = pages()


def commands(path: Path) -> list[str]:
    """Return the commands of a page's shell blocks, each in one line and without its comment."""
    lines = [line for block in texts(path, SHELL) for line in block.replace("\\\n", " ").splitlines()]
    return [command for line in lines if (command := f" {line}".partition(" #")[0].strip())]


def reason(page: str, command: str) -> str:
    """Return why a command is not run; empty if it is."""
    return NOT_RUN.get(page) or next((text for part, text in NOT_HERE.items() if part in command), "")


RUN = [page for page, path in PAGES.items() if any(not reason(page, command) for command in commands(path))]


def test_what_is_not_run_is_on_the_pages() -> None:
    assert [page for page in NOT_RUN if page not in PAGES or not commands(PAGES[page])] == []
    everything = [command for page, path in PAGES.items() if page not in NOT_RUN for command in commands(path)]
    assert [part for part in NOT_HERE if not any(part in command for command in everything)] == []
    assert [start for start in SMALL if not any(f"suphx {start}" in command for command in everything)] == []
    assert len(RUN) >= 7


def test_every_command_runs_or_has_a_reason() -> None:
    everything = [(page, command) for page, path in PAGES.items() for command in commands(path)]
    unknown = [each for each in everything if not reason(*each) and not each[1].startswith("suphx ")]
    assert unknown == [], "add it to NOT_HERE or NOT_RUN with a reason, or change run() so that it runs"
    runs = [each for each in everything if not reason(*each) and each[1].startswith("suphx run ")]
    long = [each for each in runs if not each[1].removeprefix("suphx ").startswith(tuple(SMALL))]
    assert long == [], "add settings to SMALL with which it runs for seconds"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the pages speak of: records, nets of a run, a saved game, a run in MLflow."""
    monkeypatch.setenv("COLUMNS", "200")
    games = [random_game(seed) for seed in range(16)]
    for folder in ("FOLDER", "DIR"):
        (tmp_path / folder).mkdir()
        write_records(games, tmp_path / folder / "games.tsv.xz", "mjlog")
    write_records(games[:3], tmp_path / "records", "mjlog")
    for name in ("game.mjlog", "game.mjai", "games/play-20261123-101500-1.mjlog"):
        write_records(games[:1], tmp_path / "one", "mjai" if name.endswith("mjai") else "mjlog")
        (written,) = (tmp_path / "one").iterdir()
        (tmp_path / name).parent.mkdir(exist_ok=True)
        written.rename(tmp_path / name)
    for seed, nets in enumerate(("runs/RUN/supervised", "A", "B"), 1):
        save_random(tmp_path / nets, seed)
    save_nets(tmp_path / "runs" / "RUN" / "learning", seed=1)
    run = tmp_path / "runs" / "RUN"
    write_store(games[3:8], run / "records" / "store")
    (run / "recipe.toml").write_text(to_toml(Recipe(name="laptop")), encoding="utf-8")
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    store = TrackingStore(tmp_path / "runs")
    store.start("laptop-1f2e3d4c5b", key="laptop-1f2e3d4c5b").flush()
    return tmp_path


def words_of(command: str) -> list[str]:
    """Return the words of a command with small settings."""
    name = command.removeprefix("suphx ")
    words = shlex.split(name)
    for start, settings in SMALL.items():
        if name.startswith(start):
            words += [word for setting in settings for word in ("--set", setting)]
    for start, options in FASTER.items():
        if name.startswith(start):
            words += options
    if words[0] == "ui":
        words = [word for word in words if word not in ("--port", "5001")] + ["--port", str(free_port())]
    return [sys.executable, "-m", "suphx_cli.cli", *words]


def run(command: str, folder: Path) -> None:
    """Run a command as a person would: to its end, or until it waits for Ctrl-C; the test fails if it fails."""
    words = words_of(command)
    sign = "" if any(word in words for word in IN_TERMINAL) else ENDLESS.get(words[3], "")
    with subprocess.Popen(
        words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(TYPED)
        process.stdin.close()
        shown = ""
        for line in process.stdout:
            if sign and sign in line and sign not in shown:
                process.send_signal(signal.SIGINT)
            shown += line
        process.wait(timeout=START_SECONDS)
    assert process.returncode in ((0, 130) if sign else (0,)), f"{command}: {shown[-3000:]}"
    assert not sign or sign in shown, shown


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_the_shell_blocks_of_a_page_run(page: str, place: Path) -> None:
    for command in commands(PAGES[page]):
        if not reason(page, command):
            run(command, place)
        for learned in place.glob("runs/doudizhu-*/learning"):  # RUN is the run that the page has just made
            with suppress(FileExistsError):
                (place / "runs" / "RUN" / "learning").symlink_to(learned)
