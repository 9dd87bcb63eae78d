"""Who trains a net: the settings of data_parallel.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from suphx.number_range import Processes, Range, check_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class DataParallelConfig:
    """Number and placement of the processes that train a net. Results differ only by rounding and the order of
    samples."""

    num_workers: Processes = 1
    """Processes that train one net together, with Ray Train. They share ``supervised.batch_size``. With 1, training
    runs in the process of the command, without Ray, unless ``on_ray`` is set."""
    on_ray: bool = False
    """Let Ray place a single worker too, for example on a cluster when the machine of the command has no GPU."""
    use_gpu: bool = False
    """One GPU per worker (nccl). When false, workers use CPUs (gloo)."""
    cpus_per_worker: Annotated[int, Range(1, 1024)] = 1
    """Logical CPUs that Ray reserves per worker: one for training and one for each encoder process
    (stream.num_workers)."""
    node_resource: str = ""
    """Custom Ray resource that the nodes of workers must have (``ray start --resources``). The chart sets ``learner``:
    only learner pods have the keys of the storage."""
    max_failures: Annotated[int, Range(0, 1_000_000)] = 3
    """Number of times that training is resumed after workers died. After that the run fails with their error. A
    training that diverges and wrong values, which every attempt would meet, end the run at once."""

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def needs_ray(self) -> bool:
        """Tell whether training leaves the process of the command."""
        return self.num_workers > 1 or self.on_ray
