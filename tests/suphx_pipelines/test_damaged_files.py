"""Damaged recipes, files of runs, states and checkpoints are read, or refused with an error that says why.

``FUZZ=100000 pytest tests/suphx_pipelines/test_damaged_files.py -m "not gpu"`` tries so many inputs of each kind.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.optim import AdamW

from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.rating import RatedGame
from suphx.games.doudizhu.table import Rules
from suphx.games.mahjong.planes import layout
from suphx.games.registry import candidate_game
from suphx.games.riichi.names import CHOW_HEAD, DECISIONS
from suphx.models.checkpoint import CheckpointHeader, LayoutVersion, load_checkpoint, save_checkpoint
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.selfplay.config import BranchConfig
from suphx.training import monte_carlo_learning, playouts, reinforcement_config
from suphx.training.config import MonteCarloConfig, PlayoutConfig
from suphx.training.monte_carlo_learning import ValueTrainer
from suphx.training.playouts import PlayoutJob, PlayoutTrainer
from suphx.training.trainer import TrainingProgress
from suphx.training.training_state import load_training_state, save_training_state
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe_file import flatten, read_table
from suphx_pipelines.recipe.recipe_kind import load_run_recipe, load_tournament_recipe
from suphx_pipelines.runs.run_list import find_run, list_runs
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.runs.run_summary import RUN_FILE, RunSummary, StageSummary
from suphx_pipelines.runs.stage_folder import DONE, STARTED, Done, Started, prepare, read_done, write_done
from suphx_pipelines.tournament.history import GAMES_NAME, EarlierNights, history_json, read_history
from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.repository import RECIPES
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_pipelines.tournament.small_tournament import code
from tests.suphx_platform.selfplay.small_trainer import CONFIG, new_trainer

EXAMPLES = int(os.environ.get("FUZZ", 60))
TOURNAMENTS = ("nightly", "doudizhu_tournament")
PLANES = layout("mini", 1, [("some", 3, "any planes")])
NET = NetConfig(size="tiny", channels=2, num_blocks=1, head_channels=1, head_hidden_1=2, head_hidden_2=2)
SELF_PLAY = replace(CONFIG, max_updates=2)
PLAYOUTS = PlayoutJob(
    config=PlayoutConfig(num_decisions=50, round_decisions=50, batch_size=32, branches=BranchConfig(num_tables=8)),
    start=small_policy_set(5),
    encoder="mini",
    game="riichi",
    seed=7,
)
MONTE_CARLO = MonteCarloConfig(
    games=2, batches=1, max_rounds=1, max_minutes=0, evaluate_rounds=1, evaluate_decks=1, threads=1
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 1e308, float("inf"), float("nan"), "", "x", "é\ud800", [], [[]], {}, {"a": 1}),
    *("../x", "/tmp/x", "a/../../x", ".hidden", "a\\b", "a" * 300, ".", "x\x00y"),
)
"""In the place of a value or a key of JSON."""
TOML_VALUES = (
    "", "0", "-1", "1e400", "nan", "-inf", "1e-320", "true", "1979-05-27", "''", '"x"', "[]", "[[[]]]", "{}",
    "{a = 1}", '["mini", 1]', "9" * 400, "0x" + "f" * 300, "\x00", "é", "../../etc/passwd", "s3://",
    "http://u:p@host", "1\n[x]\ny = 1", "1 # x", '"""', "[" * 3000, "{a=" * 3000, "a." * 3000 + "b = 1",
    "s3://bucket/x", "models:/x@y", "[1, 2", "07:32:00", "-0.0", "'" * 9,
)  # fmt: skip
TOML_LINES = ("[a.b]", "[[a]]", "extends = 'recipe.toml'", "extends = 1", "a = 1\na = 2", "[", "= 1")


@dataclass(frozen=True)
class Form:
    """A file that the project stores, and how it is read."""

    name: str
    """Of the file in its folder."""
    make: Callable[[Path], object]
    """Writes it, and what belongs to it, into a folder."""
    read: Callable[[Path], object]


def _make_state(folder: Path) -> None:
    torch.manual_seed(1)
    net = PolicyNet(DECISIONS[CHOW_HEAD], PLANES.num_planes, NET)
    optimizer = AdamW(net.parameters())
    torch.autograd.backward(net(torch.rand(4, PLANES.num_planes, 34)).square().mean())
    optimizer.step()
    best = {key: weight.clone() for key, weight in net.state_dict().items()}
    save_training_state(folder / "state", net, best, optimizer, TrainingProgress(step=1), {"a": 1})


def _read_state(folder: Path) -> None:
    net = PolicyNet(DECISIONS[CHOW_HEAD], PLANES.num_planes, NET)
    load_training_state(folder / "state", net, AdamW(net.parameters()), {"a": 1})


