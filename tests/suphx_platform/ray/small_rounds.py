"""A small training by Deep Monte-Carlo, in one process and over Ray, to which something may happen after a round.

``python -m tests.suphx_platform.ray.small_rounds FOLDER`` trains in lockstep and waits for its end by a
signal once it has saved two rounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.backend import BackendState
from suphx.selfplay.layout import RoundLayoutConfig
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo_learning import NewBackend, ValueTrainer
from suphx.training.trainer import TrainingProgress, TrainingWatch
from suphx_platform.ray.backend import RayBackend, ray_backend
from suphx_platform.ray.parts import monte_carlo_parts
from suphx_platform.ray.task_matches import TaskMatches

GAME = candidate_game("doudizhu")
RULES = Rules()
CONFIG = MonteCarloConfig(
    games=2, batches=2, max_rounds=6, max_minutes=0, evaluate_rounds=3, evaluate_decks=2, threads=1, save_seconds=0
)
LOCKSTEP = RoundLayoutConfig(on_ray=True, pace="lockstep", learner_copy_rounds=3, cpus_per_simulator=0.5)
FREE = replace(LOCKSTEP, pace="free", num_simulators=2)
ROUNDS_BEFORE_THE_END = 2

Trained = tuple[PolicySet, TrainingProgress]


class ActingWatch(TrainingWatch):
    """Does something once, as soon as a share of the training is done."""

    def __init__(self, share: float, act: Callable[[], None]) -> None:
        self._share, self._act, self._has_acted = share, act, False

    def progress(self, share_done: float) -> None:
        if not self._has_acted and share_done > self._share - 1e-6:
            self._has_acted = True
            self._act()


class RayRun:
    """A training over Ray, and its backend."""

    def __init__(
        self, folder: Path, layout: RoundLayoutConfig, config: MonteCarloConfig = CONFIG, rules: Rules = RULES
    ) -> None:
        self._folder, self._layout, self._config, self._rules = folder, layout, config, rules
        self.backend: RayBackend

    def go(self, act: Callable[[RayBackend], None] = lambda backend: None, after: int = 2) -> Trained:
        """Train; call ``act`` after so many rounds."""
        return train(self._folder, self._config, self._new_backend, self._watch(act, after), self._rules)

    def _watch(self, act: Callable[[RayBackend], None], after: int) -> ActingWatch:
        return ActingWatch(after / self._config.max_rounds, lambda: act(self.backend))

    def _new_backend(self, state: BackendState | None) -> RayBackend:
        parts = monte_carlo_parts(self._config, self._layout, GAME.name, self._rules)
        self.backend = ray_backend(parts, state, new_matches=TaskMatches)
        return self.backend


def train(
    folder: Path,
    config: MonteCarloConfig = CONFIG,
    new_backend: NewBackend | None = None,
    watch: TrainingWatch | None = None,
    rules: Rules = RULES,
) -> Trained:
    """Train in one process, or with another backend."""
    return ValueTrainer(config, GAME, rules, folder, watch=watch, new_backend=new_backend).run()


def numbers(progress: TrainingProgress) -> list[dict[str, Any]]:
    """Return the curve without times and without what is measured only over Ray."""
    timed = {"seconds", "simulators", "buffered_rounds", "playing_seconds", "faults"}
    return [{name: value for name, value in entry.items() if name not in timed} for entry in progress.history]


def _wait_for_the_end(_: RayBackend) -> None:
    print("saved", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    RayRun(Path(sys.argv[1]), LOCKSTEP).go(_wait_for_the_end, ROUNDS_BEFORE_THE_END)
