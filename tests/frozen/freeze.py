"""Freeze what must not change while the code is rebuilt, as data: small seeded runs, and the answers of commands.

``python -m tests.frozen.freeze FOLDER`` makes the data of the code that it is started with, or compares with those that
are in FOLDER already: it names each value that differs, and ends with 1. Weights of nets are equal on machines with the
same kind of processor only, so the data are not committed: make them from the commit before a change, on the machine
that will compare::

    git worktree add ../before COMMIT
    cd ../before && PYTHONPATH=.:platform:pipelines python -m tests.frozen.freeze FOLDER
    cd - && python -m tests.frozen.freeze FOLDER

``--only NAME`` takes cases whose names begin with NAME; ``--write`` replaces the data of cases that differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import safe_open

from suphx_pipelines.recipe.recipe_file import shipped_recipes
from suphx_platform.selfplay.metrics import COUNTERS, GAUGES
from tests.repository import REPOSITORY

Settings = Mapping[str, str]

_NET: Settings = {"net.size": "tiny", "net.channels": "8", "net.num_blocks": "1"}
_SUPERVISED: Settings = {
    **_NET,
    "records.played_games": "40",
    "records.max_games": "40",
    "split.validation_fraction": "0.1",
    "split.test_fraction": "0.1",
    "split.max_validation_samples": "200",
    "split.max_test_samples": "1000",
    "stream.num_workers": "0",
    "supervised.batch_size": "128",
    "supervised.total_minutes": "0",
    "supervised.min_validations": "0",
    "supervised.max_epochs": "0",
    "supervised.max_steps": "20",
    "supervised.validate_every": "10",
    "evaluation.hanchans": "8",
    "evaluation.workers": "1",
}
_SELF_PLAY: Settings = {
    **_NET,
    "reinforcement.overlap": "false",
    "reinforcement.max_updates": "4",
    "reinforcement.evaluate_every": "2",
    "reinforcement.evaluation_hanchans": "8",
    "reinforcement.evaluation_deals": "20",
    "reinforcement.evaluation_workers": "1",
    "reinforcement.final_hanchans": "8",
    "reinforcement.report_every": "2",
    "reinforcement.simulator.num_tables": "16",
    "reinforcement.buffer.batch_size": "200",
    "reinforcement.buffer.capacity_bytes": "268435456",
    "reinforcement.learner.warmup_updates": "1",
    "reinforcement.learner.critic_warmup.decisions": "400",
    "reinforcement.learner.critic.size": "tiny",
    "reinforcement.learner.critic.channels": "8",
    "reinforcement.learner.critic.num_blocks": "1",
}
_ORACLE: Settings = {
    "oracle.max_updates": "4",
    "oracle_decay.steps": "2",
    "oracle_decay.updates_per_step": "1",
    "oracle_decay.continued_updates": "2",
}
_REWARD: Settings = {"reward_predictor.learning.max_epochs": "2", "reward_predictor.learning.threads": "1"}
_LEARNING: Settings = {
    "learning.games": "2",
    "learning.batches": "1",
    "learning.max_rounds": "4",
    "learning.max_minutes": "0",
    "learning.evaluate_rounds": "2",
    "learning.evaluate_decks": "2",
    "learning.save_seconds": "0.001",
    "learning.threads": "1",
    "learning.device": "cpu",
    "match.decks": "4",
}
_TABLE: Settings = {"agent_comparison.hanchans": "8", "agent_comparison.workers": "1"}
_NO_RAY: Settings = {"reinforcement.cluster.on_ray": "false"}
_RAY: Settings = {
    "reinforcement.cluster.on_ray": "true",
    "reinforcement.cluster.pace": "lockstep",
    "reinforcement.cluster.num_simulators": "1",
    "reinforcement.cluster.num_engines": "1",
    "reinforcement.cluster.num_buffers": "1",
    "reinforcement.cluster.object_store_bytes": "268435456",
}


@dataclass(frozen=True, slots=True)
class Run:
    """A small run of a recipe."""

    recipe: str
    settings: Settings
    kills: Sequence[str] = ()
    """Files of the run, as patterns: the run is killed when one is there, and begun again."""
    equals: str = ""
    """Another case that must have the same weights and metrics."""
    command: str = "run"


RUNS: Mapping[str, Run] = {
    "laptop": Run("laptop", _SUPERVISED),
    "supervised": Run("supervised", {**_SUPERVISED, "split.train_games": "5"}),
    "self_play": Run(
        "self_play", {**_SUPERVISED, **_SELF_PLAY, "playouts.num_decisions": "400", "playouts.final_hanchans": "8"}
    ),
    "reinforcement": Run("reinforcement", _SELF_PLAY),
    "oracle": Run("oracle", {**_SELF_PLAY, **_ORACLE}),
    "reward_predictor": Run("reward_predictor", {**_SUPERVISED, **_REWARD}),
    "rl_basic": Run("rl_basic", {**_SUPERVISED, **_SELF_PLAY}),
    "rl_1": Run("rl_1", {**_SUPERVISED, **_SELF_PLAY, **_REWARD}),
    "rl_2": Run("rl_2", {**_SUPERVISED, **_SELF_PLAY, **_REWARD, **_ORACLE, "reinforcement.max_updates": "0"}),
    "agent_comparison": Run("agent_comparison", {**_SUPERVISED, **_SELF_PLAY, **_REWARD, **_ORACLE, **_TABLE}),
    "overnight": Run("overnight", {**_SUPERVISED, **_SELF_PLAY, **_REWARD, **_ORACLE, **_TABLE}),
    "one_gpu": Run("one_gpu", {**_SUPERVISED, **_SELF_PLAY, **_NO_RAY}),
    "doudizhu": Run("doudizhu", _LEARNING),
    "doudizhu_overnight": Run("doudizhu_overnight", {**_LEARNING, "learning.decay_rounds": "3"}),
    "doudizhu_dmc": Run("doudizhu_dmc", {**_LEARNING, "cluster.on_ray": "false"}),
    "doudizhu_supervised": Run("doudizhu_supervised", _LEARNING),
    "laptop, killed": Run(
        "laptop",
        _SUPERVISED,
        kills=("supervised/chow/started.json", "evaluation/started.json"),
        equals="laptop",
    ),
    "self_play, killed": Run(
        "self_play",
        {**_SUPERVISED, **_SELF_PLAY, "playouts.num_decisions": "400", "playouts.final_hanchans": "8"},
        kills=("playouts/started.json", "reinforcement/started.json", "sample_game/started.json"),
        equals="self_play",
    ),
    "oracle, killed": Run(
        "oracle", {**_SELF_PLAY, **_ORACLE}, kills=("oracle_decay/started.json",), equals="oracle"
    ),
    "doudizhu, killed": Run(
        "doudizhu", _LEARNING, kills=("learning/training_state.safetensors", "match/started.json"), equals="doudizhu"
    ),
    "reinforcement over Ray": Run("reinforcement", {**_SELF_PLAY, **_RAY}, equals="reinforcement"),
    "doudizhu over Ray": Run(
        "doudizhu",
        {**_LEARNING, "cluster.on_ray": "true", "cluster.pace": "lockstep", "cluster.num_simulators": "1"},
        equals="doudizhu",
    ),
}  # fmt: skip
_NIGHT = "--set workers=1 --set night=frozen "
_NIGHT += "--set leaderboard.games={} --set decision.games={} --set decision.fresh_games={}"
COMMANDS: Mapping[str, str] = {
    "recipes": "recipes",
    "agents": "agents --runs RUNS",
    "evaluate": (
        "evaluate --candidate EXAMPLES/self_play --opponent ukeire --hanchans 8 --workers 1 --keep-games OUT/games"
    ),
    "evaluate, sequential": (
        "evaluate --candidate EXAMPLES/self_play --opponent random --sequential 0.5 --hanchans 96 --workers 1"
    ),
    "evaluate, deals": "evaluate --candidate EXAMPLES/self_play --opponent ukeire --deals 20 --workers 1",
    "evaluate, doudizhu": (
        "evaluate --game doudizhu --candidate rule --opponent random --decks 8 --keep-games OUT/decks"
    ),
    "records verify": "records verify OUT/games",
    "records statistics": "records statistics OUT/games --player candidate",
    "records convert": "records convert OUT/games OUT/mjai --to mjai",
    "review": "review OUT/games --agent EXAMPLES/supervised --games 1 --out OUT/review",
    "view": "view OUT/games --no-browser --out OUT/game.html",
    "adapt": "adapt --agent EXAMPLES/self_play --hands 2 --tests 8 --rollouts 16 --workers 1",
    "tournament": (
        'tournament nightly --runs RUNS --set pool.agents=["ukeire","tsumogiri","random","EXAMPLES/supervised"] '
        + _NIGHT.format(40, 96, 24)
    ),
    "tournament, doudizhu": ("tournament doudizhu_tournament --runs RUNS " + _NIGHT.format(80, 192, 48)),
    "runs list": "runs list --runs RUNS",
}
"""Options of commands, in this order: some read what others before them have written."""

_VOLATILE = re.compile(
    r"seconds|minutes|(^|_)(time|started|ended|date|created|host|process|pid|version|commit|memory|rss|cpu|uri|report|age|"
    r"threads|cores|python|run_url|tracking)($|_)|per_second|per_hour|waiting|learning_share|bytes_(sent|peak)|_share_of_time|duration"
)
"""Keys whose values are not the same twice."""
_SECONDS = 1800


def main() -> int:
    """Make the data, or compare with them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    num_different = 0
    for name, content in _all(options.folder.resolve(), options.only):
        file = options.folder / f"{name.replace(' ', '_').replace(',', '')}.json"
        text = json.dumps(content, indent=1, sort_keys=True)
        if options.write or not file.exists():
            file.write_text(text + "\n")
            print(f"{name}: written", flush=True)
            continue
        lines = list(_differences(json.loads(file.read_text()), json.loads(text), ""))
        num_different += bool(lines)
        print(f"{name}: {'equal' if not lines else f'{len(lines)} values differ'}", flush=True)
        print("".join(f"  {line}\n" for line in lines[:40]), end="", flush=True)
    return 1 if num_different else 0


