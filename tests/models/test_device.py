from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from psutil import Process

from suphx.models.device import _has_compiler, _trim, find_device, give_back_memory, resolve_compilation, torch_threads

CPU, GPU = torch.device("cpu"), torch.device("cuda")


def test_threads_are_set_inside_the_block_only() -> None:
    before = torch.get_num_threads()
    with torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    with torch_threads(0):
        assert torch.get_num_threads() == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_cuda_without_a_gpu_is_refused() -> None:
    assert find_device("auto") == CPU
    with pytest.raises(ValueError, match="no usable GPU: use auto or cpu"):
        find_device("cuda")


def test_freed_memory_is_given_back_with_any_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [bytearray(60_000) for _ in range(3000)]  # 180 MB of blocks that are no mappings of their own
    kept = blocks[::100]
    before = Process().memory_info().rss
    blocks.clear()
    give_back_memory()
    assert Process().memory_info().rss < before - 100e6
    assert len(kept) == 30
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    _trim.cache_clear()
    give_back_memory()
    _trim.cache_clear()


@pytest.fixture
def headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The headers of a Python on a machine without a C compiler."""
    (tmp_path / "Python.h").touch()
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: str(tmp_path))
    _has_compiler.cache_clear()
    yield tmp_path
    _has_compiler.cache_clear()


def test_compilation_is_for_gpus_unless_it_is_asked_for(headers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", {"gcc": "/usr/bin/gcc"}.get)
    assert resolve_compilation("auto", CPU) == "none"
    assert resolve_compilation("auto", GPU) == "default"
    assert resolve_compilation("max-autotune", CPU) == "max-autotune"


def test_a_gpu_without_a_c_compiler_computes_nets_as_they_are_with_one_warning(
    headers: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert [resolve_compilation("auto", GPU) for _ in range(2)] == ["none", "none"]
    assert caplog.text.count("apt-get install gcc libc6-dev python3-dev") == 1
    assert resolve_compilation("default", GPU) == "default", "asked for: torch says what is missing"
