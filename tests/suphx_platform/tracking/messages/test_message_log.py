from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from suphx_platform.tracking.messages.message_log import Message, MessageLog


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "queue" / "calls.jsonl"


def message(number: int) -> Message:
    return {"do": "tags", "number": number}


def left_in(path: Path) -> list[Message]:
    with closing(MessageLog(path)) as log:
        return log.first(1000)


@pytest.fixture
def log(path: Path) -> Iterator[MessageLog]:
    with closing(MessageLog(path)) as log:
        for number in range(5):
            log.append(message(number))
        yield log


def test_messages_leave_in_the_order_in_which_they_came(log: MessageLog) -> None:
    assert log.first(2) == [message(0), message(1)]
    log.drop(2)
    log.append(message(5))
    assert log.first(100) == [message(number) for number in (2, 3, 4, 5)]
    log.drop(1)
    assert len(log) == 3


def test_another_process_finds_what_was_not_dropped(path: Path) -> None:
    with closing(MessageLog(path)) as log:
        for number in range(5):
            log.append(message(number))
        log.first(3)
        log.drop(3)
    assert left_in(path) == [message(3), message(4)]


def test_the_file_is_empty_when_all_were_dropped(log: MessageLog, path: Path) -> None:
    log.first(100)
    log.drop(5)
    assert path.stat().st_size == 0
    assert (len(log), log.first(100)) == (0, [])
    log.append(message(7))
    assert log.first(100) == [message(7)]


@pytest.mark.parametrize("end", [b'{"do": "ta', b"\xff", b'{"do":"tags","number":9}'])
def test_half_a_line_of_a_killed_process_is_overwritten(end: bytes, path: Path) -> None:
    with closing(MessageLog(path)) as log:
        log.append(message(1))
    with path.open("ab") as file:
        file.write(end)
    with closing(MessageLog(path)) as log:
        assert log.first(10) == [message(1)]
        log.append(message(2))
        assert log.first(10) == [message(1), message(2)]


@pytest.mark.parametrize(
    "line", [b"no json\n", b"[1]\n", b"{}\n", b'{"do":1}\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n"]
)
def test_a_damaged_line_is_a_message_that_nobody_knows(line: bytes, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(line + b'{"do":"tags","number":1}\n')
    damaged, sound = left_in(path)
    assert damaged["do"] == "damaged line"
    assert sound == message(1)


def test_a_mark_behind_the_end_counts_as_none(path: Path) -> None:
    with closing(MessageLog(path)) as log:
        log.append(message(1))
    path.with_name("calls.jsonl.sent").write_bytes(b"%020d" % 10**6)
    assert left_in(path) == [message(1)]


def test_a_mark_behind_the_end_never_counts(path: Path) -> None:
    """A process is killed after it emptied the file and before it set the mark, and the next one before it sends."""
    path.parent.mkdir()
    path.touch()
    path.with_name(f"{path.name}.sent").write_text(f"{40:020d}")
    with closing(MessageLog(path)) as log:
        for number in range(5):
            log.append(message(number))
    assert left_in(path) == [message(number) for number in range(5)]


def test_a_long_message_is_read_whole(path: Path) -> None:
    long = {"do": "tags", "text": "x" * 3_000_000}
    with closing(MessageLog(path)) as log:
        log.append(long)
        log.append(message(1))
        assert log.first(1) == [long]
        log.drop(1)
        assert log.first(1) == [message(1)]


def test_a_log_tells_how_full_it_is_and_takes_more_than_its_bound(path: Path) -> None:
    with closing(MessageLog(path, max_bytes=100)) as log:
        assert log.fill == 0
        log.append(message(1))
        assert log.fill == 0.25
        for number in range(2, 7):
            log.append(message(number))
        assert log.fill == 1.5
        log.first(10)
        log.drop(5)
        assert log.fill == 0.25


@pytest.mark.parametrize("fault", ["short", "full", "replace"])
def test_on_a_full_disk_a_log_is_written_anew_later_and_leaves_nothing(
    fault: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    def fail(*_: object) -> int:
        nonlocal tried
        tried += 1
        if fault == "short":
            return 1
        raise OSError(errno.ENOSPC, "No space left on device")

    with closing(MessageLog(path, max_bytes=1000)) as log:
        for number in range(500):
            log.append(message(number))
        open_before = len([*Path("/proc/self/fd").iterdir()])
        with monkeypatch.context() as full:
            full.setattr(Path if fault == "replace" else os, "replace" if fault == "replace" else "write", fail)
            for number in range(100):
                assert log.first(1) == [message(number)]
                log.drop(1)
        assert 1 <= tried <= 3, "once for each bound that was sent"
        assert len([*Path("/proc/self/fd").iterdir()]) == open_before
        assert not path.with_name("calls.jsonl.new").exists()
        for number in range(100, 499):
            assert log.first(1) == [message(number)]
            log.drop(1)
        assert path.stat().st_size <= 2000, "written anew when the disk has room"
    assert left_in(path) == [message(499)]


def test_two_processes_cannot_have_one_log(log: MessageLog, path: Path) -> None:
    with pytest.raises(BlockingIOError):
        MessageLog(path)
    assert len(log) == 5


def test_the_file_stays_small_also_if_it_is_never_empty(path: Path) -> None:
    with closing(MessageLog(path, max_bytes=1000)) as log:
        log.append(message(0))
        for number in range(1, 500):
            log.append(message(number))
            assert log.first(1) == [message(number - 1)]
            log.drop(1)
            assert path.stat().st_size <= 2000
        with pytest.raises(BlockingIOError):
            MessageLog(path)
    assert left_in(path) == [message(499)]
