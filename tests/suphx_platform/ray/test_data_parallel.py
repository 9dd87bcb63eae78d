from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray as ray_api
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from ray.exceptions import RayActorError
from ray.util.queue import Queue
from torch.multiprocessing.spawn import spawn

from suphx.experience.observation import Samples
from suphx.games.riichi.features.samples import BadDealError
from suphx.games.riichi.names import DISCARD_HEAD, RIICHI_HEAD
from suphx.training import supervised
from suphx.training.supervised import HeadTrainer, HeadTraining
from suphx.training.trainer import DivergedError
from suphx.training.worker_group import WorkerGroup
from suphx.worker_interrupt import WorkerDiedError
from suphx_platform.ray import data_parallel
from suphx_platform.ray.data_parallel import CheckpointLocation, DataParallelConfig, final_errors, train_on_workers
from suphx_platform.ray.session import ray_session
from suphx_platform.storage.storage import UNDER_WAY
from tests.repository import REPOSITORY
from tests.suphx_platform.ray.ray_nodes import WAYS, Way, ray_nodes
from tests.training.played_games import SHORT, LowestLegal, head_data, job

TWO = DataParallelConfig(num_workers=2, max_failures=1, node_resource="learner")


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    before = os.environ.get("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S")
    os.environ["RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"] = "0.2"
    with ray_session(num_cpus=2, resources={"learner": 1}):
        yield
    if before is None:
        del os.environ["RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"]


_calls = count()
CHUNKS_BEFORE_DEATH = 16  # of 22 an epoch: after the first checkpoint, which is that of step 20


@dataclass(frozen=True)
class DiesOnce:
    """Kills the second worker in its first epoch if the file ``go`` is there, and takes the file away."""

    go: Path

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        is_second_worker = kyokus[0] % 2 == 1
        if next(_calls) == CHUNKS_BEFORE_DEATH and is_second_worker and self.go.exists():
            self.go.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return LowestLegal(DISCARD_HEAD)(kyokus)


@dataclass(frozen=True)
class Counted:
    """Leaves a file for each process that encodes."""

    folder: Path
    head: int

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        (self.folder / f"encoder-{os.getpid()}").touch()
        return LowestLegal(self.head)(kyokus)


class Diverging(Counted):
    """Also lets losses in its process be no numbers."""

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        module: Any = supervised
        module.supervised_loss = lambda logits, *_: logits.sum() * math.nan
        return super().__call__(kyokus)


def training(encode: Any = None) -> HeadTraining:
    data = head_data() if encode is None else replace(head_data(), encode=encode)
    return job(replace(SHORT, report_every=5, save_seconds=1000), data=data)


def figures(metrics: dict[str, Any]) -> dict[str, Any]:
    history = [{key: value for key, value in entry.items() if key != "seconds"} for entry in metrics["history"]]
    return {"history": history, "test": metrics["test"]}


def driver(arguments: str) -> list[str]:
    """Return the command of a driver that trains: a process of its own, as a run is."""
    names = "TWO, CheckpointLocation, Path, Slow, replace, train_on_workers, training"
    return [
        *(sys.executable, "-c"),
        f"from tests.suphx_platform.ray.test_data_parallel import {names}\ntrain_on_workers({arguments})",
    ]


