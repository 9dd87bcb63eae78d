"""Where and how nets are computed: device, threads, bfloat16, whether they are compiled, memory that is given back."""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Literal, cast

import torch

from suphx.models.net_config import Compilation, DeviceName, Precision


@contextmanager
def first_weights(seed: int) -> Iterator[None]:
    """Let nets that the block makes on the CPU have the weights of ``seed``; torch's own random state stays as it was.

    >>> with first_weights(1):
    ...     net = PolicyNet(kind, num_planes, config)
    """
    with torch.random.fork_rng(devices=[]):  # with them it warns on every machine with several GPUs
        torch.default_generator.manual_seed(seed)
        yield


_logger = logging.getLogger(__name__)


def find_device(name: DeviceName) -> torch.device:
    """Return the device called ``name``; auto is cuda if there is one. ValueError for cuda where there is none."""
    has_cuda = torch.cuda.is_available()
    if name == "cuda" and not has_cuda:
        raise ValueError("device is cuda, but this machine has no usable GPU: use auto or cpu")
    return torch.device("cuda" if has_cuda and name != "cpu" else "cpu")


def uses_bf16(precision: Precision, device: torch.device) -> bool:
    """Tell whether to compute in bfloat16; auto: only where the hardware has it, elsewhere it would be slower."""
    if precision == "auto":
        if device.type == "cuda":
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
        return bool(torch.cpu.get_capabilities().get("avx512_bf16", False))
    return precision == "bf16"


def resolve_compilation(compilation: Compilation, device: torch.device) -> Literal["none", "default", "max-autotune"]:
    """Return what auto stands for: torch.compile on a GPU; on a CPU it makes nothing faster (docs/log).

    Without what torch.compile needs on a GPU, auto is none, with a warning.
    """
    if compilation == "auto":
        return "default" if device.type == "cuda" and _has_compiler() else "none"
    return compilation


@cache  # one warning per process
def _has_compiler() -> bool:
    """Tell whether there is what Triton builds with, found as it finds it: a C compiler and the headers of Python."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if compiler and (Path(sysconfig.get_config_var("INCLUDEPY")) / "Python.h").is_file():
        return True
    _logger.warning(
        "nets are not compiled, which makes them slower on this GPU: torch.compile needs a C compiler and the headers "
        "of Python (apt-get install gcc libc6-dev python3-dev)"
    )
    return False


def compared_algorithms() -> AbstractContextManager[None]:
    """Let cuDNN compare its algorithms for each shape that is met inside the block; its other flags stay."""
    cudnn = torch.backends.cudnn
    return cudnn.flags(
        enabled=cudnn.enabled, benchmark=True, deterministic=cudnn.deterministic, allow_tf32=cudnn.allow_tf32
    )


def give_back_memory() -> None:
    """Give the system what glibc keeps of freed memory: of blocks of ever other sizes, as of batches, it keeps much."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return malloc_trim; None with another C library than that of Linux."""
    try:
        return cast(Callable[[int], int], ctypes.CDLL(None).malloc_trim)
    except (AttributeError, OSError, TypeError):  # TypeError: Windows cannot load the program itself
        return None


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` threads inside the block; 0 changes nothing."""
    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
