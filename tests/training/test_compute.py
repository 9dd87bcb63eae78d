from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.features.head import DISCARD
from suphx.features.planes import row_bytes
from suphx.features.samples import Samples
from suphx.models.policy import NetConfig, PolicyNet
from suphx.training.compute import find_device, predict, torch_threads, uses_bf16

CPU = torch.device("cpu")


def samples(count: int) -> Samples:
    random = np.random.default_rng(1)
    rows = random.integers(0, 256, (count, row_bytes(4)), np.uint8)
    masks = (random.random((count, 34)) < 0.5).astype(np.uint8)
    return Samples(rows, masks, np.zeros(count, np.int8))


def test_predictions_do_not_depend_on_how_many_rows_there_are() -> None:
    net = PolicyNet(DISCARD, 4, NetConfig(size="tiny"))
    many = samples(2100)
    few = Samples(many.rows[2090:], many.masks[2090:], many.labels[2090:])
    np.testing.assert_allclose(predict(net, many, bf16=False)[2090:], predict(net, few, bf16=False), atol=1e-5)


def test_illegal_outputs_are_predicted_as_impossible() -> None:
    some = samples(10)
    logits = predict(PolicyNet(DISCARD, 4, NetConfig(size="tiny")), some, bf16=False)
    assert np.array_equal(np.isneginf(logits), some.masks == 0)


def test_bfloat16_changes_logits_a_little() -> None:
    torch.manual_seed(1)
    net = PolicyNet(DISCARD, 4, NetConfig(size="tiny"))
    some = samples(10)
    exact, rough = predict(net, some, bf16=False), predict(net, some, bf16=True)
    legal = np.isfinite(exact)
    np.testing.assert_allclose(rough[legal], exact[legal], atol=0.05)


def test_threads_are_set_inside_the_block_only() -> None:
    before = torch.get_num_threads()
    with torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    with torch_threads(0):
        assert torch.get_num_threads() == before


def test_the_precision_asked_for_is_taken() -> None:
    assert uses_bf16("bf16", CPU)
    assert not uses_bf16("fp32", CPU)
    assert uses_bf16("auto", CPU) == torch.cpu.get_capabilities().get("avx512_bf16", False)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu_is_refused() -> None:
    assert find_device("auto") == CPU
    with pytest.raises(ValueError, match="no usable GPU: use auto or cpu"):
        find_device("cuda")
