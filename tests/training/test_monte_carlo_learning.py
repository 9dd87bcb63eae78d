from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.models.tensor_file import read_tensors, write_tensors
from suphx.selfplay.backend import Event, Learned
from suphx.training import monte_carlo_learning
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import Figures, LocalRounds, ValueMatch
from suphx.training.monte_carlo_learning import STATE_FILE, ValueTrainer
from suphx.training.trainer import METRICS_FILE, PartUnavailableError, StoppedError, TrainingWatch
from tests.training.played_games import StopAfter, untimed

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(
    games=2, batches=2, max_rounds=2, max_minutes=0, evaluate_rounds=1, evaluate_decks=1, threads=1
)


def test_a_training_that_was_stopped_ends_with_the_same_numbers(tmp_path: Path) -> None:
    reported: list[Mapping[str, Any]] = []
    trained, progress = ValueTrainer(CONFIG, GAME, Rules(), tmp_path / "whole", report=reported.append).run()
    ValueTrainer(replace(CONFIG, max_rounds=1), GAME, Rules(), tmp_path / "parts").run()
    resumed, progress_2 = ValueTrainer(CONFIG, GAME, Rules(), tmp_path / "parts").run()
    assert (progress.step, len(reported)) == (4, 2)
    assert untimed(progress.history) == untimed(progress_2.history) == untimed(reported)
    assert trained.digest() == resumed.digest()
    last = reported[-1]
    assert last["games"] == 4
    assert set(last["random"]) == {
        f"{m}_{side}{error}" for m in ("wp", "adp") for side in ("landlord", "peasant") for error in ("", "_error")
    }
    written = json.loads((tmp_path / "parts" / METRICS_FILE).read_text())
    assert written == {"best_step": progress_2.best_step, "curve": progress_2.history}


def test_a_training_that_ends_without_an_evaluation_makes_up_for_it(tmp_path: Path) -> None:
    config = replace(CONFIG, max_rounds=8, evaluate_rounds=7, save_seconds=0)
    with pytest.raises(StoppedError):
        ValueTrainer(config, GAME, Rules(), tmp_path, watch=StopAfter(0)).run()
    trained, progress = ValueTrainer(replace(config, max_rounds=1), GAME, Rules(), tmp_path).run()
    assert [entry["step"] for entry in progress.history] == [progress.step] == [CONFIG.batches]
    again, progress_2 = ValueTrainer(replace(config, max_rounds=1), GAME, Rules(), tmp_path).run()
    assert untimed(progress_2.history) == untimed(progress.history)
    assert trained.digest() == again.digest()


class AgingRounds(LocalRounds):
    """Each round was played with older nets than the one before."""

    def advance(self) -> list[Event]:
        return [
            replace(event, figures={**event.figures, "staleness": 0.25 * (event.number - 1)})
            if isinstance(event, Learned)
            else event
            for event in super().advance()
        ]


def test_staleness_is_the_mean_over_all_rounds_also_after_a_resume(tmp_path: Path) -> None:
    config = replace(CONFIG, max_rounds=3, evaluate_rounds=3)
    new_backend = partial(AgingRounds, config, "doudizhu", Rules())
    _, whole = ValueTrainer(config, GAME, Rules(), tmp_path / "whole", new_backend=new_backend).run()
    parts = tmp_path / "parts"
    with pytest.raises(StoppedError):
        ValueTrainer(config, GAME, Rules(), parts, watch=StopAfter(0), new_backend=new_backend).run()
    _, resumed = ValueTrainer(config, GAME, Rules(), parts, new_backend=new_backend).run()
    assert untimed(resumed.history) == untimed(whole.history)
    assert whole.history[0]["staleness"] > 0


class LongMatch(Future[Figures]):
    """A match that has never ended when somebody looks."""

    def done(self) -> bool:
        return False


class LongMatches(LocalRounds):
    """Matches take longer than the rounds between them."""

    def play_match(self, order: Any, progress: Any) -> Future[Any]:
        figures = LongMatch()
        figures.set_result(super().play_match(order, progress).result())
        return figures


def test_states_are_saved_also_while_there_is_always_a_match(tmp_path: Path) -> None:
    steps: list[int] = []

    def keep(step: int) -> None:
        steps.append(step)
        shutil.copytree(tmp_path / "run", tmp_path / f"{len(steps)}")

    config = replace(CONFIG, max_rounds=4, save_seconds=0)
    new_backend = partial(LongMatches, config, "doudizhu", Rules())
    _, whole = ValueTrainer(config, GAME, Rules(), tmp_path / "run", keep=keep, new_backend=new_backend).run()
    assert set(steps) == {2, 4, 6, 8}, "after each round, before a match is waited for, and at the end"
    assert [entry["step"] for entry in whole.history] == [2, 4, 6, 8]
    kill = 1 + steps.index(4)  # while the match after step 2 is played
    _, resumed = ValueTrainer(config, GAME, Rules(), tmp_path / f"{kill}").run()
    assert [entry["step"] for entry in resumed.history] == [4, 6, 8], "of the saved state, instead of that match"
    first, second, *others = whole.history
    of_second = second["samples"] - first["samples"]
    loss = (first["loss"] * first["samples"] + second["loss"] * of_second) / second["samples"]
    assert [entry["loss"] for entry in resumed.history] == [pytest.approx(loss), *(each["loss"] for each in others)]


