"""One net trained by several workers through Ray Train: each has its own games, gradients are shared every step (DDP).

The loop is the plain one of suphx.training; this file only starts it on the workers, brings their reports home and
their checkpoints to the storage. A worker that dies ends its group, which Ray Train starts again from the last
checkpoint; a driver that dies finds the checkpoints of the same name when it is started again.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from suphx.json_text import parse_json
from suphx.number_range import Processes, Range, check_ranges
from suphx.training.trainer import METRICS_FILE, DivergedError, Report
from suphx_platform.ray.session import ray_session
from suphx_platform.storage.storage import UNDER_WAY
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import copy_linked

if TYPE_CHECKING:  # torch and Ray are for those who train only: recipes have the settings
    from ray.train import CheckpointUploadMode, UserCallback
    from ray.util.queue import Queue

    from suphx.training.supervised import HeadTraining


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


_logger = logging.getLogger(__name__)
_KEPT_CHECKPOINTS = 2
_CHECKPOINT = "checkpoint_"
"""How Ray Train's names of checkpoints begin."""
_MAX_UNSENT = 2
_SHARE_OF_NODE = 0.001
"""Of ``node_resource``: a worker only has to be on such a node."""


@dataclass(frozen=True, slots=True)
class CheckpointLocation:
    """Where Ray Train keeps its checkpoints while a training is under way; every worker must be able to reach it."""

    path: str
    """A folder, or bucket/prefix of the file system."""
    filesystem: Any = None
    """pyarrow's, for a bucket."""
    is_stored: bool = False
    """Whether it is in the storage, which removes the checkpoints when it has the result."""

    def has_checkpoints(self) -> bool:
        """Tell whether there is a checkpoint of workers; OSError if the storage does not answer."""
        if self.filesystem is None:
            return any(Path(self.path, UNDER_WAY).glob(f"{_CHECKPOINT}*"))
        from pyarrow.fs import FileSelector

        found = self.filesystem.get_file_info(FileSelector(f"{self.path}/{UNDER_WAY}", allow_not_found=True))
        return any(file.base_name.startswith(_CHECKPOINT) for file in found)

    def remove(self) -> None:
        """Remove the checkpoints on this machine."""
        shutil.rmtree(Path(self.path) / UNDER_WAY, ignore_errors=True)


def checkpoint_location(storage: StorageConfig, name: str, folder: Path) -> CheckpointLocation:
    """Return the location called ``name`` in the storage; without a storage, the local ``folder``."""
    if not storage.address:
        return CheckpointLocation(str(folder.resolve()))
    if storage.is_folder:
        return CheckpointLocation(str(Path(storage.address).resolve() / name), is_stored=True)
    from suphx_platform.storage.bucket import s3_environment, s3_file_system  # boto3: only when somebody needs it

    os.environ.update(s3_environment(storage))  # here and, through ray_session, on the workers
    path = f"{storage.address.removeprefix('s3://').rstrip('/')}/{name}"
    return CheckpointLocation(path, s3_file_system(storage), is_stored=True)


def train_on_workers(
    job: HeadTraining,
    folder: Path,
    config: DataParallelConfig,
    location: CheckpointLocation,
    *,
    report: Report | None = None,
) -> dict[str, Any]:
    """Train one head on the workers of ``config`` and return its metrics, as ``HeadTrainer`` does in one process.

    ``folder`` gets the same files at the end, the metrics last. Until then Ray Train's checkpoints lie at ``location``,
    from which the same call continues after a kill; with the metrics there, it has nothing to do. Without a checkpoint
    there, it continues with what ``folder`` has. The games that ``job`` reads must lie at the same path on
    every worker. Raises what a worker raised: DivergedError and ValueError at once, other errors once
    ``max_failures`` is used up. What ``report`` raises is raised at the end.
    """
    if not (folder / METRICS_FILE).is_file():
        _train(job, folder, config, location, report)
    if not location.is_stored:
        location.remove()
    metrics: dict[str, Any] = parse_json((folder / METRICS_FILE).read_text(encoding="utf-8"))
    return metrics


