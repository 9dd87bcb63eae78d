"""Real processes, which really die. Tasks wait for each other at a FIFO: no test depends on who is faster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import pytest

from suphx.evaluation.worker_pool import Player, ProcessPool, Progress, Worker, _ProcessWorker, _serve
from tests.evaluation.file_task import start
from tests.repository import REPOSITORY

FIRST_PROCESS = """
import sys
from pathlib import Path
from suphx.evaluation.worker_pool import ProcessPool
from tests.evaluation.file_task import start

if __name__ == "__main__":
    list(ProcessPool(2).run([("stay", Path(sys.argv[1]))] * 2, start, ()))
"""


def start_in_pairs() -> Callable[[Iterator[tuple[int, str]], Progress], Iterator[tuple[int, str]]]:
    """Return what takes two tasks before it does them, and dies of the word "die"."""

    def work(tasks: Iterator[tuple[int, str]], progress: Progress) -> Iterator[tuple[int, str]]:
        while pair := list(islice(tasks, 2)):
            for place, word in reversed(pair):
                if word == "die":
                    os._exit(3)
                yield place, word.upper()

    return work


def run_tasks(
    tasks: Sequence[Any], start: Any, arguments: tuple[Any, ...], *, workers: int, **options: Any
) -> Generator[tuple[int, Any], None, None]:
    with closing(ProcessPool(workers)) as pool:
        yield from pool.run(tasks, start, arguments, **options)


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def test_every_task_is_done_once(tmp_path: Path) -> None:
    tasks = [(name, tmp_path) for name in "abcdefg"]
    found = dict(run_tasks(tasks, start, ("played",), workers=3))
    assert found == {place: f"played {name}" for place, name in enumerate("abcdefg")}
    assert list(run_tasks([], start, (), workers=3)) == []


def test_a_killed_process_is_told_with_its_task_and_the_others_finish_theirs(fifo: Path) -> None:
    found: list[tuple[int, str]] = []
    with pytest.raises(
        ChildProcessError, match=r"was ended by SIGKILL, possibly because .* while it played the task 'die'"
    ):
        found.extend(
            run_tasks([("wait", fifo), ("die", fifo)], start, (), workers=2, describe=lambda t: f"the task {t[0]!r}")
        )
    assert found == [(0, "did wait")]


def test_a_process_may_work_on_several_tasks_at_a_time() -> None:
    assert list(run_tasks(["a", "b", "c"], start_in_pairs, (), workers=1)) == [(1, "B"), (0, "A"), (2, "C")]
    found = dict(run_tasks(list("abcdefg"), start_in_pairs, (), workers=2))
    assert found == dict(enumerate("ABCDEFG"))


def test_a_process_that_dies_is_told_with_all_tasks_that_it_had() -> None:
    with pytest.raises(ChildProcessError, match=r"ended with exit code 3 while it played a and 1 other part$"):
        list(run_tasks(["a", "die", "c"], start_in_pairs, (), workers=1, describe=str))


def test_a_process_that_ends_by_itself_is_told_with_its_exit_code(tmp_path: Path) -> None:
    with pytest.raises(ChildProcessError, match="ended with exit code 3 while it played"):
        list(run_tasks([("exit", tmp_path)], start, (), workers=1))


def test_an_error_of_a_task_is_raised_here_with_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no ") as caught:
        list(run_tasks([("refuse", tmp_path)] * 2, start, (), workers=2))
    assert "in work\n" in caught.value.__notes__[0]


class OneLoss(ProcessPool):
    """Processes that may be lost once."""

    max_losses = 1


def start_in_halves() -> Callable[[Iterator[tuple[int, Path]], Progress], Iterator[tuple[int, str]]]:
    """Return what does a task in two halves, and stops after the first half if nobody has begun it before."""

    def work(tasks: Iterator[tuple[int, Path]], progress: Progress) -> Iterator[tuple[int, str]]:
        for place, file in tasks:
            is_first = not file.exists()
            file.write_text(str(os.getpid()))
            progress(0.5)
            if is_first:
                signal.pause()
            progress(0.5)
            yield place, "done"

    return work


def test_the_progress_of_a_lost_task_does_not_count(tmp_path: Path) -> None:
    amounts: list[float] = []
    file = tmp_path / "process"

    def note(amount: float) -> None:
        amounts.append(amount)
        if len(amounts) == 1:
            os.kill(int(file.read_text()), signal.SIGKILL)

    said: list[str] = []
    with closing(OneLoss(1, say=said.append)) as pool:
        assert list(pool.run([file], start_in_halves, (), size=lambda task: 1.0, progress=note)) == [(0, "done")]
    assert (amounts[0], sum(amounts)) == (0.5, 1.0)
    assert len(said) == 1


class LateWorker(_ProcessWorker):
    """A process that ends when somebody calls what it leaves here, as an actor elsewhere does."""

    late: ClassVar[list[Callable[[], None]]] = []

    def end(self) -> None:
        self.late.append(super().end)


class LatePool(ProcessPool):
    def new_worker(self) -> Worker:
        return LateWorker()


def test_a_worker_of_a_run_that_was_left_is_none_of_the_next_one_when_it_ends(tmp_path: Path) -> None:
    done, paused = tmp_path / "done", tmp_path / "paused"
    done.touch()

    def end_late() -> bool:
        while LateWorker.late:
            LateWorker.late.pop()()
        return False

    with closing(LatePool(2, is_stopped=end_late)) as pool:
        left = pool.run([done, paused], start_in_halves, ())
        assert next(left) == (0, "done")
        left.close()
        assert LateWorker.late
        assert list(pool.run([done], start_in_halves, ())) == [(0, "done")]
    end_late()


def test_what_was_finished_before_an_error_is_told_first() -> None:
    def work(tasks: Iterator[tuple[int, str]], progress: Progress) -> Iterator[tuple[int, str]]:
        for index, word in islice(tasks, 2):
            yield index, word.upper()
        raise ValueError("no more")

    player = Player(work)
    with player._changed:
        player._waiting.extend(enumerate("ab"))
        player._changed.notify_all()
    player._thread.join()  # nobody asks before all is over
    assert player.exchange([], is_last=False, seconds=60).finished == [(0, "A"), (1, "B")]
    with pytest.raises(ValueError, match="no more"):
        player.exchange([], is_last=False, seconds=60)


def test_processes_end_when_nobody_takes_their_results_any_more(fifo: Path) -> None:
    results = run_tasks([("quick", fifo), ("stay", fifo)], start, (), workers=2)
    assert next(results) == (0, "did quick")
    results.close()  # returns when both are gone


def test_a_process_ends_in_silence_when_its_last_answer_was_not_read() -> None:
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(theirs,))
    process.start()
    ours.send((start, ()))
    assert ours.poll(60)
    ours.close()  # as of a process that is killed: the connection is reset, not ended
    process.join(60)
    assert process.exitcode == 0


def test_processes_end_when_the_first_one_is_killed(fifo: Path) -> None:
    first = subprocess.Popen([sys.executable, "-c", FIRST_PROCESS, str(fifo)], cwd=REPOSITORY)
    with fifo.open("rb", buffering=0) as pipe:
        said = b""
        while said.count(b"here") < 2:
            said += pipe.read(100)
        first.kill()
        first.wait()
        assert pipe.read() == b"", "it ends when no process has it open"
