from __future__ import annotations

import pytest

from suphx.training.config import SupervisedConfig


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"batch_size": 1}, "batch_size is 1: use 2 to 65,536"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0: use more than 0, less than 1"),
        ({"weight_decay": -0.1}, "weight_decay is -0.1: use 0 to 10,000"),
        ({"precision": "fp16"}, "precision is fp16: use auto, bf16 or fp32"),
        ({"device": "tpu"}, "device is tpu: use auto, cpu or cuda"),
        ({"validate_every": 0}, "validate_every is 0: use 1 to 1,000,000,000"),
        ({"max_epochs": 0}, "set one of them, or training never ends"),
    ],
)
def test_a_wrong_config_is_refused_with_a_remedy(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SupervisedConfig(**fields)  # type: ignore[arg-type]


def test_the_limit_that_is_nearest_decides_how_much_is_done() -> None:
    config = SupervisedConfig(max_epochs=2, max_steps=100, max_minutes=10)
    assert config.share_done(10, 0.1, 60) == pytest.approx(0.1)
    assert config.share_done(10, 1.0, 60) == pytest.approx(0.5)
    assert config.share_done(10, 0.1, 540) == pytest.approx(0.9)


def test_a_limit_of_0_is_none() -> None:
    config = SupervisedConfig(max_epochs=0, max_steps=100, max_minutes=0)
    assert config.share_done(25, 40.0, 1e6) == 0.25


def test_a_share_of_the_time_of_all_nets_ends_no_training_before_its_least_number_of_steps() -> None:
    config = SupervisedConfig(max_epochs=0, total_minutes=1, min_steps=200)
    assert config.share_done(100, 0.1, 30) == pytest.approx(0.5)
    assert config.share_done(100, 0.1, 600) == pytest.approx(0.5)
    assert config.share_done(200, 0.1, 600) == pytest.approx(1.0)
    assert config.share_done(900, 0.1, 30) == pytest.approx(0.5)
