from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from suphx.selfplay.config import InferenceEngineConfig
from suphx_platform.ray import process as broken_process
from suphx_platform.ray.actors import InferenceEngineActor, LearnerActor, SimulatorActor
from suphx_platform.ray.process import LearnersLostError, ending_broken_process, is_error_of_gpu

ILLEGAL = "CUDA error: an illegal memory access was encountered"


class EndedError(Exception):
    """Stands for the end of the process."""


@pytest.fixture(autouse=True)
def _ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(code: int) -> None:
        assert code == 1
        raise EndedError

    monkeypatch.setattr(broken_process, "os", SimpleNamespace(_exit=end))


@pytest.mark.parametrize(
    ("error", "is_broken"),
    [
        (torch.AcceleratorError("unspecified launch failure"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), True),
        (RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered"), True),
        (LearnersLostError("one of 2 learners is lost"), True),
        (torch.AcceleratorError("CUDA error: out of memory"), False),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), False),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), False),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError(ILLEGAL), False),
    ],
)
def test_a_process_ends_if_its_gpu_has_failed_and_not_at_other_errors(error: Exception, is_broken: bool) -> None:
    assert is_error_of_gpu(error) == (is_broken and not isinstance(error, LearnersLostError))
    with pytest.raises(EndedError if is_broken else type(error)), ending_broken_process():
        raise error


class BrokenGpu:
    """Any part that computes: whatever it is asked for, its GPU has failed."""

    version = 0

    def __getattr__(self, method: str) -> Any:
        def fail(*_: Any, **__: Any) -> None:
            raise RuntimeError(ILLEGAL)

        return fail


@pytest.mark.parametrize(
    ("kind", "method", "arguments"),
    [
        (InferenceEngineActor, "evaluate", ([],)),
        (InferenceEngineActor, "fetch", ()),
        (SimulatorActor, "play", (1, 0, None)),
        (SimulatorActor, "play_once", (1, 0)),
        (LearnerActor, "work", (1, 1.0)),
        (LearnerActor, "work_once", ()),
        (LearnerActor, "weights", ()),
        (LearnerActor, "state", ()),
        (LearnerActor, "begin", ((0, {}, {}),)),
        (LearnerActor, "__init__", (BrokenGpu().make, (), 1, 1, 1)),
    ],
)
def test_every_process_that_computes_on_a_gpu_ends_if_that_has_failed(
    kind: type[Any], method: str, arguments: tuple[Any, ...]
) -> None:
    actor: Any = object.__new__(kind)
    broken = BrokenGpu()
    if kind is InferenceEngineActor:
        own = SimpleNamespace(
            engine=SimpleNamespace(version=9, config=InferenceEngineConfig()),
            evaluate_together=broken.evaluate,
            ask_newest=lambda: None,
            take=broken.load,
        )
        with pytest.raises(EndedError):
            asyncio.run(getattr(kind(lambda: own), method)(*arguments))
        return
    actor._own = None
    actor._simulator, actor._held, actor._next, actor._version, actor._num_alone = broken, None, None, 0, 0
    if kind is LearnerActor:
        actor._learner = SimpleNamespace(
            num_updates=0, **{name: getattr(broken, name) for name in ("learn", "match_weights", "state", "restore")}
        )
        actor._has_begun, actor._error, actor._version = True, None, lambda ahead=0: 0
        actor._take, actor._ask = lambda: (0.0, {}), lambda ahead=0: None
        actor._shards, actor._turn = ["buffer"], lambda: SimpleNamespace(ask=lambda *_: (0.0, {}))
    with pytest.raises(EndedError):
        getattr(actor, method)(*arguments)