def _make_checkpoint(folder: Path) -> None:
    kind = DECISIONS[CHOW_HEAD]
    header = CheckpointHeader(
        kind=kind, layout=LayoutVersion.of(PLANES), rules="tenhou-1", net=NET, step=1, metrics={"loss": 0.5}
    )
    save_checkpoint(folder / "chow", PolicyNet(kind, PLANES.num_planes, NET), header)


def _make_marks(folder: Path) -> None:
    prepare(folder, Started(digest="d"))
    write_done(folder, Done(digest="d", inputs={"a": {"b": 1}}, metrics={"loss": 0.5}, seconds=1.0, run_id="a-1"))


def _read_marks(folder: Path) -> None:
    read_done(folder, "d")
    prepare(folder, Started(digest="d"))


def _make_run(folder: Path) -> None:
    stages = {"records": StageSummary(status="finished", seconds=1.0, warnings=["x"]), "report": StageSummary()}
    summary = RunSummary(
        run_id="a-1", recipe="a", command=["suphx"], state="failed", started="2026-01-01T00:00:00+00:00", stages=stages
    )
    (folder / "runs/a-1").mkdir(parents=True)
    summary.write(folder / "runs/a-1")
    (folder / "runs/a-1" / RECIPE_FILE).write_text('name = "a"\n[net]\nchannels = 8\n')


def _read_run(folder: Path) -> None:
    (listed,) = list_runs(folder / "runs")
    json.dumps(listed.to_json())
    entry = find_run(folder / "runs", listed.run_id)
    entry.settings()
    assert isinstance(entry.metrics, dict)


def _make_version(folder: Path) -> None:
    (folder / "source/deep").mkdir(parents=True)
    (folder / "source/a.bin").write_bytes(b"x" * 5000)
    (folder / "source/deep/b.json").write_bytes(b"{}")
    Storage(StorageConfig(address=str(folder / "s"))).save("run/stage", folder / "source", number=7, score=0.5)


def _read_version(folder: Path) -> None:
    storage = Storage(StorageConfig(address=str(folder / "s")))
    storage.load_newest("run/stage", folder / "loaded")
    storage.names()
    storage.save("run/stage", folder / "source", number=8)


def _make_games(folder: Path) -> None:
    games = [RatedGame(wall, ("a", "b", "a", "b"), (1, 2, 3, 4)) for wall in range(3)]
    night = {"run": "n-1", "night": "2026-01-01", "ratings": {"a": [1.0, 0.5, 1.5]}}
    write_json(folder / GAMES_NAME, history_json(EarlierNights(games, [night]), code()))


def _read_games(folder: Path) -> None:
    history_json(read_history(folder / GAMES_NAME, code()), code())


def _make_result(folder: Path) -> None:
    write_json(folder / "a-0.json", {"games": [[1, 2, 3, 4]], "forfeits": {"0": "x"}, "sums": {"placement": 2.5}})


def _open_self_play(folder: Path) -> None:
    trainer = new_trainer(folder, SELF_PLAY)
    try:
        trainer.open()  # without playing on
    finally:
        trainer.close()


def _learn(folder: Path) -> None:
    ValueTrainer(MONTE_CARLO, candidate_game("doudizhu"), Rules(), folder).run()


FORMS = {
    "finished stage": Form(DONE, _make_marks, _read_marks),
    "begun stage": Form(STARTED, _make_marks, _read_marks),
    "summary of a run": Form(f"runs/a-1/{RUN_FILE}", _make_run, _read_run),
    "manifest": Form(f"s/run/stage/*/{MANIFEST}", _make_version, _read_version),
    "kept result": Form("a-0.json", _make_result, lambda folder: KeptResults(folder).read("a-0")),
    "games of nights": Form(GAMES_NAME, _make_games, _read_games),
    "checkpoint": Form(
        "chow", _make_checkpoint, lambda folder: load_checkpoint(folder / "chow", DECISIONS[CHOW_HEAD], PLANES)
    ),
    "training state": Form("state", _make_state, _read_state),
}
PLAYED = {
    "self-play state": Form(
        reinforcement_config.STATE_FILE, lambda folder: new_trainer(folder, SELF_PLAY).run(), _open_self_play
    ),
    "playout state": Form(
        playouts.STATE_FILE,
        lambda folder: PlayoutTrainer(PLAYOUTS, folder).run(),
        lambda folder: PlayoutTrainer(PLAYOUTS, folder),
    ),
    "Deep Monte-Carlo state": Form(monte_carlo_learning.STATE_FILE, _learn, _learn),
}
"""States that take games to make."""


