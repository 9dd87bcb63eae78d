"""Who trains a net: the settings of data_parallel.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DataParallelConfig:
    """Who trains a net. None of this changes what is learned, but for rounding and the order of samples."""

    num_workers: int = 1
    """Processes that train one net together, through Ray Train; 1 trains in the process of the command, without Ray,
    unless ``on_ray`` says otherwise. ``supervised.batch_size`` is shared among them."""
    on_ray: bool = False
    """Let Ray place a single worker too: on a cluster, where the command itself runs on a machine without a GPU."""
    use_gpu: bool = False
    """A GPU for each worker (nccl); else CPUs (gloo)."""
    cpus_per_worker: int = 1
    """Logical CPUs that Ray keeps for each worker: one for training and one for each encoder (stream.num_workers)."""
    max_failures: int = 3
    """Times that training goes on after workers died; then it ends with their error."""

    def __post_init__(self) -> None:
        for name, least in (("num_workers", 1), ("cpus_per_worker", 1), ("max_failures", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {least}")

    @property
    def needs_ray(self) -> bool:
        """Tell whether training leaves the process of the command."""
        return self.num_workers > 1 or self.on_ray
