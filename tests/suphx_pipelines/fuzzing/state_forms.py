"""Damaged marks of stages, checkpoints and states: of supervised learning, self-play, playouts and Deep Monte-Carlo."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.selfplay.config import BranchConfig
from suphx.training import monte_carlo_learning, playouts, reinforcement_config
from suphx.training.config import MonteCarloConfig, PlayoutConfig
from suphx.training.monte_carlo_learning import learn_values
from suphx.training.playouts import PlayoutJob, PlayoutTrainer
from tests.games.riichi.fuzzing import stored_damage
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_pipelines.fuzzing.stored_form import Files, StoredForm
from tests.suphx_platform.selfplay.small_trainer import CONFIG, new_trainer

SELF_PLAY = replace(CONFIG, max_updates=2)
PLAYOUTS = PlayoutJob(
    config=PlayoutConfig(num_decisions=50, round_decisions=50, batch_size=32, branches=BranchConfig(num_tables=8)),
    start=small_policy_set(5),
    encoder="mini",
    rules_version="tenhou-1",
    seed=7,
)
MONTE_CARLO = MonteCarloConfig(
    games=2, batches=1, max_rounds=1, max_minutes=0, evaluate_rounds=1, evaluate_decks=1, threads=1
)


def state_forms() -> list[StoredForm]:
    """Return all kinds."""
    return [
        StoredForm("marks of a stage", 4, lambda random: stored_damage.damaged_marks(random, ()), _read_marks),
        StoredForm("checkpoint", 4, lambda random: stored_damage.damaged_checkpoint(random, ()), _load_checkpoint),
        StoredForm("training state", 2, lambda random: stored_damage.damaged_state(random, ()), _load_training),
        StoredForm("self-play state", 1, _damaged(reinforcement_config.STATE_FILE, _play_itself), _go_on_playing),
        StoredForm("playout state", 1, _damaged(playouts.STATE_FILE, _play_out), _go_on_with_playouts),
        StoredForm("Deep Monte-Carlo state", 0.02, _damaged(monte_carlo_learning.STATE_FILE, _learn_values), _learn_on),
    ]


def _damaged(name: str, make: Callable[[Path], None]) -> Callable[[Random], Files]:
    """Return a function that damages the file ``name`` that ``make`` writes into a folder, once."""

    @functools.cache
    def sound() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder))
            return (Path(folder) / name).read_bytes()

    return lambda random: {name: stored_damage.damaged_tensors(random, sound())}


def _read_marks(folder: Path, random: Random) -> None:
    stored_damage.read_marks(folder, 0)


def _load_checkpoint(folder: Path, random: Random) -> None:
    stored_damage.read_checkpoint(folder, 0)


def _load_training(folder: Path, random: Random) -> None:
    stored_damage.read_state(folder, 0)


def _play_itself(folder: Path) -> None:
    new_trainer(folder, SELF_PLAY).run()


def _go_on_playing(folder: Path, random: Random) -> None:
    trainer = new_trainer(folder, SELF_PLAY)
    try:
        trainer.open()  # without playing on
    finally:
        trainer.close()


def _play_out(folder: Path) -> None:
    PlayoutTrainer(PLAYOUTS, folder).run()


def _go_on_with_playouts(folder: Path, random: Random) -> None:
    PlayoutTrainer(PLAYOUTS, folder)


def _learn_values(folder: Path) -> None:
    learn_values(MONTE_CARLO, candidate_game("doudizhu"), Rules(), folder)


def _learn_on(folder: Path, random: Random) -> None:
    learn_values(MONTE_CARLO, candidate_game("doudizhu"), Rules(), folder)