@st.composite
def damaged_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Cut a file off, or replace or insert some bytes."""
    first = draw(st.integers(0, len(data)))
    last = draw(st.sampled_from((first, first + 1, first + 8, first + 64, len(data))))
    put = draw(st.one_of(st.just(b""), st.binary(max_size=8), st.sampled_from((b"\x00" * 64, b"[" * 5000, b"\xff"))))
    return data[:first] + put + data[last:]


@st.composite
def damaged_json(draw: st.DrawFn, data: bytes) -> bytes:
    """Remove, replace or rename an entry at any depth of an object."""
    content = json.loads(data)
    place = content
    while True:
        key = draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or not place[key] or draw(st.booleans()):
            break
        place = place[key]
    value = place.pop(key)
    change = draw(st.sampled_from(("remove", "replace", "rename")))
    if change == "replace":
        place[key] = draw(st.sampled_from(VALUES))
    elif change == "rename":
        place[draw(st.sampled_from([each for each in VALUES if isinstance(each, str)]))] = value
    return json.dumps(content).encode()


@st.composite
def damaged_tensors(draw: st.DrawFn, data: bytes) -> bytes:
    """Damage the bytes of a safetensors file, or the JSON of its header or of our part of it."""
    length = int.from_bytes(data[:8], "little")
    header, tensors = data[8 : 8 + length], data[8 + length :]
    kind = draw(st.sampled_from(("bytes", "bytes of the header", "header", "metadata")))
    if kind == "bytes":
        return draw(damaged_bytes(data))
    if kind == "metadata":
        content = json.loads(header)
        content["__metadata__"]["suphx"] = draw(damaged_json(content["__metadata__"]["suphx"].encode())).decode()
        header = json.dumps(content).encode()
    else:
        header = draw(damaged_json(header) if kind == "header" else damaged_bytes(header))
    return len(header).to_bytes(8, "little") + header + tensors


@cache
def sound_files(form: Form) -> dict[str, bytes]:
    """Return the files that ``form`` makes, by their path."""
    with tempfile.TemporaryDirectory() as name:
        form.make(Path(name))
        files = (path for path in Path(name).rglob("*") if path.is_file())
        return {path.relative_to(name).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The storage logs each damaged version."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@contextmanager
def may_refuse() -> Iterator[None]:
    """Allow a ValueError that says why."""
    try:
        yield
    except ValueError as error:
        if not str(error):
            raise


def check_form(form: Form, examples: int) -> None:
    files = sound_files(form)
    (name,) = (name for name in files if Path(name).match(form.name))
    is_json = name.endswith(".json")
    damage = (
        st.one_of(damaged_json(files[name]), damaged_bytes(files[name])) if is_json else damaged_tensors(files[name])
    )

    @settings(max_examples=examples, deadline=None, derandomize="FUZZ" not in os.environ)
    @given(damage)
    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as space:
            folder = Path(space) / "files"
            for path, content in (files | {name: data}).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
            with may_refuse():
                form.read(folder)
            assert [path.name for path in Path(space).iterdir()] == ["files"], "a file outside of the folder"

    read()


@pytest.mark.parametrize("name", FORMS)
def test_a_damaged_file_is_read_or_refused_with_a_reason(name: str) -> None:
    check_form(FORMS[name], EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_a_damaged_state_is_read_or_refused_with_a_reason(name: str) -> None:
    check_form(PLAYED[name], EXAMPLES)


TEXTS = {path.stem: path.read_text() for path in sorted(RECIPES.glob("*.toml"))}
KEYS = sorted({key for path in RECIPES.glob("*.toml") for key in flatten(read_table(path))})


def load(path: Path, overrides: list[tuple[str, str]]) -> None:
    reader = load_tournament_recipe if path.stem in TOURNAMENTS else load_run_recipe
    with may_refuse():
        reader(path, overrides)


@settings(max_examples=EXAMPLES, deadline=None, derandomize="FUZZ" not in os.environ)
@given(st.data())
def test_a_damaged_recipe_is_read_or_refused_with_a_reason(data: st.DataObject) -> None:
    name, text = data.draw(st.sampled_from(sorted(TEXTS.items())))
    lines = text.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        key = lines[place].partition("=")[0]
        value = data.draw(st.sampled_from(TOML_VALUES))
        new = (*TOML_LINES, "", f"{key}= {value}", f"{data.draw(st.sampled_from(KEYS))} = {value}")
        lines[place] = data.draw(st.sampled_from(new))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.toml")
        path.write_bytes(data.draw(st.one_of(st.just("\n".join(lines).encode()), damaged_bytes(text.encode()))))
        load(path, [])


@settings(max_examples=EXAMPLES, deadline=None, derandomize="FUZZ" not in os.environ)
@given(st.data())
def test_wrong_settings_of_the_command_line_are_refused_with_a_reason(data: st.DataObject) -> None:
    odd = ("", ".", "..", "a" * 5000, "a." * 20 + "b", "a." * 3000 + "b", "\x00", "é", "extends", "net", "net.size.x")
    keys = st.sampled_from((*KEYS, *odd))
    overrides = data.draw(st.lists(st.tuples(keys, st.sampled_from(TOML_VALUES)), min_size=1, max_size=3))
    with suppress(UnicodeEncodeError):
        load(Path(data.draw(st.sampled_from(sorted(TEXTS)))), overrides)