def _train(
    job: HeadTraining, folder: Path, config: DataParallelConfig, location: CheckpointLocation, report: Report | None
) -> None:
    import ray
    import ray.train
    from ray.train.torch import TorchConfig, TorchTrainer

    from suphx.training.supervised import STATE_FILE

    logging.getLogger("ray.train").setLevel(logging.WARNING)
    num_gpus = config.num_workers if config.use_gpu else 0
    nodes = {config.node_resource: _SHARE_OF_NODE} if config.node_resource else {}
    own = dict.fromkeys(nodes, 1.0)
    has_state = (folder / STATE_FILE).is_file()  # of a training in one process
    state_files = {path.name: path.read_bytes() for path in sorted(folder.glob("*.safetensors"))} if has_state else {}
    with (
        ray_session(num_cpus=config.num_workers * config.cpus_per_worker, num_gpus=num_gpus, resources=own),
        _reports(report) as queue,
    ):
        resources = {"CPU": config.cpus_per_worker, "GPU": int(config.use_gpu), **nodes}
        place = f"{location.path}/{UNDER_WAY}"
        trainer = TorchTrainer(
            _work,
            train_loop_config={"job": job, "reports": queue, "start": ray.put(state_files), "kept_in": place},
            torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if config.use_gpu else "gloo"),
            scaling_config=ray.train.ScalingConfig(
                num_workers=config.num_workers, use_gpu=config.use_gpu, resources_per_worker=resources
            ),
            run_config=ray.train.RunConfig(
                name=UNDER_WAY,
                storage_path=location.path,
                storage_filesystem=location.filesystem,
                failure_config=ray.train.FailureConfig(max_failures=config.max_failures),
                checkpoint_config=ray.train.CheckpointConfig(num_to_keep=_KEPT_CHECKPOINTS),
                callbacks=[final_errors()],  # type: ignore[list-item] # mypy sees the older RunConfig
            ),
        )
        try:
            result = trainer.fit()
        except ray.train.WorkerGroupError as error:
            raise next(iter(error.worker_failures.values()), error) from error
        except ray.train.ControllerError as error:
            if is_final(error.controller_failure):
                raise error.controller_failure from error
            raise
        assert result.checkpoint is not None  # every worker ends with one
        fetched = folder.with_name(f".{folder.name}.fetched")
        shutil.rmtree(fetched, ignore_errors=True)
        result.checkpoint.to_directory(str(fetched))
        folder.mkdir(parents=True, exist_ok=True)  # still here: the end of the block raises what ``report`` raised
        for path in sorted(fetched.iterdir(), key=lambda path: path.name == METRICS_FILE):
            path.replace(folder / path.name)
        fetched.rmdir()


def _work(config: dict[str, Any]) -> None:
    """Run the plain loop as one worker; the states that it keeps become checkpoints of Ray Train."""
    import ray
    import ray.train

    from suphx.training.supervised import HeadTrainer
    from suphx.training.worker_group import WorkerGroup

    context = ray.train.get_context()
    group = WorkerGroup(rank=context.get_world_rank(), size=context.get_world_size())
    with tempfile.TemporaryDirectory(prefix="suphx-worker-") as name:
        folder = Path(name, "state")
        last = ray.train.get_checkpoint()
        if last is not None:
            last.to_directory(str(folder))
        else:
            folder.mkdir()
            for file, content in ray.get(config["start"]).items():
                (folder / file).write_bytes(content)
        checkpoints = _Checkpoints(folder, Path(name, "snapshots"), is_sender=group.is_first)
        reports: Queue | None = config["reports"]
        report = None if reports is None else partial(_send, reports)
        HeadTrainer(
            *(config["job"], folder), group=group, report=report, keep=checkpoints.keep, kept_in=config["kept_in"]
        ).run()
        checkpoints.finish()


def _send(reports: Queue, point: Mapping[str, Any]) -> None:
    """Send a report to the driver; a training continues if nobody gets it."""
    from ray.exceptions import RayError

    try:
        reports.put(point)
    except RayError as error:
        _logger.warning("the report of step %d is lost: %s", point["step"], error)


