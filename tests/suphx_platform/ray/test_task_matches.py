"""What becomes of a small match over Ray; with real processes: test_rounds.py."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest
from ray.exceptions import RayTaskError, WorkerCrashedError

from suphx_platform.ray.task_matches import outcome_or_loss


def test_the_outcome_of_a_match_is_passed_on() -> None:
    found: Future[Any] = Future()
    outcome = outcome_or_loss(found)
    assert not outcome.done()
    found.set_result("won")
    assert outcome.result() == "won"


def test_a_match_whose_process_was_lost_is_told_apart_from_one_that_failed() -> None:
    lost: Future[Any] = Future()
    lost.set_exception(WorkerCrashedError())
    with pytest.raises(ChildProcessError, match=r"The worker died unexpectedly .*: see the logs of Ray's workers"):
        outcome_or_loss(lost).result()
    failed: Future[Any] = Future()
    failed.set_exception(RayTaskError("evaluate", "wrong rules", ValueError("wrong rules")))
    with pytest.raises(RayTaskError, match="wrong rules"):
        outcome_or_loss(failed).result()
