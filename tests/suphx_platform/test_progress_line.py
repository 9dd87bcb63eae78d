from __future__ import annotations

import pytest

from suphx_platform.progress_line import ProgressState, bar_line, duration_text, plain_line

NOTE = "32 hanchans ended, 60 updates, staleness 1.8, entropy 2.45, alpha 0.0123"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (70, "1 min 10 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (90_000, "1 d 1 h"),
        (-3, "0 s"),
    ],
)
def test_a_duration_is_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_percent_progress_shows_the_share_and_the_time_left() -> None:
    state = ProgressState(unit="%", total=100, done=42, note="step 1,200, loss 0.713")
    assert plain_line(state, elapsed=51) == "42 %, 1 min 10 s left, step 1,200, loss 0.713"


def test_counted_progress_shows_the_count_and_the_time_left() -> None:
    state = ProgressState(unit="hanchans", total=1000, done=250, name="match")
    assert plain_line(state, elapsed=10) == "match: 250 of 1,000 hanchans, 30 s left"
    assert plain_line(state, elapsed=10, is_finished=True) == "match: 250 of 1,000 hanchans in 10 s"


def test_before_the_first_unit_and_without_a_total_the_elapsed_time_is_shown() -> None:
    assert plain_line(ProgressState(unit="games", total=10), elapsed=5) == "0 of 10 games, 5 s"
    assert plain_line(ProgressState(unit="games", done=7), elapsed=5) == "7 games, 5 s"
    assert plain_line(ProgressState(unit="", name="importing"), elapsed=5) == "importing: 5 s"


def test_units_of_an_earlier_sitting_do_not_count_for_the_speed() -> None:
    state = ProgressState(unit="%", total=100, done=60, done_before=50)
    assert state.seconds_left(elapsed=10) == 40


@pytest.mark.parametrize("columns", [40, 60, 79, 119, 200])
def test_a_bar_fits_and_drops_whole_items_of_its_note(columns: int) -> None:
    state = ProgressState(unit="%", total=100, done=25, name="self-play", note=NOTE)
    line = bar_line(state, elapsed=10, columns=columns)
    assert len(line) <= columns
    items = line[line.index("25 %") :].split(", ")
    assert items == ["25 %", "30 s left", *NOTE.split(", ")][: len(items)]
    assert ("alpha 0.0123" in line) == (columns >= 119)


def test_the_bar_grows_with_the_share() -> None:
    lines = [bar_line(ProgressState(unit="%", total=100, done=done), 1, 60) for done in (0, 50, 100)]
    assert [line.count("█") for line in lines] == [0, 10, 20]
    assert bar_line(ProgressState(unit="%", total=100, done=50), 1, 60, is_unicode=False).startswith("[#########....")


def test_a_name_that_is_longer_than_the_terminal_is_cut() -> None:
    assert len(bar_line(ProgressState(unit="games", total=3, name="x" * 50), 1, 30)) == 30
