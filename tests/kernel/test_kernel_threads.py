"""What a kernel is given on several threads comes back in order, whatever the number of threads."""

from __future__ import annotations

import multiprocessing
import threading

import pytest

from suphx.kernel.kernel_threads import map_on_threads


@pytest.mark.parametrize("num_threads", [1, 2, 7])
@pytest.mark.parametrize("num_items", [0, 1, 50])
def test_results_come_back_in_order(num_threads: int, num_items: int) -> None:
    assert map_on_threads(lambda item: item * item, range(num_items), num_threads) == [n * n for n in range(num_items)]


def test_the_caller_and_its_helpers_work_side_by_side() -> None:
    all_here = threading.Barrier(3)

    def meet(_: int) -> int:
        all_here.wait(timeout=120)
        return threading.get_ident()

    assert len(set(map_on_threads(meet, range(3), 3))) == 3


def test_an_error_is_raised_after_the_others_have_stopped() -> None:
    done: list[int] = []

    def fail_at_two(item: int) -> None:
        if item == 2:
            raise OSError("item 2")
        done.append(item)

    with pytest.raises(OSError, match="item 2"):
        map_on_threads(fail_at_two, range(20), 2)
    count = len(done)
    assert map_on_threads(lambda item: item, range(3), 2) == [0, 1, 2]
    assert len(done) == count


def test_calls_within_calls_end() -> None:
    def inner(item: int) -> int:
        return sum(map_on_threads(lambda n: n + item, range(4), 4))

    assert map_on_threads(inner, range(8), 4) == [6 + 4 * item for item in range(8)]


def _in_child() -> None:
    assert map_on_threads(lambda item: item, range(4), 2) == [0, 1, 2, 3]


def test_a_forked_child_has_threads_of_its_own() -> None:
    map_on_threads(lambda item: item, range(4), 2)
    child = multiprocessing.get_context("fork").Process(target=_in_child)
    child.start()
    child.join(timeout=300)
    assert child.exitcode == 0