class EndlessMatches(LocalRounds):
    """Matches never end."""

    def play_match(self, order: Any, progress: Any) -> Future[Any]:
        return Future()


class StopAtStep(TrainingWatch):
    """Wants the training to stop as soon as it has asked so often."""

    def __init__(self, asked: int) -> None:
        self._left = asked

    def is_stopping(self) -> bool:
        self._left -= 1
        return self._left <= 0


@pytest.mark.parametrize(("asked", "step"), [(4, 2), (5, 4), (8, 4)], ids=["between", "at the next match", "waiting"])
def test_a_stop_drops_a_match_that_has_not_ended_and_the_resumed_training_makes_up_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: int, step: int
) -> None:
    monkeypatch.setattr(monte_carlo_learning, "_WAIT_SECONDS", 0.01)
    new_backend = partial(EndlessMatches, CONFIG, "doudizhu", Rules())
    with pytest.raises(StoppedError) as stopped:
        ValueTrainer(CONFIG, GAME, Rules(), tmp_path, watch=StopAtStep(asked), new_backend=new_backend).run()
    assert stopped.value.step == step
    _, resumed = ValueTrainer(CONFIG, GAME, Rules(), tmp_path).run()
    assert resumed.history[-1]["step"] == 4
    assert all(entry["loss"] > 0 for entry in resumed.history)


class LostMatches(LocalRounds):
    """The matches of some evaluations are lost with their nodes."""

    def __init__(self, lost: set[int], *arguments: Any) -> None:
        super().__init__(*arguments)
        self._lost, self._number = lost, 0

    def play_match(self, order: Any, progress: Any) -> Future[Any]:
        self._number += 1
        if self._number not in self._lost:
            return super().play_match(order, progress)
        figures: Future[Figures] = Future()
        figures.set_exception(ChildProcessError("the node is gone"))
        return figures


