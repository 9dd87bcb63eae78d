from __future__ import annotations

from collections.abc import Callable

import pytest

from suphx_platform.console.table_text import (
    bytes_text,
    duration_text,
    mapping_table,
    number_text,
    result_lines,
    value_text,
    wrapped_table,
)


def test_a_result_becomes_aligned_lines_and_tables() -> None:
    result = {
        "hanchans_per_second": 2158.123456789,
        "cold_start_seconds": 6.23456789,
        "seed": 20_261_122,
        "peer": None,
        "batches": [],
        "rates": [
            {"batch": 256, "observations_per_second": 15_234.5678},
            {"batch": 1024, "observations_per_second": 9.87654321},
        ],
        "case": {"size": "tiny", "on_ray": False},
        "peers": {"mahjong": {"hands": 512.345, "version": "2.1"}, "riichienv": {"hands": 99_999.0}},
    }
    assert result_lines(result) == [
        "hanchans per second: 2,158",
        "cold start:          6.23 s",
        "seed:                20261122",
        "",
        "rates:",
        "  batch  observations per second",
        "    256                   15,235",
        "  1,024                    9.877",
        "",
        "case:",
        "  size:   tiny",
        "  on ray: no",
        "",
        "peers:",
        "              hands  version",
        "  mahjong     512.3      2.1",
        "  riichienv  99,999",
    ]


def test_a_table_that_is_too_wide_is_turned() -> None:
    lines = mapping_table([{f"a_rather_long_column_{number}": number for number in range(6)}])
    assert lines[0] == "a rather long column 0  0"
    assert len(lines) == 6


def test_the_last_column_is_wrapped_under_itself() -> None:
    text = "one two three four five six seven eight"
    assert wrapped_table(("name", "about"), [["a", text], ["bcd", "short"]], width=30) == [
        "name  about",
        "a     one two three four five",
        "      six seven eight",
        "bcd   short",
    ]


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("win_rate", 0.21961, "22.0 %"),
        ("learning_rate", 0.0003, "0.0003"),
        ("waiting_share", 0.5, "50.0 %"),
        ("interval", [-0.37049999, -0.21], "-0.3705 to -0.21"),
        ("placements", [256, 244, 1000, 250], "256, 244, 1,000, 250"),
        ("lookahead_microseconds", 3.14159, "3.142 µs"),
        ("memory_peak_bytes", 3_565_158, "3.4 MiB"),
        ("promoted", True, "yes"),
        ("ratio", 80.3456, "80.35"),
        ("ratio", float("inf"), "inf"),
        ("mean", 0.0, "0"),
        ("name", "ⓝSuphx", "ⓝSuphx"),
        ("nothing", None, ""),
    ],
)
def test_digits_and_units_follow_the_key(key: str, value: object, text: str) -> None:
    assert value_text(key, value) == text


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (duration_text, 0.8412, "0.841 s"),
        (duration_text, 75.4, "75 s"),
        (duration_text, 250.2, "4 min 10 s"),
        (duration_text, 12_000, "3 h 20 min"),
        (duration_text, 90_000, "1 d 1 h"),
        (number_text, 0.0123456, "0.01235"),
        (number_text, 1_000_000, "1,000,000"),
        (bytes_text, 512, "512 bytes"),
        (bytes_text, 2048, "2.0 KiB"),
        (bytes_text, 10 * 1024**5, "10240.0 TiB"),
    ],
)
def test_amounts_have_few_digits_and_their_unit(write: Callable[[float], str], value: float, text: str) -> None:
    assert write(value) == text
