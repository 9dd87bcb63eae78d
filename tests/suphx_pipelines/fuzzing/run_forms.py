"""Damaged files of runs, tournaments and the storage: manifests, ``run.json``, kept results, games of nights."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from random import Random

from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.rating import RatedGame
from suphx_pipelines.json_file import write_json
from suphx_pipelines.runs.run_list import find_run, list_runs
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.runs.run_summary import RUN_FILE, RunSummary, StageSummary
from suphx_pipelines.tournament.history import GAMES_NAME, EarlierNights, history_json, is_of_this_engine, read_history
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.games.riichi.fuzzing.file_damage import damage_bytes, damaged_json
from tests.suphx_pipelines.fuzzing.stored_form import Files, StoredForm
from tests.suphx_pipelines.tournament.small_tournament import code

RECIPE = b'name = "a"\n[net]\nchannels = 8\n'
NAME = "run/stage"
OUTSIDE = ("../x", "/tmp/x", "a/../../x", ".hidden", "a\\b", "a" * 300, "a/b/c", "", ".", "x\x00y", "\ud800")


def run_forms() -> list[StoredForm]:
    """Return all kinds."""
    return [
        StoredForm("manifest", 8, _damaged_version, _load_version),
        StoredForm("run.json", 4, _damaged_run, _list_runs),
        StoredForm("kept result", 4, _damaged_result, _read_result),
        StoredForm("games of nights", 4, _damaged_games, _read_games),
    ]


@functools.cache
def _stored() -> Files:
    """Return the files of a storage with one version, by their path in it."""
    with tempfile.TemporaryDirectory() as name:
        source, target = Path(name) / "source", Path(name) / "storage"
        (source / "deep").mkdir(parents=True)
        (source / "a.bin").write_bytes(b"x" * 5000)
        (source / "deep" / "b.json").write_bytes(b"{}")
        Storage(StorageConfig(address=str(target))).save(NAME, source, number=7, score=0.5)
        return {path.relative_to(target).as_posix(): path.read_bytes() for path in _files(target)}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _damaged_version(random: Random) -> Files:
    files = dict(_stored())
    (name,) = (name for name in files if name.endswith(MANIFEST))
    data = files[name]
    kind = random.random()
    if kind < 0.3:
        content = json.loads(data)
        place = random.choice(OUTSIDE)
        if random.random() < 0.3:
            content["writer"] = place
        else:
            content["files"][place] = content["files"].pop(random.choice(list(content["files"])))
        data = json.dumps(content).encode()
    data = damaged_json(random, data) if kind < 0.7 else damage_bytes(random, data)
    return files | {name: data}


def _load_version(folder: Path, random: Random) -> None:
    storage = Storage(StorageConfig(address=str(folder)))
    target = folder / "loaded"
    storage.load_newest(NAME, target)
    storage.names()
    if random.random() < 0.1:
        storage.save(NAME, target if target.is_dir() else folder / "run", number=8)


@functools.cache
def _run() -> bytes:
    stages = {"records": StageSummary(status="finished", seconds=1.0, warnings=["x"]), "report": StageSummary()}
    summary = RunSummary(
        run_id="a-1", recipe="a", command=["suphx", "run", "a"], state="failed", started="2026-01-01T00:00:00+00:00",
        seconds=2.0, verdict="better", outcome="better", stages=stages, error="no",
    )  # fmt: skip
    return json.dumps(asdict(summary)).encode()


def _damaged_run(random: Random) -> Files:
    how = damaged_json if random.random() < 0.6 else damage_bytes
    return {f"runs/a-1/{RUN_FILE}": how(random, _run()), f"runs/a-1/{RECIPE_FILE}": RECIPE}


def _list_runs(folder: Path, random: Random) -> None:
    (listed,) = list_runs(folder / "runs")
    json.dumps(listed.to_json())
    entry = find_run(folder / "runs", listed.run_id)
    entry.settings()
    entry.metrics()


def _damaged_result(random: Random) -> Files:
    sound = json.dumps({"games": [[1, 2, 3, 4]], "forfeits": {"0": "x"}, "sums": {"placement": 2.5}}).encode()
    how = damaged_json if random.random() < 0.6 else damage_bytes
    return {"a-0.json": how(random, sound)}


def _read_result(folder: Path, random: Random) -> None:
    KeptResults(folder).read("a-0")


@functools.cache
def _games() -> bytes:
    games = [RatedGame(wall, ("a", "b", "a", "b"), (1, 2, 3, 4)) for wall in range(3)]
    night = {"run": "n-1", "night": "2026-01-01", "ratings": {"a": [1.0, 0.5, 1.5]}}
    with tempfile.TemporaryDirectory() as name:
        write_json(Path(name) / GAMES_NAME, history_json(EarlierNights(games, [night]), code()))
        return (Path(name) / GAMES_NAME).read_bytes()


def _damaged_games(random: Random) -> Files:
    how = damaged_json if random.random() < 0.6 else damage_bytes
    return {GAMES_NAME: how(random, _games())}


def _read_games(folder: Path, random: Random) -> None:
    history_json(read_history(folder / GAMES_NAME, code()), code())
    is_of_this_engine(folder / GAMES_NAME, code())


def empty(folder: Path) -> None:
    """Remove all files of an input."""
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
