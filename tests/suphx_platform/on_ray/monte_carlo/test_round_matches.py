"""What becomes of a match of Deep Monte-Carlo over Ray; with real processes: test_ray_rounds.py."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from ray.exceptions import RayTaskError, WorkerCrashedError

from suphx.training.value_nets import Figures
from suphx_platform.on_ray.monte_carlo.ray_rounds import figures_or_loss


def test_the_figures_of_a_match_are_passed_on() -> None:
    found: Future[Figures] = Future()
    figures = figures_or_loss(found)
    assert not figures.done()
    found.set_result({"random": {"wp_landlord": 0.5}})
    assert figures.result() == {"random": {"wp_landlord": 0.5}}


def test_a_match_whose_process_was_lost_is_told_apart_from_one_that_failed() -> None:
    lost: Future[Figures] = Future()
    lost.set_exception(WorkerCrashedError())
    with pytest.raises(ChildProcessError, match=r"The worker died unexpectedly .*: see the logs of Ray's workers"):
        figures_or_loss(lost).result()
    failed: Future[Figures] = Future()
    failed.set_exception(RayTaskError("evaluate", "wrong rules", ValueError("wrong rules")))
    with pytest.raises(RayTaskError, match="wrong rules"):
        figures_or_loss(failed).result()