def _all(folder: Path, only: str) -> Iterator[tuple[str, Any]]:
    """Yield name and content of each case."""
    space = folder / "space"
    shutil.rmtree(space, ignore_errors=True)
    wanted = {name: run for name, run in RUNS.items() if name.startswith(only)}
    for name, run in wanted.items():
        found = _outcome_of(run, space / name.replace(" ", "_").replace(",", ""))
        if run.equals:
            expected = json.loads((folder / f"{run.equals}.json").read_text())
            same = ("weights", "metrics")
            yield name, list(_differences({key: expected[key] for key in same}, {key: found[key] for key in same}, ""))
        else:
            yield name, found
    if not only or any(name.startswith(only) for name in COMMANDS):
        yield from _answers(space / "commands")
    yield "Prometheus", {"gauges": sorted(GAUGES), "counters": sorted(COUNTERS)}
    shutil.rmtree(space, ignore_errors=True)


def _outcome_of(run: Run, space: Path) -> dict[str, Any]:
    """Run a recipe and return what must not change."""
    assert run.recipe in shipped_recipes(), run.recipe
    storage = space / "storage"
    settings = {**run.settings, "storage.address": json.dumps(str(storage))}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command = [run.command, run.recipe, "--runs", str(space / "runs"), *words]
    for marker in run.kills:
        _kill_when(command, space, marker)
    result = _suphx(command)
    folder = space / "runs" / result["run_id"]
    return {
        "result": _steady(result),
        "recipe": _of_nowhere((folder / "recipe.toml").read_text(), space),
        "metrics": {str(path.parent.relative_to(folder)): _steady(json.loads(path.read_text()))
                    for path in sorted(folder.rglob("metrics.json"))},
        "weights": {str(path.relative_to(folder)): _digest(path)
                    for path in sorted(folder.rglob("*.safetensors")) if not path.stem.endswith("state")},
        "files": _names(folder),
        "storage": sorted({re.sub(r"[0-9]+", "N", name) for name in _names(storage)}),
        "mlflow": _mlflow_keys(space / "runs" / "mlflow.db"),
    }  # fmt: skip


