from __future__ import annotations

import numpy as np
import torch

from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.games.riichi.features.layout.planes import observation_bytes
from suphx.games.riichi.features.samples import Samples
from suphx.models.nets.net_config import NetConfig
from suphx.models.nets.policy import PolicyNet
from suphx.training.loop.prediction import predict


def samples(count: int) -> Samples:
    random = np.random.default_rng(1)
    rows = random.integers(0, 256, (count, observation_bytes(4)), np.uint8)
    masks = (random.random((count, 34)) < 0.5).astype(np.uint8)
    return Samples(rows, masks, np.zeros(count, np.int8))


def test_predictions_do_not_depend_on_how_many_rows_there_are() -> None:
    net = PolicyNet(DISCARD_HEAD, 4, NetConfig(size="tiny"))
    many = samples(2100)
    few = Samples(many.planes[2090:], many.masks[2090:], many.labels[2090:])
    np.testing.assert_allclose(predict(net, many, bf16=False)[2090:], predict(net, few, bf16=False), atol=1e-5)


def test_illegal_outputs_are_predicted_as_impossible() -> None:
    some = samples(10)
    logits = predict(PolicyNet(DISCARD_HEAD, 4, NetConfig(size="tiny")), some, bf16=False)
    assert np.array_equal(np.isneginf(logits), some.masks == 0)


def test_bfloat16_changes_logits_a_little() -> None:
    torch.manual_seed(1)
    net = PolicyNet(DISCARD_HEAD, 4, NetConfig(size="tiny"))
    some = samples(10)
    exact, rough = predict(net, some, bf16=False), predict(net, some, bf16=True)
    legal = np.isfinite(exact)
    np.testing.assert_allclose(rough[legal], exact[legal], atol=0.05)
