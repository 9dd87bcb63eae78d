from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from suphx_pipelines.json_file import write_json
from suphx_pipelines.report import Results, read_results, render

MACHINE = {"commit": "abc123", "python": "3.11.7"}


def net_metrics(head: str) -> dict[str, Any]:
    size = 34 if head == "discard" else 2
    history = [
        {
            "step": step,
            "seconds": step / 30,
            "train_loss": 2.2 * math.exp(-step / 400) + 0.9,
            "validation_loss": 2.1 * math.exp(-step / 420) + 1.0,
            "validation_accuracy": 0.62 - 0.4 * math.exp(-step / 300),
        }
        for step in range(0, 2001, 100)
    ]
    history.append({"step": 2050, "train_loss": 0.9})
    fit: dict[str, Any] = {
        "temperature": 1.2345,
        "loss": 0.98,
        "ece": 0.0123,
        "calibration": [[0.55, 0.5432, 77]],
    }
    if size == 2:
        shares = {"yes": 0.31, "yes_probable": 0.2211, "yes_matched": 0.309, "accuracy_matched": 0.84}
        fit |= {"yes_threshold": 0.412, **shares}
    return {
        "head": head,
        "num_weights": 123_456,
        "calibrated": fit,
        "history": history,
        "test": {
            "samples": 5000,
            "loss": 1.01,
            "accuracy": 0.6123,
            "balanced_accuracy": 0.58,
            "recall_yes": None if head == "discard" else 0.41,
            "calibration": [[0.05 + 0.1 * n, 0.03 + 0.1 * n, 40 * n] for n in range(10)],
            "ece": 0.021,
            "confusion": [
                [30 if row == column else (row * column) % 4 for column in range(size)] for row in range(size)
            ],
        },
    }


def player(name: str) -> dict[str, Any]:
    rates = {"win_rate": 0.2101, "deal_in_rate": 0.12, "riichi_rate": 0.18, "call_rate": 0.33}
    means = {"average_win": 6100.5, "average_deal_in": 5200.0, "average_placement": 2.31}
    rank = {"stable_rank": 4.2, "stable_rank_interval": [3.1, 5.3]}
    return {"name": name, "hanchans": 400, "placements": [120, 110, 100, 70], **rates, **means, **rank}


MATCH: dict[str, Any] = {
    "candidate": "net",
    "baseline": "ukeire",
    "seed": 5,
    "hanchans": 400,
    "players": [player("net"), player("<script>alert(1)</script>")],
    "paired_difference": {"average_placement": -0.19, "interval": [-0.31, -0.07]},
    "sample_game": {"title": "One hanchan", "lines": ["East 1, 0 honba", "  seat 0: 123m <406p> 77z", "  ron 3,900"]},
}

RECORDS: dict[str, Any] = {
    "source": "given",
    "games": 1200,
    "kyoku": 12_700,
    "decisions": 900_000,
    "quarantined": 1,
    "quarantine": [{"file": "a&b.mjlog", "position": "kyoku 3", "reason": "the tile is not in the hand"}],
    "samples": {"discard": {"train": 600_000, "validation": 10_000, "test": 5000}},
}

CURVE = {
    "discard": [{"games": 100, "accuracy": 0.5512}, {"games": 930, "accuracy": 0.6123}],
    "kong": [{"games": 100, "accuracy": None}, {"games": 930, "accuracy": 0.9}],
}

ABLATION = {
    "discard": {
        "samples": 12_000,
        "games": 25,
        "encoders": [
            {"encoder": "suphx", "planes": 838, "rows": 5120, "accuracies": [0.61, 0.62], "difference": 0,
             "interval": [0, 0]},
            {"encoder": "mini", "planes": 288, "rows": 5120, "accuracies": [0.59, 0.603], "difference": -0.0185,
             "interval": [-0.022, -0.015]},
        ],
    }
}  # fmt: skip


SELF_PLAY: dict[str, Any] = {
    **{"heads": ["discard"], "updates": 40, "version": 20, "hanchans": 512, "decisions": 345_678, "seconds": 61.0},
    "history": [
        {"updates": 10 * n, "seconds": n, "staleness": 1.5, "discard_entropy": 2.0 - n / 10, "discard_alpha": 0.01 * n}
        for n in range(1, 5)
    ],
    "matches": [
        {"updates": 20, "baseline": "start", "hanchans": 200, "difference": -0.1, "interval": [-0.25, 0.05]},
        {"updates": 40, "baseline": "start", "hanchans": 200, "difference": -0.314, "interval": [-0.45, -0.17]},
    ],
    "decisions_of_buffer": {"added": 90_123, "learned": 81_920, "stale": 77, "refused": 0, "lost": 0},
    "faults": {},
}


def fixed_alpha(entropy: float) -> dict[str, Any]:
    return SELF_PLAY | {
        "history": [{"updates": 10 * n, "seconds": n, "discard_entropy": entropy} for n in range(1, 5)],
        "matches": [SELF_PLAY["matches"][1] | {"difference": -0.071, "interval": [-0.2, 0.06]}],
    }


