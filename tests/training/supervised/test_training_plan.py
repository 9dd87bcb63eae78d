from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from suphx.games.riichi.features.samples import Samples
from suphx.training.supervised.supervised_config import SupervisedConfig
from suphx.training.supervised.training_plan import estimate_samples, plan_training


@dataclass
class EveryTenth:
    """Has two samples in every tenth kyoku; counts what it was asked for."""

    asked: int = 0

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        self.asked += len(kyokus)
        count = 2 * int((kyokus % 10 == 0).sum())
        return Samples(np.zeros((count, 1), np.uint8), np.zeros((count, 0), np.uint8), np.zeros(count, np.int8))


def test_samples_are_estimated_from_a_part_of_the_kyokus() -> None:
    encode = EveryTenth()
    estimate = estimate_samples(encode, np.arange(100_000))
    assert estimate == pytest.approx(20_000, rel=0.2)
    assert encode.asked < 4000
    assert estimate_samples(EveryTenth(), np.arange(100_000)) == estimate


def test_few_kyokus_are_counted_exactly() -> None:
    assert estimate_samples(EveryTenth(), np.arange(50)) == 10
    assert estimate_samples(EveryTenth(), np.arange(0)) == 0


def test_a_head_with_many_samples_keeps_its_settings() -> None:
    config = SupervisedConfig(batch_size=512, max_epochs=4, min_steps=300)
    assert plan_training(config, 500_000) == config


def test_a_head_with_fewer_samples_takes_smaller_batches() -> None:
    plan = plan_training(SupervisedConfig(batch_size=512, max_epochs=4, min_steps=300), 12_000)
    assert (plan.batch_size, plan.max_epochs) == (128, 4)


def test_a_head_with_very_few_samples_takes_more_passes_too_but_not_endlessly() -> None:
    config = SupervisedConfig(batch_size=512, max_epochs=4, min_steps=300)
    plan = plan_training(config, 4000)
    assert plan.batch_size == 64
    assert 4000 * plan.max_epochs / plan.batch_size == pytest.approx(300, rel=0.01)
    assert plan_training(config, 50).max_epochs == 40


def test_batches_stay_a_multiple_of_the_workers() -> None:
    plan = plan_training(SupervisedConfig(batch_size=384, max_epochs=4, min_steps=300), 4000, num_workers=3)
    assert plan.batch_size == 96


def test_the_passes_do_not_depend_on_the_number_of_workers() -> None:
    config = SupervisedConfig(batch_size=1000, max_epochs=4, min_steps=300)
    plans = [plan_training(config, 8000, num_workers) for num_workers in (1, 2, 8, 40)]
    assert [plan.batch_size for plan in plans] == [125, 126, 128, 160]
    assert {plan.max_epochs for plan in plans} == {4.688}


@pytest.mark.parametrize("fields", [{"max_epochs": 0, "max_steps": 20}, {"min_steps": 0}, {"max_steps": 20}])
def test_a_limit_of_steps_leaves_the_settings_alone(fields: dict[str, int]) -> None:
    config = SupervisedConfig(**({"batch_size": 64, "max_epochs": 4} | fields))  # type: ignore[arg-type]
    assert plan_training(config, 1000) == config
