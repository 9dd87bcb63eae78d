from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from suphx.selfplay.backend import BackendState, Learned
from suphx.selfplay.config import ReplayBufferConfig
from suphx.selfplay.weights import PolicyVersion
from suphx.training.backend_state import packed, unpacked
from suphx.training.local_backend import LocalBackend
from tests.repository import REPOSITORY
from tests.suphx_platform.selfplay.small_trainer import CONFIG, new_play

PROGRAM = """
import sys

import suphx_cli.commands.run
import suphx_pipelines.pipeline
from suphx.selfplay.backend import Learned
from suphx_platform.selfplay.policy_trainer import run_backend, run_metrics
from tests.suphx_platform.selfplay.small_trainer import CONFIG, new_play

assert run_metrics(CONFIG) is None
backend = run_backend(CONFIG)(CONFIG, new_play(), None)
while not any(isinstance(event, Learned) for event in backend.advance()):
    pass
backend.state()
backend.close()
print("loaded:", *(name for name in ("ray", "gymnasium", "torch") if name in sys.modules))
"""


def test_self_play_in_one_process_never_loads_ray() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "loaded: torch", done.stderr


IN_TURN = replace(CONFIG, overlap=False, buffer=ReplayBufferConfig(batch_size=40))


def next_update(backend: LocalBackend) -> Mapping[str, Any]:
    while True:
        for event in backend.advance():
            if isinstance(event, Learned):
                return event.figures


@pytest.mark.usefixtures("short_games")
def test_a_state_has_the_decisions_for_which_the_buffer_has_no_room() -> None:
    backend = LocalBackend(IN_TURN, new_play(IN_TURN))
    next_update(backend)
    while not any(map(len, backend._held or [])):
        backend._held = backend._simulator.play(IN_TURN.rollout_fragment_length, version=0).decisions
    restored = LocalBackend(IN_TURN, new_play(IN_TURN), unpacked(*packed(backend.state())))
    for _ in range(2):
        assert next_update(restored) == next_update(backend)
    assert restored.counts == backend.counts
    for each in (backend, restored):
        each.close()


def test_a_state_has_simulators_that_keep_nothing() -> None:
    """Those of Deep Monte-Carlo in lockstep: their rounds follow from numbers and weights."""
    newest = PolicyVersion(3, {"seat": {"weight": np.ones(2, np.float32)}})
    state = BackendState(learner=({}, {}), versions=[newest], simulators=[{}, {}], buffers=[({}, {})], held=[[], []])
    found = unpacked(*packed(state))
    assert (found.simulators, found.buffers, found.held) == (state.simulators, state.buffers, state.held)


class CountedMatch:
    """Stands for a match of ten hanchans, which are told one by one."""

    def __init__(self, *, keeps_games: bool) -> None:
        self.keeps_games = keeps_games

    def play(self, progress: Callable[[float], None]) -> str:
        for _ in range(10):
            progress(1.0)
        return "outcome"


def test_a_stop_ends_a_match_during_the_run_and_none_at_its_end() -> None:
    backend = LocalBackend(IN_TURN, new_play(IN_TURN))
    told: list[float] = []
    tell = told.append
    backend.watch_stop(lambda: len(told) >= 3)
    match: Any = CountedMatch(keeps_games=False)
    with pytest.raises(InterruptedError, match="the match was stopped"):
        backend.play_match(match, tell).result()
    assert len(told) == 3
    with pytest.raises(InterruptedError):
        backend.play_match(match, tell).result()
    assert len(told) == 3, "another one is not begun"
    last: Any = CountedMatch(keeps_games=True)
    outcome: Any = backend.play_match(last, tell).result()
    assert outcome == "outcome"
    backend.close()


class LostMatch(CountedMatch):
    """Stands for a match whose workers die."""

    def play(self, progress: Callable[[float], None]) -> str:
        raise ChildProcessError("4 workers were lost")


def test_a_match_whose_workers_die_is_told_and_ends_nothing_else() -> None:
    """Self-play then warns and goes on (SelfPlayMatches.ended)."""
    backend = LocalBackend(IN_TURN, new_play(IN_TURN))
    match: Any = LostMatch(keeps_games=False)
    future = backend.play_match(match, print)
    with pytest.raises(ChildProcessError, match="4 workers were lost"):
        future.result()
    assert next_update(backend)
    backend.close()
