from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from suphx.games.riichi.features.samples import BadDealError
from suphx.training.trainer import DivergedError
from suphx.worker_interrupt import WorkerDiedError
from suphx_platform.ray.data_parallel import final_errors, is_final


def see(errors: Mapping[int, Exception]) -> None:
    context: Any = None
    final_errors().after_exception(context, dict(errors))


@pytest.mark.parametrize("others", [{}, {2: ValueError("too few games")}], ids=repr)
@pytest.mark.parametrize("final", [DivergedError("the loss is nan"), ValueError("too few games")], ids=repr)
def test_what_every_attempt_would_meet_is_raised(final: Exception, others: dict[int, Exception]) -> None:
    with pytest.raises(type(final), match=str(final)):
        see({1: final, **others})


def test_a_loss_that_is_not_finite_is_raised_whatever_the_other_workers_met() -> None:
    with pytest.raises(DivergedError, match="the loss is nan"):
        see({0: RuntimeError("connection closed"), 1: DivergedError("the loss is nan")})


def test_a_wrong_value_beside_a_lost_worker_may_be_its_consequence() -> None:
    see({0: RuntimeError("connection closed"), 1: ValueError("no process group")})


def test_damaged_records_end_the_training_at_once() -> None:
    assert is_final(BadDealError("the deal ends in the middle of a turn", "game", 0))


@pytest.mark.parametrize(
    "error",
    [RuntimeError("connection closed"), OSError("no answer"), WorkerDiedError(), json.JSONDecodeError("cut", "{", 1)],
    ids=repr,
)
def test_what_another_attempt_may_not_meet_is_left_to_ray(error: Exception) -> None:
    assert not is_final(error)
    see({0: error})