def train_without_ray(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    HeadTrainer(training(), folder / str(rank), group=WorkerGroup(rank=rank, size=2)).run()
    dist.destroy_process_group()


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_two_workers_of_which_one_is_killed_end_like_two_plain_processes(tmp_path: Path) -> None:
    go = tmp_path / "go"
    go.touch()
    reports: list[Mapping[str, Any]] = []
    found = train_on_workers(
        training(DiesOnce(go)), tmp_path / "ray", TWO, CheckpointLocation(str(tmp_path / "kept")), report=reports.append
    )
    assert not go.exists(), "no worker was killed"
    spawn(train_without_ray, (tmp_path,), nprocs=2)  # type: ignore[no-untyped-call]
    plain = json.loads((tmp_path / "0" / "metrics.json").read_text())
    assert figures(found) == figures(plain)
    assert found["history"][-1]["samples"] == 60 * 64
    assert {report["step"] for report in reports} == set(range(5, 61, 5))
    assert {path.name for path in (tmp_path / "ray").iterdir()} == {path.name for path in (tmp_path / "0").iterdir()}


@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_reports_pass_through_the_drivers_node_and_no_training_needs_them(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    options: dict[str, Any] = {}

    class Seen(Queue):
        def __init__(self, *, actor_options: dict[str, Any]) -> None:
            options.update(actor_options)
            super().__init__(actor_options=actor_options)

    monkeypatch.setattr("ray.util.queue.Queue", Seen)
    point = {"step": 5}
    with data_parallel._reports(lambda _: None) as queue:
        assert queue is not None
        place = options["scheduling_strategy"]
        assert (place.node_id, place.soft) == (ray_api.get_runtime_context().get_node_id(), False)
        data_parallel._send(queue, point)
        process: Any = queue.actor
        ray_api.kill(process)
        with suppress(RayActorError):  # it may still answer for a moment
            for _ in range(10_000):
                ray_api.get(process.qsize.remote())
        data_parallel._send(queue, point)
    found = sorted(message.partition(":")[0] for message in caplog.messages)
    assert found == ["the progress of the workers is not shown any more", "the report of step 5 is lost"]


@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_an_error_of_whoever_gets_the_reports_is_raised_when_the_training_has_ended() -> None:
    def refuse(point: Mapping[str, Any]) -> None:
        raise OSError("no space left on the disk")

    point = {"step": 5}
    ended: list[int] = []

    def train_alone() -> None:
        with data_parallel._reports(refuse) as queue:
            assert queue is not None
            data_parallel._send(queue, point)
            ended.append(5)

    with pytest.raises(OSError, match="no space left"):
        train_alone()
    assert ended == [5]


@pytest.mark.slow
@pytest.mark.ray
def test_a_killed_driver_goes_on_when_it_is_started_again(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    program = driver(f"training(), Path({str(folder)!r}), TWO, CheckpointLocation({str(folder)!r})")
    process = subprocess.Popen(program, cwd=REPOSITORY)
    while not list(folder.glob("workers/checkpoint_*")):
        assert process.poll() is None, "the driver ended before its first checkpoint"
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert not (folder / "metrics.json").exists()
    subprocess.run(program, cwd=REPOSITORY, check=True)
    spawn(train_without_ray, (tmp_path,), nprocs=2)  # type: ignore[no-untyped-call]
    found, plain = (json.loads((path / "metrics.json").read_text()) for path in (folder, tmp_path / "0"))
    assert figures(found) == figures(plain)


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_workers_go_on_with_what_one_process_has_learned(tmp_path: Path) -> None:
    folder = tmp_path / "stage"
    half = replace(training(), config=replace(training().config, save_seconds=0))

    def stop(step: int) -> None:
        if step >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        HeadTrainer(half, folder, keep=stop).run()
    reports: list[Mapping[str, Any]] = []
    metrics = train_on_workers(half, folder, TWO, CheckpointLocation(str(folder)), report=reports.append)
    assert min(report["step"] for report in reports) > 30
    assert metrics["history"][-1]["step"] == 60


def test_a_driver_that_was_killed_at_the_end_has_nothing_to_do(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text('{"head": "discard"}')
    (tmp_path / UNDER_WAY).mkdir()
    metrics = train_on_workers(training(), tmp_path, TWO, CheckpointLocation(str(tmp_path)))
    assert metrics == {"head": "discard"}
    assert not (tmp_path / UNDER_WAY).exists()


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_a_wrong_value_that_a_worker_meets_is_raised_here_by_its_first_attempt(tmp_path: Path) -> None:
    data = replace(head_data(), encode=Counted(tmp_path, DISCARD_HEAD))
    without = replace(data, split=replace(data.split, train=np.array([7])))
    with pytest.raises(ValueError, match="1 games cannot be shared among 2 workers"):
        train_on_workers(job(data=without), tmp_path / "stage", TWO, CheckpointLocation(str(tmp_path / "stage")))
    assert len(list(tmp_path.glob("encoder-*"))) == 2


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.usefixtures("ray")
def test_a_training_that_diverges_ends_at_once_and_names_a_place_that_stays(tmp_path: Path) -> None:
    diverging = job(SHORT, data=replace(head_data(RIICHI_HEAD), encode=Diverging(tmp_path, RIICHI_HEAD)))
    with pytest.raises(DivergedError, match=f"at step 1 .* are in the checkpoints in {tmp_path}/stage/workers"):
        train_on_workers(diverging, tmp_path / "stage", TWO, CheckpointLocation(str(tmp_path / "stage")))
    assert len(list(tmp_path.glob("encoder-*"))) == 2


@pytest.mark.parametrize("field", ["num_workers", "cpus_per_worker"])
def test_a_wrong_config_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} is 0: use 1 to 1,024"):
        DataParallelConfig(**{field: 0})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Slow:
    """Takes a while, so that something can happen meanwhile."""

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        time.sleep(0.1)
        return LowestLegal(DISCARD_HEAD)(kyokus)


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.parametrize("way", WAYS)
def test_two_workers_whose_nodes_end_end_like_two_plain_processes(
    tmp_path: Path, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One node ends while its worker starts, trains, and has stored a checkpoint; a drained one is not a failure."""
    monkeypatch.setenv("RAY_TRAIN_HEALTH_CHECK_INTERVAL_S", "0.2")
    location = CheckpointLocation(str(tmp_path / "kept"))
    reported, folder = tmp_path / "reported", tmp_path / "ray"
    failures = 0 if way == "drained" else 4
    with ray_nodes("learner 1", "learner 2") as nodes:
        starts = partial(nodes.processes, "learner 2", "RayTrainWorker")
        moments = (starts, reported.exists, location.has_checkpoints)
        ending = nodes.end_when(way, [("learner 2", is_now) for is_now in moments])
        program = driver(
            f"training(Slow()), Path({str(folder)!r}), replace(TWO, max_failures={failures}), "
            f"CheckpointLocation({location.path!r}), report=lambda _: Path({str(reported)!r}).touch()"
        )
        subprocess.run(program, cwd=REPOSITORY, check=True)
        ending.result(timeout=60)
    spawn(train_without_ray, (tmp_path,), nprocs=2)  # type: ignore[no-untyped-call]
    found, plain = (json.loads((path / "metrics.json").read_text()) for path in (folder, tmp_path / "0"))
    assert figures(found) == figures(plain)


LOST, WRONG, DIVERGED = RuntimeError("connection closed"), ValueError("too few games"), DivergedError("the loss is nan")
DAMAGED = BadDealError("the deal ends in the middle of a turn", "game", 0)


@pytest.mark.parametrize(
    ("errors", "raised"),
    [
        ([DIVERGED], DIVERGED),
        ([WRONG], WRONG),
        ([DAMAGED], DAMAGED),
        ([WRONG, ValueError("another")], WRONG),
        ([LOST, DIVERGED], DIVERGED),
        ([LOST, WRONG], None),  # which may be its consequence
        ([LOST], None),
        ([OSError("no answer")], None),
        ([WorkerDiedError()], None),
        ([json.JSONDecodeError("cut", "{", 1)], None),
    ],
)
def test_only_what_every_attempt_would_meet_ends_a_training(errors: list[Exception], raised: Exception | None) -> None:
    context: Any = None
    by_rank = dict(enumerate(errors))
    if raised is None:
        final_errors().after_exception(context, by_rank)
        return
    with pytest.raises(type(raised)) as found:
        final_errors().after_exception(context, by_rank)
    assert found.value is raised
