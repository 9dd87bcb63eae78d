"""Self-play whose matches are slow, lost or stopped, or begin while the run diverges."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.names import DISCARD_HEAD
from suphx.models.tensor_file import read_tensors
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.backend import BackendState, Event
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.weights import Weights
from suphx.training.learner import DivergedBatchError
from suphx.training.local_backend import LocalBackend, SelfPlay
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.trainer import DivergedError, StoppedError
from suphx_platform.selfplay.policy_trainer import PolicyTrainer
from suphx_platform.selfplay.run_folder import DIVERGED_FILE
from suphx_platform.selfplay.self_play_match import MatchOrder, MatchOutcome
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_platform.selfplay.small_trainer import CONFIG, new_play, new_trainer, numbers, weights
from tests.training.decision_batch import decisions

pytestmark = pytest.mark.usefixtures("short_games")
OFTEN = replace(CONFIG, max_updates=10, evaluate_every=1)


class SlowMatches(LocalBackend):
    """A match during the run ends three updates after it was begun, or when the run settles."""

    def __init__(self, config: ReinforcementConfig, play: SelfPlay, state: BackendState | None = None) -> None:
        super().__init__(config, play, state)
        self._waiting: list[tuple[int, MatchOrder, Future[MatchOutcome]]] = []

    def play_match(self, order: MatchOrder, progress: Callable[[float], None]) -> Future[MatchOutcome]:
        if order.keeps_games:
            return super().play_match(order, progress)
        future: Future[MatchOutcome] = Future()
        self._waiting.append((self._learner.num_updates + 3, order, future))
        return future

    def advance(self) -> list[Event]:
        events = super().advance()
        self._end_matches(self._learner.num_updates)
        return events

    def settle(self) -> list[Event]:
        self._end_matches(self._config.max_updates + 3)
        return super().settle()

    def _end_matches(self, updates: int) -> None:
        ended = [match for match in self._waiting if match[0] <= updates]
        self._waiting = [match for match in self._waiting if match[0] > updates]
        for _, order, future in ended:
            future.set_result(order.play())


def test_waiting_for_parts_takes_none_of_the_time_of_a_run(tmp_path: Path) -> None:
    """Nodes with GPUs may take hours: the time limit is for learning."""

    class Starting(LocalBackend):
        num_waits = 0

        @property
        def is_waiting_for_parts(self) -> bool:
            return self.num_waits < 5

        def advance(self) -> list[Event]:
            if not self.is_waiting_for_parts:
                return super().advance()
            time.sleep(0.3)
            self.num_waits += 1
            return []

    trainer = PolicyTrainer(replace(CONFIG, max_updates=1), new_play(), tmp_path, new_backend=Starting)
    started = time.monotonic()
    metrics = trainer.run()
    assert metrics["seconds"] < time.monotonic() - started - 1


def test_a_match_is_left_out_while_an_earlier_one_is_still_played(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    measured: list[int] = []
    trainer = PolicyTrainer(
        *(OFTEN, new_play(), tmp_path),
        new_backend=SlowMatches,
        measured=lambda entry, nets: measured.append(entry["updates"]),
    )
    metrics = trainer.run()
    played = [match["updates"] for match in metrics["matches"] if not match["is_final"]]
    assert played == [1, 1, 4, 4, 7, 7], "against the start and the weak nets"
    assert measured == [1, 4, 7, 10]
    about = [line.split(";")[0] for line in caplog.messages if line.startswith("no match after")]
    left_out = "is still played, and those that are due before its end are left out"
    assert about == [
        f"no match after 2 updates: the one after 1 update {left_out}",
        f"no match after 5 updates: the one after 4 updates {left_out}",
        f"no match after 8 updates: the one after 7 updates {left_out}",
    ]


def test_in_lockstep_no_match_is_left_out(tmp_path: Path) -> None:
    config = replace(OFTEN, max_updates=4, cluster=RayLayoutConfig(pace="lockstep"))
    metrics = PolicyTrainer(config, new_play(), tmp_path, new_backend=SlowMatches).run()
    played = [match["updates"] for match in metrics["matches"] if not match["is_final"]]
    assert played == [1, 1, 2, 2, 3, 3]


def test_waiting_for_matches_at_the_end_takes_none_of_the_time_of_a_run(tmp_path: Path) -> None:
    class Late(LocalBackend):
        def play_match(self, order: MatchOrder, progress: Callable[[float], None]) -> Future[MatchOutcome]:
            future: Future[MatchOutcome] = Future()
            threading.Timer(1.0, lambda: future.set_result(order.play())).start()
            return future

    trainer = PolicyTrainer(replace(CONFIG, max_updates=1, evaluate_every=0), new_play(), tmp_path, new_backend=Late)
    started = time.monotonic()
    metrics = trainer.run()
    assert metrics["seconds"] < time.monotonic() - started - 1


def test_a_match_that_a_stop_ends_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Endless(LocalBackend):
        def play_match(self, order: MatchOrder, progress: Callable[[float], None]) -> Future[MatchOutcome]:
            return Future()

        def advance(self) -> list[Event]:
            if self._learner.num_updates == 2:
                os.kill(os.getpid(), signal.SIGTERM)
            return super().advance()

    config = replace(OFTEN, evaluate_every=2)
    with pytest.raises(StoppedError, match="step 3"):
        PolicyTrainer(config, new_play(), tmp_path, new_backend=Endless).run()
    left_out = "the match after 2 updates is left out: it was still played when the run was stopped"
    assert caplog.messages.count(left_out) == 1, "those against the start and the weak nets together"


def test_the_nets_of_a_lost_match_are_forgotten(tmp_path: Path) -> None:
    waiting: list[list[int]] = []

    class Lost(LocalBackend):
        def play_match(self, order: MatchOrder, progress: Callable[[float], None]) -> Future[MatchOutcome]:
            if order.keeps_games:
                return super().play_match(order, progress)
            assert trainer._measured is not None
            waiting.append(sorted(trainer._measured._waiting))
            future: Future[MatchOutcome] = Future()
            future.set_exception(ChildProcessError("4 workers were lost"))
            return future

    config = replace(OFTEN, max_updates=4, evaluation_weak=False)
    trainer = PolicyTrainer(config, new_play(), tmp_path, new_backend=Lost, measured=lambda *_: None)
    trainer.run()
    assert waiting == [[1], [2], [3]]


def test_a_run_that_diverges_while_weights_for_a_match_are_awaited_writes_its_batch(tmp_path: Path) -> None:
    """Over Ray, the learner learns from the batches that it has before it gives its weights."""

    class Diverging(LocalBackend):
        def weights(self) -> Weights:
            raise DivergedBatchError("the loss is inf", {DISCARD_HEAD: decisions()})

    config = replace(OFTEN, evaluate_every=2)
    with pytest.raises(DivergedError, match=r"diverged at update 3 \(the loss is inf\); .*lower learner.learning_rate"):
        PolicyTrainer(config, new_play(), tmp_path, new_backend=Diverging).run()
    assert read_tensors(tmp_path / DIVERGED_FILE)[1]["updates"] == 2
    load_agent(str(tmp_path))


def test_a_run_that_diverges_in_its_last_save_writes_the_batch(tmp_path: Path) -> None:
    """Over Ray, a learner that died during the last match has to repeat batches then."""

    class Diverging(LocalBackend):
        has_matches = False

        def play_match(self, order: MatchOrder, progress: Callable[[float], None]) -> Future[MatchOutcome]:
            self.has_matches = order.keeps_games
            return super().play_match(order, progress)

        def settle(self) -> list[Event]:
            if self.has_matches:
                raise DivergedBatchError("the loss is inf", {DISCARD_HEAD: decisions()})
            return super().settle()

    config = replace(OFTEN, max_updates=2, evaluate_every=0)
    with pytest.raises(DivergedError, match=r"\(the loss is inf\); .*lower learner.learning_rate"):
        PolicyTrainer(config, new_play(), tmp_path, new_backend=Diverging).run()
    assert read_tensors(tmp_path / DIVERGED_FILE)[1]["updates"] == 2


def test_a_run_that_resumes_does_not_ask_for_weights_if_its_match_is_there(tmp_path: Path) -> None:
    config = replace(CONFIG, max_updates=4, evaluate_every=2)
    asked: list[int] = []

    class Asked(LocalBackend):
        def weights(self) -> Weights:
            asked.append(1)
            return super().weights()

        def advance(self) -> list[Event]:
            asked.append(0)
            return super().advance()

    def stop(point: Mapping[str, float]) -> None:
        if point.get("updates") == 2 and "weak_difference" in point:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StoppedError, match="step 2"):
        PolicyTrainer(replace(config, report_every=1), new_play(), tmp_path, report=stop).run()
    resumed = PolicyTrainer(replace(config, report_every=1), new_play(), tmp_path, new_backend=Asked)
    resumed.run()
    assert asked[0] == 0, "it plays at once"


def test_a_stop_ends_a_match_during_the_run_and_the_resumed_run_plays_it(tmp_path: Path) -> None:
    """The match against the weak nets is the second one of its update."""
    config = replace(CONFIG, max_updates=4, evaluate_every=2, report_every=1)
    unbroken = new_trainer(tmp_path / "a", config).run()
    told: list[str] = []

    def stop(_: float, note: str) -> None:
        told.append(note)
        if note.startswith("match after 2 updates (start)"):
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StoppedError, match="step 2"):
        new_trainer(tmp_path / "b", config, progress=stop).run()
    assert not [note for note in told if "(weak)" in note]
    resumed = new_trainer(tmp_path / "b", config).run()
    assert numbers(resumed) == numbers(unbroken)
    np.testing.assert_equal(weights(tmp_path / "b"), weights(tmp_path / "a"))
    longer = new_trainer(tmp_path / "b", replace(config, max_updates=5)).run()
    at_4 = [match["is_final"] for match in longer["matches"] if match["updates"] == 4]
    assert at_4 == [True] * 3, "a longer run has measured these nets already"


def test_a_stop_during_the_match_before_the_first_update_saves_a_state(tmp_path: Path) -> None:
    play = replace(new_play(), opponent=small_policy_set(3))
    config = replace(CONFIG, max_updates=2, weight_sync_interval=1, evaluate_every=2)

    def stop(_: float, note: str) -> None:
        if note.startswith("match after 0 updates (start)"):
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StoppedError, match="step 0"):
        PolicyTrainer(config, play, tmp_path, progress=stop).run()
    matches = PolicyTrainer(config, play, tmp_path).run()["matches"]
    assert [match["opponent"] for match in matches if match["updates"] == 0] == ["start", "weak"]
