"""Self-play that is asked to stop while a part is away for which it would wait."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.selfplay.backend import Event
from suphx.training.local_backend import LocalBackend
from suphx.training.reinforcement_config import STATE_FILE
from suphx.training.trainer import PartAwayError, StoppedError
from suphx_platform.selfplay.metrics import RunMetrics
from suphx_platform.selfplay.policy_trainer import PolicyTrainer
from tests.suphx_platform.selfplay.small_trainer import (
    CONFIG,
    Run,
    new_play,
    new_trainer,
    numbers,
    weights,
)

pytestmark = pytest.mark.usefixtures("short_games")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory, short_games: None) -> Run:
    """The run of CONFIG from its start to its end."""
    folder = tmp_path_factory.mktemp("unbroken")
    return Run(folder, new_trainer(folder).run(), [])


class Away(LocalBackend):
    """Its learner is away after update 6, when the process is asked to stop."""

    is_stopped: Callable[[], bool]

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        self.is_stopped = is_made

    def settle(self) -> list[Event]:
        if self._learner.num_updates < 6:
            return []
        os.kill(os.getpid(), signal.SIGTERM)  # the first one, or another one
        assert self.is_stopped()
        raise PartAwayError("learner is away")


@pytest.mark.parametrize(("save_seconds", "saved"), [(0.0, "5"), (120.0, "")])
def test_a_stop_while_the_learner_is_away_ends_the_run_with_the_last_save(
    unbroken: Run, tmp_path: Path, save_seconds: float, saved: str, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(point: Mapping[str, float]) -> None:
        if point["updates"] == 6 and not saved:
            os.kill(os.getpid(), signal.SIGTERM)

    config = replace(CONFIG, save_seconds=save_seconds)
    with caplog.at_level(logging.INFO, "suphx_platform"), pytest.raises(StoppedError) as stopped:
        PolicyTrainer(config, new_play(), tmp_path, new_backend=Away, report=stop).run()
    assert stopped.value.step == int(saved or 0)
    (message,) = caplog.messages
    assert message.startswith("learner is away: the training ends")
    assert ("the state saved at update 5; updates since then are repeated" if saved else "no saved state") in message
    resumed = new_trainer(tmp_path)
    assert resumed.reached == int(saved or 0)
    assert numbers(resumed.run()) == numbers(unbroken.metrics)
    np.testing.assert_equal(weights(tmp_path), weights(unbroken.folder))


@pytest.mark.parametrize("away", ["settle", "weights"])
def test_a_stop_at_the_end_of_a_run_whose_learner_is_away_ends_it_with_the_last_save(tmp_path: Path, away: str) -> None:
    """The second time that it is asked, the learner is there, and what it has is not saved: events were missed."""

    class AwayOnce(LocalBackend):
        has_been_away = False

        def settle(self) -> list[Event]:
            return self._leave("settle") or super().settle()

        def weights(self) -> Mapping[str, Any]:
            self._leave("weights")
            return super().weights()

        def _leave(self, where: str) -> list[Event]:
            if where == away and self._learner.num_updates == 4 and not self.has_been_away:
                self.has_been_away = True
                os.kill(os.getpid(), signal.SIGTERM)
                raise PartAwayError("learner is away")
            return []

    config = replace(CONFIG, max_updates=4, save_seconds=120.0)
    metrics = RunMetrics()
    with pytest.raises(StoppedError) as stopped:
        PolicyTrainer(config, new_play(), tmp_path, new_backend=AwayOnce, metrics=metrics).run()
    assert metrics._values["suphx_stopping", ()] == 1.0, "no alert: the run was asked to stop"
    assert stopped.value.step == 0
    assert not (tmp_path / STATE_FILE).exists()
