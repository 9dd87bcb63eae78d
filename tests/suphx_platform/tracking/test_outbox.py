from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.tracking import outbox as outbox_module
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.outbox import Message, Outbox
from tests.disk_faults import files_limited_to


class Place:
    """Where messages go; away as long as it is told to be, and it refuses what is on its list."""

    def __init__(self) -> None:
        self.is_away = threading.Event()
        self.is_open = threading.Event()
        self.is_open.set()
        self.refused: set[object] = set()
        self.away: set[object] = set()
        """Messages that are not taken now, while others are."""
        self.heard: list[object] = []
        self.num_asked = self.num_calls = 0

    def take(self, messages: Sequence[Message]) -> None:
        self.num_asked += 1
        assert self.is_open.wait(60)
        numbers = [message["number"] for message in messages]
        if self.is_away.is_set() or self.away.intersection(numbers):
            raise TrackingError("nobody answers")
        if self.refused.intersection(numbers):
            raise ValueError("no such metric")
        self.num_calls += 1
        self.heard += numbers

    def probe(self) -> None:
        self.num_asked += 1
        if self.is_away.is_set():
            raise TrackingError("nobody answers")

    def outbox(self, folder: Path, sends_refused: bool = False) -> Outbox:
        return Outbox(folder, send=self.take, probe=self.probe, sends_refused=sends_refused)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr(outbox_module, "_FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(outbox_module, "_LONGEST_PAUSE_SECONDS", 0.01)
    place = Place()
    yield place
    place.is_open.set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".mlflow-queue"


def point(number: int, key: str = "run", size: int = 1) -> dict[str, Any]:
    return {"do": "metrics", "key": key, "number": number, "metrics": [["loss", 1.0, 0, number]] * size}


def tag(number: int) -> dict[str, Any]:
    return {"do": "tags", "key": "run", "number": number}


def file(number: int) -> dict[str, Any]:
    return {"do": "artifact", "key": "run", "number": number, "path": f"file {number}"}


def refused(folder: Path) -> list[tuple[dict[str, Any], str]]:
    """Return what a closed outbox has set aside, with MLflow's reasons."""
    if not folder.exists():
        return []
    with closing(sqlite3.connect(folder / "messages.db")) as database:
        rows = database.execute("SELECT text, error FROM messages WHERE error IS NOT NULL ORDER BY id").fetchall()
    return [(json.loads(text), error) for text, error in rows]


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_nobody_waits_for_a_call(place: Place, folder: Path) -> None:
    place.is_open.clear()
    outbox = place.outbox(folder)
    for number in range(100):
        outbox.put(tag(number))
    assert place.heard == []
    assert outbox.figures()["tracking_waiting"] == 100
    place.is_open.set()
    outbox.flush()
    assert outbox.figures() == {"tracking_waiting": 0, "tracking_outage_seconds": 0}
    assert place.heard == list(range(100))
    outbox.close()


def test_what_is_not_taken_is_sent_later_in_order(place: Place, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    place.is_away.set()
    outbox = place.outbox(folder)
    for number in (1, 2, 3):
        outbox.put(tag(number))
    wait_until(lambda: place.num_asked > 3)
    assert outbox.figures()["tracking_outage_seconds"] > 0
    with pytest.raises(TrackingError, match="nobody answers"):
        outbox.flush()
    place.is_away.clear()
    outbox.close()
    assert place.heard == [1, 2, 3]
    assert caplog.text.count("nobody answers. The run continues") == 1, "it is told once"
    assert "MLflow answers again" in caplog.text


def test_what_is_left_is_said_at_the_end_and_sent_by_the_next_process(
    place: Place, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.is_away.set()
    outbox = place.outbox(folder)
    for number in range(3):
        outbox.put(tag(number))
    outbox.close()
    assert f"3 messages of this run could not be sent to MLflow and wait in {folder}" in caplog.text
    place.is_away.clear()
    outbox = place.outbox(folder)
    assert outbox.num_before == 3
    outbox.put(tag(3))
    outbox.close()
    assert place.heard == [0, 1, 2, 3]
    assert "sending 3 messages that MLflow has not got from an earlier start" in caplog.text
    assert not folder.exists()


def test_metrics_of_one_run_become_one_call(place: Place, folder: Path) -> None:
    place.is_away.set()
    outbox = place.outbox(folder)
    messages = [*(point(n) for n in range(9)), point(9, "other"), *(point(n) for n in range(10, 13)), tag(13)]
    for message in messages:
        outbox.put(message)
    place.is_away.clear()
    outbox.close()
    assert place.heard == list(range(14))
    assert place.num_calls == 4


def test_what_is_refused_is_set_aside_and_holds_up_nothing(
    place: Place, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.refused = {2, 7}
    place.is_open.clear()
    outbox = place.outbox(folder)
    for number in range(9):
        outbox.put(point(number))
    place.is_open.set()
    outbox.close()
    assert place.heard == [0, 1, 3, 4, 5, 6, 8]
    assert refused(folder) == [(point(2), "no such metric"), (point(7), "no such metric")]
    assert caplog.text.count("MLflow has refused metrics loss of run: no such metric (it is kept") == 2
    place.outbox(folder).close()
    assert len(refused(folder)) == 2, "it is kept, also when the run goes on and ends"


def test_a_file_that_cannot_be_sent_holds_up_no_metric_and_no_other_file(place: Place, folder: Path) -> None:
    place.away = {"bad"}
    outbox = place.outbox(folder)
    outbox.put(point(0))
    outbox.put({**file(1), "number": "bad"})
    for number in (2, 3):
        outbox.put(file(number))
        outbox.put(point(number + 10))
    wait_until(lambda: len(place.heard) == 5)
    assert place.heard == [0, 2, 12, 3, 13]
    with pytest.raises(TrackingError, match="nobody answers"):
        outbox.flush()
    outbox.put(point(14))
    assert outbox.close() == 1
    place.away.clear()
    place.outbox(folder).close()
    assert place.heard[5:] == [14, "bad"]


def test_a_metric_that_fails_alone_is_set_aside_with_its_name_and_the_others_arrive(
    place: Place, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taken: list[tuple[str, int]] = []

    def send(messages: Sequence[Message]) -> None:
        entries = [entry for message in messages for entry in message.get("metrics", ())]
        if any(entry[0] == "bad" for entry in entries):
            raise TrackingError("status 500")
        place.take(messages)
        taken.extend((entry[0], entry[3]) for entry in entries)

    outbox = Outbox(folder, send=send, probe=place.probe)
    for number in range(40):
        outbox.put({**point(number), "metrics": [[name, 1.0, 0, number] for name in ("good", "bad", "fine")]})
    outbox.put({"do": "end", "key": "run", "number": 40})
    outbox.close()
    assert place.heard[-1] == 40, "the state at the end arrives"
    assert taken.count(("good", 39)) == taken.count(("fine", 0)) == 1
    assert [message["metrics"] for message, _ in refused(folder)] == [[["bad", 1.0, 0, each]] for each in range(40)]
    assert "MLflow has refused metrics bad of run: status 500 (it is kept" in caplog.text
    assert Outbox(folder, send=send, probe=place.probe).num_before == 0


def test_a_place_that_takes_nothing_has_refused_nothing(place: Place, folder: Path) -> None:
    place.is_away.set()
    outbox = place.outbox(folder)
    outbox.put(tag(0))
    for number in (1, 2):
        outbox.put({**point(number), "metrics": [[name, 1.0, 0, number] for name in ("good", "fine")]})
    wait_until(lambda: place.num_asked > 20)
    outbox.close()
    assert not refused(folder)
    place.is_away.clear()
    place.outbox(folder).close()
    assert place.heard == [0, 1, 2]


def test_a_place_that_goes_just_after_the_last_try_has_refused_nothing(place: Place, folder: Path) -> None:
    probes = 0

    def probe() -> None:
        nonlocal probes
        place.probe()
        probes += 1
        if probes == outbox_module._MAX_TRIES:
            place.away.clear()
            place.is_away.set()

    place.away = {0}
    outbox = Outbox(folder, send=place.take, probe=probe)
    outbox.put({**point(0), "metrics": [["loss", 1.0, 0, 0], ["speed", 1.0, 0, 0]]})
    wait_until(lambda: probes == outbox_module._MAX_TRIES and place.num_asked > 20)
    place.is_away.clear()
    outbox.close()
    assert (place.heard, refused(folder)) == ([0], [])


def test_a_message_that_is_no_json_holds_up_nothing(place: Place, folder: Path) -> None:
    place.is_away.set()
    outbox = place.outbox(folder)
    for number in range(3):
        outbox.put(tag(number))
    outbox.close(0.1)
    with closing(sqlite3.connect(folder / "messages.db")) as database, database:
        database.execute("UPDATE messages SET text = 'torn' WHERE id = 2")
    place.is_away.clear()
    assert place.outbox(folder).close() == 1
    assert place.heard == [0, 2]


def test_a_damaged_queue_is_named(folder: Path, place: Place) -> None:
    folder.mkdir()
    (folder / "messages.db").write_bytes(b"no database" * 1000)
    with pytest.raises(OSError, match=r"messages\.db cannot be used .*; if the file is damaged, remove it"):
        place.outbox(folder)


def test_what_was_refused_is_sent_again(place: Place, folder: Path) -> None:
    place.refused = {1, 2}
    outbox = place.outbox(folder)
    for number in range(4):
        outbox.put({**point(number), "sitting": 7})
    outbox.close()
    place.refused = {2}
    sent: list[Message] = []

    def send(messages: Sequence[Message]) -> None:
        place.take(messages)
        sent.extend(messages)

    assert Outbox(folder, send=send, probe=place.probe, sends_refused=True).close() == 1
    assert sent == [point(1)], "points that MLflow did not take count, whatever it has taken since"
    assert [message["number"] for message, _ in refused(folder)] == [2]
    place.refused.clear()
    assert place.outbox(folder, sends_refused=True).close() == 0
    assert place.heard == [0, 3, 1, 2]
    assert not folder.exists()


def test_what_is_refused_while_the_disk_is_full_is_kept(place: Place, folder: Path) -> None:
    place.refused = {1}
    place.is_open.clear()
    outbox = place.outbox(folder)
    outbox.put(tag(1))
    wait_until(lambda: place.num_asked == 1)
    with files_limited_to(100):
        place.is_open.set()
        time.sleep(0.05)
        assert outbox.num_waiting == 1
    outbox.put(tag(2))
    outbox.close()
    assert place.heard == [2]
    assert [message["number"] for message, _ in refused(folder)] == [1]


def test_a_file_is_sent_after_the_messages_before_it(place: Place, folder: Path) -> None:
    place.away = {0}
    outbox = place.outbox(folder)
    outbox.put(tag(0))
    outbox.put(file(1))
    wait_until(lambda: place.num_asked > 3)
    assert place.heard == []
    place.away.clear()
    outbox.close()
    assert place.heard == [0, 1]


def test_two_processes_do_not_send_for_one_run(place: Place, folder: Path) -> None:
    outbox = place.outbox(folder)
    with pytest.raises(OSError, match="another process sends what"):
        place.outbox(folder)
    outbox.close()


def test_a_full_disk_loses_nothing(place: Place, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    place.is_away.set()
    outbox = place.outbox(folder)
    outbox.put(tag(1))
    with files_limited_to(100):
        for number in range(2, 20):
            outbox.put(tag(number))
    outbox.put(tag(20))
    assert outbox.figures()["tracking_waiting"] == 20
    place.is_away.clear()
    outbox.close()
    assert place.heard == list(range(1, 21))
    assert caplog.text.count("takes no messages for MLflow (") == 1
