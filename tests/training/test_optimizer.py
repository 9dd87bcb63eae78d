from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import observation_bytes
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.training.optimizer import LossWatch, StepLoss, learning_rate_factor, new_optimizer, predict


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


@pytest.mark.gpu
def test_on_a_gpu_the_newest_step_is_not_waited_for() -> None:
    device = torch.device("cuda")
    watch = LossWatch(device)
    for step in (1, 2, 3):
        watch.add(step, 8, torch.tensor(float(step), device=device), torch.tensor(1.0, device=device))
    assert [loss.step for loss in watch.take()] == [1, 2]
    assert watch.take(waits=True) == [StepLoss(3, 8, 3.0, 1.0)]


def samples(count: int) -> Samples:
    random = np.random.default_rng(1)
    rows = random.integers(0, 256, (count, observation_bytes(4)), np.uint8)
    masks = (random.random((count, 34)) < 0.5).astype(np.uint8)
    return Samples(rows, masks, np.zeros(count, np.int8))


def test_predictions_do_not_depend_on_how_many_rows_there_are() -> None:
    net = PolicyNet(DECISIONS[DISCARD_HEAD], 4, NetConfig(size="tiny"))
    many = samples(2100)
    few = Samples(many.planes[2090:], many.masks[2090:], many.labels[2090:])
    np.testing.assert_allclose(predict(net, many, bf16=False)[2090:], predict(net, few, bf16=False), atol=1e-5)


def test_illegal_outputs_are_predicted_as_impossible() -> None:
    some = samples(10)
    logits = predict(PolicyNet(DECISIONS[DISCARD_HEAD], 4, NetConfig(size="tiny")), some, bf16=False)
    assert np.array_equal(np.isneginf(logits), some.masks == 0)