def test_a_match_that_is_lost_is_left_out_and_one_at_the_end_is_played_by_the_same_command(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = replace(CONFIG, max_rounds=3)
    new_backend = partial(LostMatches, {2, 3}, config, "doudizhu", Rules())
    with pytest.raises(ChildProcessError, match="the node is gone; the training is saved, and the same command plays"):
        ValueTrainer(config, GAME, Rules(), tmp_path / "lost", new_backend=new_backend).run()
    assert caplog.messages == ["the match after step 4 was lost, the training continues: the node is gone"]
    _, resumed = ValueTrainer(config, GAME, Rules(), tmp_path / "lost").run()
    _, progress = ValueTrainer(config, GAME, Rules(), tmp_path / "whole").run()
    assert [entry["step"] for entry in resumed.history] == [2, 6]
    assert resumed.history[-1]["random"] == progress.history[-1]["random"]
    first, second, third = progress.history
    of_second, of_third = second["samples"] - first["samples"], third["samples"] - second["samples"]
    loss = (second["loss"] * of_second + third["loss"] * of_third) / (of_second + of_third)
    assert resumed.history[-1]["loss"] == pytest.approx(loss), "of both rounds, as the match after the second was lost"


@pytest.mark.parametrize("save_seconds", [0.0, 1e6], ids=["saved", "unsaved"])
def test_a_stop_while_the_learner_is_away_ends_with_the_last_save(
    tmp_path: Path, save_seconds: float, caplog: pytest.LogCaptureFixture
) -> None:
    class AwayRounds(LocalRounds):
        """The learner is unavailable after two rounds."""

        def settle(self) -> list[Event]:
            if self.version == 2:
                raise PartUnavailableError("learner is unavailable")
            return []

    config = replace(CONFIG, max_rounds=3, save_seconds=save_seconds)
    saved = 0 if save_seconds else 2
    new_backend = partial(AwayRounds, config, "doudizhu", Rules())
    with pytest.raises(StoppedError) as stopped:
        ValueTrainer(config, GAME, Rules(), tmp_path, watch=StopAtStep(6), new_backend=new_backend).run()
    assert stopped.value.step == saved
    state = "the state saved at step 2" if saved else "no saved state"
    assert caplog.messages == [f"learner is unavailable: the training ends with {state}; steps since then are repeated"]
    _, resumed = ValueTrainer(config, GAME, Rules(), tmp_path).run()
    _, whole = ValueTrainer(config, GAME, Rules(), tmp_path / "whole").run()
    assert untimed(resumed.history) == untimed(whole.history)


class SlowRounds(LocalRounds):
    """Every other time a round is not finished in time, and only ``settle`` waits for it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._is_late = True
        self._finished: list[Event] = []

    def advance(self) -> list[Event]:
        self._is_late = not self._is_late
        if self._finished:
            return self.settle()
        events = super().advance()
        if self._is_late:
            self._finished = events
            return []
        return events

    def settle(self) -> list[Event]:
        settled, self._finished = self._finished, []
        return settled


def test_rounds_that_a_save_waited_for_are_evaluated_when_they_are_due(tmp_path: Path) -> None:
    config = replace(CONFIG, max_rounds=4, evaluate_rounds=2, save_seconds=0)
    curves = []
    for backend in (LocalRounds, SlowRounds):
        new_backend = partial(backend, config, "doudizhu", Rules())
        _, progress = ValueTrainer(config, GAME, Rules(), tmp_path / backend.__name__, new_backend=new_backend).run()
        curves.append(untimed(progress.history))
    assert [entry["step"] for entry in curves[0]] == [4, 8]
    assert curves[1] == curves[0]


class Clock:
    """Stands where the module ``time`` does."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


class StartingRounds(LocalRounds):
    """Nobody is there for a quarter of an hour, then a round takes 7 seconds."""

    num_looks = 0

    def __init__(self, clock: Clock, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._clock = clock

    @property
    def is_waiting_for_parts(self) -> bool:
        return self.num_looks <= 3

    def advance(self) -> list[Event]:
        self.num_looks += 1
        self._clock.now += 300.0 if self.is_waiting_for_parts else 7.0
        return [] if self.is_waiting_for_parts else super().advance()


def test_the_time_to_start_others_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, config = Clock(), replace(CONFIG, max_rounds=1)
    monkeypatch.setattr("suphx.training.trainer.time", clock)
    monkeypatch.setattr(monte_carlo_learning, "time", clock)
    new_backend = partial(StartingRounds, clock, config, "doudizhu", Rules())
    _, progress = ValueTrainer(config, GAME, Rules(), tmp_path, new_backend=new_backend).run()
    assert (clock.now, progress.seconds) == (907.0, 7.0)


def test_the_nets_that_won_most_are_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wins = iter([0.25, 0.75, 0.5])

    def play(order: ValueMatch, progress: Any = None) -> Figures:
        seen.append(order.weights)
        won = next(wins)
        return {"random": {f"{measure}_{side}": won for measure in ("wp", "adp") for side in GAME.sides}}

    seen: list[Any] = []
    monkeypatch.setattr(ValueMatch, "play", play)
    trained, progress = ValueTrainer(replace(CONFIG, max_rounds=2), GAME, Rules(), tmp_path).run()
    resumed, _ = ValueTrainer(replace(CONFIG, max_rounds=3), GAME, Rules(), tmp_path).run()
    assert (progress.best_step, progress.best_loss) == (4, 0.25)
    assert len(seen) == 3
    for found in (trained.nets, resumed.nets):
        for net, weights in zip(found, seen[1].values(), strict=True):
            assert all(np.array_equal(tensor.numpy(), weights[name]) for name, tensor in net.state_dict().items())


def test_a_state_of_other_settings_is_refused(tmp_path: Path) -> None:
    config = replace(CONFIG, games=1, max_rounds=1)
    ValueTrainer(config, GAME, Rules(), tmp_path).run()
    assert (tmp_path / STATE_FILE).is_file()
    with pytest.raises(ValueError, match=r"epsilon was 0.01, now 0.2; scoring was win, now points"):
        ValueTrainer(replace(config, epsilon=0.2), GAME, Rules(scoring="points"), tmp_path).run()
    tensors, header = read_tensors(tmp_path / STATE_FILE)
    for broken in ({"step": "2"}, {"history": [{"loss": 1.0}]}, {"history": [7]}, {"history": [{"step": "x"}]}):
        write_tensors(tmp_path / STATE_FILE, tensors, header | {"progress": header["progress"] | broken})
        with pytest.raises(ValueError, match=r"is damaged .*: delete it to start over"):
            ValueTrainer(config, GAME, Rules(), tmp_path).run()
    owed = header["progress"] | {"history": [], "loss_samples": 0}  # no step since the last evaluation
    write_tensors(tmp_path / STATE_FILE, tensors, header | {"progress": owed})
    _, progress = ValueTrainer(config, GAME, Rules(), tmp_path).run()
    assert [entry["step"] for entry in progress.history] == [progress.step]