def _answers(space: Path) -> Iterator[tuple[str, Any]]:
    """Yield what each command prints with --json."""
    space.mkdir(parents=True)
    places = {"RUNS": space / "runs", "OUT": space, "EXAMPLES": REPOSITORY / "examples" / "agents"}
    for name, text in COMMANDS.items():
        words = [re.sub(r"\b(RUNS|OUT|EXAMPLES)\b", lambda found: str(places[found[0]]), word) for word in text.split()]
        result = _suphx(words)
        yield f"command {name}", json.loads(_of_nowhere(json.dumps(_steady(result)), space))


def _suphx(words: Sequence[str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "suphx_cli.cli", *words, "--json"],
        capture_output=True, text=True, check=False, timeout=_SECONDS, cwd=REPOSITORY, env=_environment(),
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"suphx {' '.join(words)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _kill_when(command: Sequence[str], space: Path, marker: str) -> None:
    """Kill a run as soon as a file of this name is in its folder."""
    words = [sys.executable, "-m", "suphx_cli.cli", *command]
    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=REPOSITORY, env=_environment()
    )
    while not list((space / "runs").glob(f"*/{marker}")):
        if process.poll() is not None:
            raise SystemExit(f"{' '.join(command)} ended before {marker} was there")
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def _environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "RAY_worker_niceness": "0"}


