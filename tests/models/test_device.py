from __future__ import annotations

import pytest
import torch

from suphx.models.device import find_device, resolve_compilation, torch_threads, uses_bf16

CPU = torch.device("cpu")


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


def test_compilation_is_for_gpus_unless_it_is_asked_for() -> None:
    assert resolve_compilation("auto", CPU) == "none"
    assert resolve_compilation("auto", torch.device("cuda")) == "default"
    assert resolve_compilation("max-autotune", CPU) == "max-autotune"
