"""Fixtures for real resources only."""

from __future__ import annotations

import os

# Before torch is imported: test processes run side by side, and threads of torch would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Ray starts its processes at niceness 15: beside a busy test process they would get 3 % of a core.
os.environ.setdefault("RAY_worker_niceness", "0")

import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from suphx.usable_cores import usable_cores
from suphx_platform.tracking.tracking import TrackingStore
from tests.repository import REPOSITORY
from tests.short_games import one_deal_games
from tests.suphx_platform.storage.s3_server import BUCKET, S3Server, missing_programs, s3_server

_OF_OTHERS = ("MLFLOW_TRACKING_", "MLFLOW_EXPERIMENT_", "RAY_ADDRESS", "SUPHX_CRON_JOB", "AWS_ENDPOINT_URL")
"""How the variables begin that name the tracking server, cluster or bucket of whoever runs the tests."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests away from services of others, and from the GPU unless -m begins with gpu: many compare numbers to the
    last bit. Let Ctrl-C reach the programs that tests start, also where the shell ignores it (a job in the
    background)."""
    if config.option.markexpr.split()[:1] != ["gpu"]:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    for name in [name for name in os.environ if name.startswith(_OF_OTHERS)]:
        del os.environ[name]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """Return the number of test processes for ``-n auto``: one more than there are cores, because tests wait for
    programs and servers that they start for about a third of their time."""
    return 1 + usable_cores()


@pytest.hookimpl(trylast=True)  # after -m has taken its choice
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests for a GPU where none can be seen."""
    chosen = [item for item in items if item.get_closest_marker("gpu")]
    if not chosen:
        return
    import torch

    if not torch.cuda.is_available():
        for item in chosen:
            item.add_marker(pytest.mark.skip(reason="needs a GPU: run pytest -m gpu on a machine with one"))


# The same examples on every machine, however slow it is, and none that another run found.
settings.register_profile(
    "tests", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")


@pytest.fixture(autouse=True)
def _process_as_before() -> Iterator[None]:
    """Undo what a command in this process changes for the whole process, so that no test depends on those before it."""
    environment, hook = dict(os.environ), sys.unraisablehook
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for name in os.environ.keys() | environment.keys():
        if name != "PYTEST_CURRENT_TEST" and os.environ.get(name) != environment.get(name):
            if name in environment:
                os.environ[name] = environment[name]
            else:
                del os.environ[name]
    sys.unraisablehook = hook
    for number, handler in handlers.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(scope="module")
def short_games() -> Iterator[None]:
    """Make the games of matches and tournaments end after one deal.

    For tests of what happens around games: whole games are most of their time.
    """
    with one_deal_games():
        yield


@pytest.fixture(scope="session")
def records() -> Path:
    """The folder of real game records: $SUPHX_RECORDS, or ../shared/data beside the repository; skips without it."""
    given = os.environ.get("SUPHX_RECORDS")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no game records at {folder}: set SUPHX_RECORDS to a folder of records")
    return folder


@pytest.fixture(scope="session")
def _empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    TrackingStore(folder).client.search_experiments(max_results=1)  # makes the tables, which takes seconds
    return folder / "mlflow.db"


@pytest.fixture
def new_runs(tmp_path: Path, _empty_store: Path) -> Callable[[str], Path]:
    """Makes a folder of runs of this name with a real, empty MLflow store."""

    def make(name: str) -> Path:
        (folder := tmp_path / name).mkdir(parents=True)
        shutil.copy(_empty_store, folder / "mlflow.db")
        return folder

    return make


@pytest.fixture
def runs(new_runs: Callable[[str], Path]) -> Path:
    """A folder of runs with a real, empty MLflow store."""
    return new_runs("runs")


@pytest.fixture(scope="session")
def running_s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server with the bucket ``BUCKET``; skips where it cannot be started."""
    if missing_programs():
        pytest.skip(
            f"no S3 server can be started, {', '.join(missing_programs())} is missing: "
            "apt-get install --no-install-recommends radosgw ceph-mon ceph-osd"
        )
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        server.client().create_bucket(Bucket=BUCKET)
        yield server


@pytest.fixture
def server(running_s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, and its address and keys in the environment."""
    for key, value in running_s3_server.environment.items():
        monkeypatch.setenv(key, value)
    return running_s3_server