def _steady(value: Any) -> Any:
    """Return JSON without the keys whose values are not the same twice."""
    if isinstance(value, dict):
        return {key: _steady(one) for key, one in value.items() if not _VOLATILE.search(key)}
    return [_steady(one) for one in value] if isinstance(value, list) else value


def _of_nowhere(text: str, space: Path) -> str:
    return text.replace(str(space), "SPACE").replace(str(REPOSITORY), "REPOSITORY")


def _digest(path: Path) -> str:
    """Return a digest of the tensors of a checkpoint, without its header."""
    digest = hashlib.sha256()
    with safe_open(path, framework="numpy") as file:
        for name in sorted(file.keys()):
            digest.update(name.encode())
            digest.update(file.get_tensor(name).tobytes())
    return digest.hexdigest()[:16]


def _names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _mlflow_keys(file: Path) -> dict[str, list[str]]:
    """Return the names of all metrics, parameters and tags."""
    with sqlite3.connect(file) as base:
        return {
            table: [row[0] for row in base.execute(f"select distinct key from {table} order by key")]
            for table in ("metrics", "params", "tags")
        }


_DIGEST = re.compile(r"(?<![A-Za-z0-9])(?=[0-9a-f]*[0-9N])[0-9a-fN]{3,64}(?![A-Za-z0-9])")
"""Of code, inputs or checkpoints, in the names of files; ``N`` for numbers."""


def _without_digest(value: Any) -> Any:
    """Return a path without digests; anything else, such as the digest of weights, as it is."""
    return _DIGEST.sub("DIGEST", value) if isinstance(value, str) and "/" in value else value


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _differences(before: Any, after: Any, place: str) -> Iterator[str]:
    """Yield a line for each value that differs."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            where = f"{place}/{key}"
            if key not in before or key not in after:
                yield f"{where}: {'new' if key not in before else 'gone'}"
            else:
                yield from _differences(before[key], after[key], where)
    elif _are_names(before) and _are_names(after):
        old, new = (set(map(_without_digest, names)) for names in (before, after))
        yield from (f"{place}: {name} is gone" for name in sorted(old - new))
        yield from (f"{place}: {name} is new" for name in sorted(new - old))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{place}/{index}")
    elif _without_digest(before) != _without_digest(after):
        yield f"{place}: {str(before)[:300]} -> {str(after)[:300]}"


if __name__ == "__main__":
    sys.exit(main())
