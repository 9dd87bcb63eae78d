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

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_away = threading.Event()
        self.is_open = threading.Event()
        self.is_open.set()
        self.refused: set[object] = set()
        """Numbers of messages, and names of metrics."""
        self.away: set[object] = set()
        """Those that are not taken now, while others are."""
        self.taken: list[Message] = []
        self.num_asked = self.num_probes = self.num_calls = 0

    @property
    def heard(self) -> list[object]:
        return [message["number"] for message in self.taken]

    def take(self, messages: Sequence[Message]) -> None:
        self.num_asked += 1
        assert self.is_open.wait(60)
        about = {message["number"] for message in messages}
        about |= {metric[0] for message in messages for metric in message.get("metrics", ())}
        if self.is_away.is_set() or self.away & about:
            raise TrackingError("nobody answers")
        if self.refused & about:
            raise ValueError("no such metric")
        self.num_calls += 1
        self.taken += messages

    def probe(self) -> None:
        self.num_asked += 1
        self.num_probes += 1
        if self.is_away.is_set():
            raise TrackingError("nobody answers")

    def outbox(self, *messages: Message, sends_refused: bool = False) -> Outbox:
        """Return an outbox with these messages."""
        outbox = Outbox(self.folder, send=self.take, probe=self.probe, sends_refused=sends_refused)
        for message in messages:
            outbox.put(message)
        return outbox

    def set_aside(self) -> list[tuple[Message, str]]:
        """Return what a closed outbox has set aside, with MLflow's reasons."""
        if not self.folder.exists():
            return []
        query = "SELECT text, error FROM messages WHERE error IS NOT NULL ORDER BY id"
        with closing(sqlite3.connect(self.folder / "messages.db")) as database:
            return [(json.loads(text), error) for text, error in database.execute(query).fetchall()]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr(outbox_module, "_FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(outbox_module, "_LONGEST_PAUSE_SECONDS", 0.01)
    place = Place(tmp_path / ".mlflow-queue")
    yield place
    place.is_open.set()


def point(number: int, *names: str, key: str = "run") -> Message:
    metrics = [[name, 1.0, 0, number] for name in names or ("loss",)]
    return {"do": "metrics", "key": key, "number": number, "metrics": metrics}


def tag(number: int) -> Message:
    return {"do": "tags", "key": "run", "number": number}


def file(number: object) -> dict[str, Any]:
    return {"do": "artifact", "key": "run", "number": number, "path": f"file {number}"}


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_nobody_waits_for_a_call(place: Place) -> None:
    place.is_open.clear()
    outbox = place.outbox(*map(tag, range(100)))
    assert place.heard == []
    assert outbox.figures()["tracking_waiting"] == 100
    place.is_open.set()
    outbox.flush()
    assert outbox.figures() == {"tracking_waiting": 0, "tracking_outage_seconds": 0}
    assert place.heard == list(range(100))
    outbox.close()


def test_what_is_not_taken_is_sent_later_in_order(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.is_away.set()
    outbox = place.outbox(*map(tag, range(3)))
    wait_until(lambda: place.num_asked > 3)
    assert outbox.figures()["tracking_outage_seconds"] > 0
    with pytest.raises(TrackingError, match="nobody answers"):
        outbox.flush()
    place.is_away.clear()
    outbox.close()
    assert place.heard == [0, 1, 2]
    assert caplog.text.count("nobody answers. The run continues") == 1
    assert "MLflow answers again" in caplog.text


def test_what_is_left_is_sent_by_the_next_process(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.is_away.set()
    place.outbox(*map(tag, range(3))).close()
    assert f"3 messages of this run could not be sent to MLflow and wait in {place.folder}" in caplog.text
    place.is_away.clear()
    outbox = place.outbox(tag(3))
    assert outbox.num_before == 3
    outbox.close()
    assert place.heard == [0, 1, 2, 3]
    assert "sending 3 messages that MLflow has not got from an earlier start" in caplog.text
    assert not place.folder.exists()


def test_metrics_of_one_run_become_one_call(place: Place) -> None:
    place.is_away.set()
    first, second = [point(number) for number in range(9)], [point(number) for number in range(10, 13)]
    outbox = place.outbox(*first, point(9, key="other"), *second, tag(13))
    place.is_away.clear()
    outbox.close()
    assert place.heard == list(range(14))
    assert place.num_calls == 4


def test_what_is_refused_is_set_aside_and_holds_up_nothing(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.refused = {2, 7}
    place.is_open.clear()
    outbox = place.outbox(*map(point, range(9)))
    place.is_open.set()
    outbox.close()
    assert place.heard == [0, 1, 3, 4, 5, 6, 8]
    assert place.set_aside() == [(point(2), "no such metric"), (point(7), "no such metric")]
    assert caplog.text.count("MLflow has refused metrics loss of run: no such metric (it is kept") == 2
    place.outbox().close()
    assert len(place.set_aside()) == 2, "it is kept, also when the run continues and ends"


def test_what_was_refused_is_sent_again_on_request(place: Place) -> None:
    place.refused = {1, 2}
    place.outbox(*(point(number) | {"session": 7} for number in range(4))).close()
    place.refused = {2}
    place.taken.clear()
    assert place.outbox(sends_refused=True).close() == 1
    assert place.taken == [point(1)], "points that MLflow did not take count, whatever it has taken since"
    assert [message["number"] for message, _ in place.set_aside()] == [2]
    place.refused.clear()
    assert place.outbox(sends_refused=True).close() == 0
    assert place.heard == [1, 2]
    assert not place.folder.exists()


def test_a_metric_that_fails_alone_is_set_aside_and_the_others_arrive(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.away = {"bad"}
    points = [point(number, "good", "bad", "fine") for number in range(40)]
    place.outbox(*points, {"do": "end", "key": "run", "number": 40}).close()
    assert place.heard[-1] == 40, "the state at the end arrives"
    taken = [(metric[0], metric[3]) for message in place.taken for metric in message.get("metrics", ())]
    assert sorted(taken) == sorted((name, number) for number in range(40) for name in ("good", "fine"))
    assert [message["metrics"] for message, _ in place.set_aside()] == [[["bad", 1.0, 0, each]] for each in range(40)]
    assert "MLflow has refused metrics bad of run: nobody answers (it is kept" in caplog.text
    assert place.outbox().num_before == 0


def test_a_file_that_cannot_be_sent_holds_up_no_metric_and_no_other_file(place: Place) -> None:
    place.away = {"bad"}
    outbox = place.outbox(point(0), file("bad"), file(2), point(12), file(3), point(13))
    wait_until(lambda: len(place.heard) == 5)
    assert place.heard == [0, 2, 12, 3, 13]
    with pytest.raises(TrackingError, match="nobody answers"):
        outbox.flush()
    outbox.put(point(14))
    assert outbox.close() == 1
    place.away.clear()
    place.outbox().close()
    assert place.heard[5:] == [14, "bad"]


def test_a_file_that_was_skipped_is_tried_again_while_metrics_come(place: Place) -> None:
    place.away = {"bad"}
    outbox = place.outbox(file("bad"))
    wait_until(lambda: place.num_probes > 2)
    place.away.clear()
    for number in range(10_000):
        outbox.put(point(number))
        if "bad" in place.heard:
            break
        time.sleep(0.001)
    assert "bad" in place.heard
    outbox.close()


def test_a_file_is_sent_after_the_messages_before_it(place: Place) -> None:
    place.away = {0}
    outbox = place.outbox(tag(0), file(1))
    wait_until(lambda: place.num_asked > 3)
    assert place.heard == []
    place.away.clear()
    outbox.close()
    assert place.heard == [0, 1]


def test_a_place_that_takes_nothing_has_refused_nothing(place: Place) -> None:
    place.is_away.set()
    outbox = place.outbox(tag(0), point(1, "good", "fine"), point(2, "good", "fine"))
    wait_until(lambda: place.num_asked > 20)
    outbox.close()
    assert not place.set_aside()
    place.is_away.clear()
    place.outbox().close()
    assert place.heard == [0, 1, 2]


def test_a_place_that_goes_just_after_the_last_try_has_refused_nothing(place: Place) -> None:
    probe = place.probe

    def probe_until_it_goes() -> None:
        probe()
        if place.num_probes == outbox_module._MAX_TRIES:
            place.away.clear()
            place.is_away.set()

    place.probe = probe_until_it_goes  # type: ignore[method-assign]
    place.away = {0}
    outbox = place.outbox(point(0, "loss", "speed"))
    wait_until(lambda: place.num_asked > 20)
    place.is_away.clear()
    outbox.close()
    assert (place.heard, place.set_aside()) == ([0], [])


def test_a_message_that_is_no_json_holds_up_nothing(place: Place) -> None:
    place.is_away.set()
    place.outbox(*map(tag, range(3))).close(0.1)
    with closing(sqlite3.connect(place.folder / "messages.db")) as database, database:
        database.execute("UPDATE messages SET text = 'torn' WHERE id = 2")
    place.is_away.clear()
    assert place.outbox().close() == 1
    assert place.heard == [0, 2]


def test_a_damaged_queue_is_named(place: Place) -> None:
    place.folder.mkdir()
    (place.folder / "messages.db").write_bytes(b"no database" * 1000)
    with pytest.raises(OSError, match=r"messages\.db cannot be used .*; if the file is damaged, remove it"):
        place.outbox()


def test_two_processes_do_not_send_for_one_run(place: Place) -> None:
    outbox = place.outbox()
    with pytest.raises(OSError, match="another process sends what"):
        place.outbox()
    outbox.close()


def test_a_full_disk_is_an_error_and_loses_nothing_that_was_written(place: Place) -> None:
    place.is_away.set()
    outbox = place.outbox(tag(0))
    with files_limited_to(100), pytest.raises(OSError, match=r"cannot write messages for MLflow \(.*free space in"):
        outbox.put(tag(1))
    outbox.put(tag(2))
    place.is_away.clear()
    outbox.close()
    assert place.heard == [0, 2]


def test_a_disk_that_is_full_after_the_sending_is_waited_for_and_nothing_is_sent_twice(place: Place) -> None:
    place.is_open.clear()
    outbox = place.outbox(tag(1))
    wait_until(lambda: place.num_asked == 1)
    with files_limited_to(100):
        place.is_open.set()
        with pytest.raises(TrackingError, match=r"cannot remove sent messages .* free space in"):
            outbox.flush()
        assert outbox.figures()["tracking_outage_seconds"] > 0
    outbox.put(tag(2))
    outbox.flush()
    assert outbox.figures() == {"tracking_waiting": 0.0, "tracking_outage_seconds": 0.0}
    assert outbox.close() == 0
    assert place.heard == [1, 2]


def test_a_disk_that_stays_full_after_the_sending_leaves_the_message_to_the_next_start(place: Place) -> None:
    place.is_open.clear()
    outbox = place.outbox(tag(1))
    wait_until(lambda: place.num_asked == 1)
    with files_limited_to(100):
        place.is_open.set()
        assert outbox.close() == 1
    place.outbox(tag(2)).close()
    assert place.heard == [1, 1, 2]