class _Checkpoints:
    """Hands states to Ray Train, which sends them while the training continues; all workers call it alike."""

    def __init__(self, folder: Path, snapshots: Path, *, is_sender: bool) -> None:
        """``snapshots``: where the copies lie that are being sent; Ray Train removes each when it is done."""
        self._folder = folder
        self._snapshots = snapshots
        self._is_sender = is_sender
        self._order = count()
        snapshots.mkdir()

    def keep(self, step: int) -> None:
        """Send the state of this step, unless too many are still on their way."""
        from ray.train import CheckpointUploadMode

        is_sent = self._is_sender and len(list(self._snapshots.iterdir())) < _MAX_UNSENT
        self._report(step, is_sent=is_sent, mode=CheckpointUploadMode.ASYNC)

    def finish(self) -> None:
        """Send the finished nets and metrics, and wait for all that was sent."""
        from ray.train import CheckpointUploadMode

        self._report(-1, is_sent=self._is_sender, mode=CheckpointUploadMode.SYNC)

    def _report(self, step: int, *, is_sent: bool, mode: CheckpointUploadMode) -> None:
        import ray.train

        checkpoint = None
        if is_sent:
            snapshot = self._snapshots / str(next(self._order))
            copy_linked(self._folder, snapshot)
            checkpoint = ray.train.Checkpoint.from_directory(str(snapshot))
        ray.train.report({"step": step}, checkpoint=checkpoint, checkpoint_upload_mode=mode)


@contextmanager
def _reports(report: Report | None) -> Iterator[Queue | None]:
    """Give the workers a queue whose reports a thread passes on to ``report`` while the block runs.

    The queue is on the driver's node, because others may be lost. Reports end with it, but the training continues. They
    also end with an error of ``report``, which is raised at the end of the block if that has no error of its own.
    """
    if report is None:
        yield None
        return
    import ray
    from ray.exceptions import RayError
    from ray.util.queue import Queue
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    queue = Queue(actor_options={"num_cpus": 0, "scheduling_strategy": here})
    errors: list[Exception] = []
    thread = threading.Thread(target=_pass_on, args=(queue, report, errors), name="worker reports", daemon=True)
    thread.start()
    try:
        yield queue
    finally:
        with suppress(RayError):
            queue.put(None)
        thread.join()
        queue.shutdown()
    if errors:
        raise errors[0]


def _pass_on(queue: Queue, report: Report, errors: list[Exception]) -> None:
    from ray.exceptions import RayError

    try:
        while (item := queue.get()) is not None:
            report(item)
    except RayError as error:
        _logger.warning("the progress of the workers is not shown any more: %s", error)
    except Exception as error:  # noqa: BLE001 - it is raised again where the training ends
        _logger.warning("the training continues, but its progress is not shown any more: %s", error)
        errors.append(error)


def final_errors() -> UserCallback:
    """Return what ends a training with the error of a worker, if that is final, whatever ``max_failures`` is.

    Ray Train calls it in its controller. What it raises becomes the ``controller_failure`` of the ControllerError that
    ``fit`` raises.
    """
    from ray.train import UserCallback

    class FinalErrors(UserCallback):
        def after_exception(self, run_context: Any, worker_exceptions: Mapping[int, Exception]) -> None:
            """Raise the first final one of ``worker_exceptions`` (rank -> error).

            A wrong value is not final beside another error: it may be the consequence of a worker that was lost.
            """
            errors = worker_exceptions.values()
            are_all_final = all(map(is_final, errors))
            for error in errors:
                if isinstance(error, DivergedError) or (are_all_final and is_final(error)):
                    raise error

    return FinalErrors()


def is_final(error: Exception) -> bool:
    """Tell whether ``error`` follows from the settings and the data alone: a loss that is not finite, a wrong value.

    Errors of libraries that derive from ValueError, such as those of damaged JSON, do not count; our own do.
    """
    is_own = type(error) is ValueError or type(error).__module__.startswith("suphx")
    return isinstance(error, DivergedError) or (isinstance(error, ValueError) and is_own)