STUDY: dict[str, Any] = {"0": fixed_alpha(0.07), "1.5": fixed_alpha(2.41)}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    folders = {"records": tmp_path / "records", "evaluation": tmp_path / "evaluation"}
    folders |= {f"supervised/{head}": tmp_path / "supervised" / head for head in ("discard", "kong")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    write_json(folders["records"] / "summary.json", RECORDS)
    write_json(folders["evaluation"] / "match.json", MATCH)
    folders["learning_curve/summary"] = tmp_path / "learning_curve"
    folders["learning_curve/summary"].mkdir()
    write_json(folders["learning_curve/summary"] / "curve.json", CURVE)
    folders["ablation/summary"] = tmp_path / "ablation"
    folders["ablation/summary"].mkdir()
    write_json(folders["ablation/summary"] / "ablation.json", ABLATION)
    folders["reinforcement"] = tmp_path / "reinforcement"
    folders["reinforcement"].mkdir()
    write_json(folders["reinforcement"] / "metrics.json", SELF_PLAY)
    for alpha, metrics in STUDY.items():
        folders[f"entropy_study/{alpha}"] = tmp_path / "entropy_study" / alpha
        folders[f"entropy_study/{alpha}"].mkdir(parents=True)
        write_json(folders[f"entropy_study/{alpha}"] / "metrics.json", metrics)
    for head in ("discard", "kong"):
        write_json(folders[f"supervised/{head}"] / "metrics.json", net_metrics(head))
    return replace(read_results(folders), entropy_targets={"discard": 1.75})


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects text and addresses."""

    VOID = frozenset({"meta", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_the_report_is_one_well_formed_file_without_links_to_elsewhere(results: Results) -> None:
    reader = read(render("Suphx: laptop", results, 'name = "laptop"\n', MACHINE))
    assert all(address.startswith(("data:image/svg+xml;base64,", "#")) for address in reader.addresses)
    assert sum(address.startswith("data:") for address in reader.addresses) == 10
    # Two nets of two, curve, confusion, two of self-play, two of fixed alphas.


def test_the_report_says_what_was_measured_beside_the_paper(results: Results) -> None:
    text = " ".join(read(render("Suphx: laptop", results, 'name = "laptop"\n', MACHINE)).words)
    for part in ("76.70 % (15M)", "68.80 %", "61.23 %", "94.00 % (4M)", "600,000", "12,700", "30.00 %", "6,100"):
        assert part in text
    assert "net is better" in text
    assert "-0.310 … -0.070" in text
    assert 'name = "laptop"' in text
    assert "abc123" in text
    assert "ron 3,900" in text


def test_the_report_shows_what_calibration_and_the_threshold_change(results: Results) -> None:
    text = " ".join(read(render("Suphx: laptop", results, "", MACHINE)).words)
    for part in ("2.10 %", "1.234", "1.23 %", "31.00 %", "22.11 %", "0.412", "30.90 %", "84.00 %", "54.32 %"):
        assert part in text


def test_the_report_shows_accuracy_by_the_number_of_games(results: Results) -> None:
    words = read(render("Suphx: laptop", results, "", MACHINE)).words
    assert [word for word in words if word.endswith(" games")] == ["100 games", "930 games"]
    assert "55.12 %" in words


def test_the_report_shows_what_other_planes_change(results: Results) -> None:
    words = read(render("Suphx: laptop", results, "", MACHINE)).words
    start = words.index("mini")
    assert words[start : start + 6] == ["mini", "288", "5,120", "59.00 %, 60.30 %", "-1.85 %", "-2.20 % … -1.50 %"]


def test_the_report_shows_how_self_play_went(results: Results) -> None:
    text = " ".join(read(render("Suphx: laptop", results, "", MACHINE)).words)
    for part in ("345,678", "-0.314", "-0.450 … -0.170", "90,123 added, 81,920 learned, 77 stale, 0 refused"):
        assert part in text
    assert "Private memory" not in text  # all was in one process
    assert "Target entropy 1.75 (dotted); at most 8.57 % from it over the last half." in text  # 1.6 of 1.8, 1.7, 1.6


def test_the_report_shows_the_memory_of_processes_and_their_faults(results: Results) -> None:
    history = [point | {"simulator_memory_bytes": 300 * 2**20, "engine_memory_bytes": 2**29}
               for point in SELF_PLAY["history"]]  # fmt: skip
    over_ray = replace(results, self_play=SELF_PLAY | {"history": history, "faults": {"engine_died": 2}})
    text = " ".join(read(render("Suphx: laptop", over_ray, "", MACHINE)).words)
    assert "Private memory of the processes over the run. Faults: engine died 2 times." in text


def test_the_report_shows_what_a_fixed_alpha_does(results: Results) -> None:
    words = read(render("Suphx: laptop", results, "", MACHINE)).words
    for alpha, entropy in (("alpha 0", "0.07"), ("alpha 1.5", "2.41")):
        start = words.index(alpha)
        assert words[start : start + 4] == [alpha, entropy, "-0.071", "-0.200 … 0.060"]


def test_text_of_strangers_is_escaped(results: Results) -> None:
    page = render("Suphx: laptop", results, "", MACHINE)
    assert "<script" not in page
    assert "a&amp;b.mjlog" in page
    assert "&lt;406p&gt;" in page


@pytest.mark.parametrize(
    ("bounds", "said"),
    [([-0.2, 0.1], "no difference"), ([0.1, 0.2], "ukeire is better"), ([None, None], "no difference")],
)
def test_better_is_claimed_only_when_the_interval_excludes_zero(bounds: list[float | None], said: str) -> None:
    match = MATCH | {"paired_difference": {"average_placement": 0.0, "interval": bounds}}
    assert said in render("t", Results({}, {}, {}, {}, match, {}), "", MACHINE)
    few = render("t", Results({}, {}, {}, {}, match | {"hanchans": 8}, {}), "", MACHINE)
    assert "too few games to say who is stronger" in few


def test_a_run_without_results_still_has_a_report() -> None:
    page = render("Suphx: empty", read_results({}), "", MACHINE)
    assert re.findall(r"<h2>(.*?)</h2>", page) == ["Summary", "Recipe", "Environment"]
    read(page)


def test_the_same_results_give_the_same_bytes(results: Results) -> None:
    assert render("t", results, "", MACHINE) == render("t", results, "", MACHINE)
