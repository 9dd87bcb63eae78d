from __future__ import annotations

import pytest

from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.training.optimizer import learning_rate_factor, new_optimizer


def test_the_rate_warms_up_linearly() -> None:
    factors = [learning_rate_factor(step, 0.0, 4) for step in range(6)]
    assert factors == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]


def test_the_rate_falls_as_half_a_cosine_to_the_final_factor() -> None:
    factors = [learning_rate_factor(100, progress, 10) for progress in (0.0, 0.5, 1.0, 1.5)]
    assert factors == pytest.approx([1.0, 0.505, 0.01, 0.01])


def test_the_warm_up_takes_no_more_than_its_share_of_a_short_run() -> None:
    shares = [
        learning_rate_factor(step, step / 40, 200) / learning_rate_factor(step, step / 40, 0) for step in range(6)
    ]
    assert shares == pytest.approx([1 / 200, 0.25, 0.5, 0.75, 1.0, 1.0])


def test_biases_and_normalisation_do_not_decay() -> None:
    net = PolicyNet(DECISIONS[DISCARD_HEAD], 3, NetConfig(size="tiny"))
    optimizer = new_optimizer(net, 1e-3, 0.1)
    decay = {id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]}
    for name, parameter in net.named_parameters():
        is_plain = name.endswith("bias") or ".norm." in name
        assert decay[id(parameter)] == (0.0 if is_plain else 0.1), name
