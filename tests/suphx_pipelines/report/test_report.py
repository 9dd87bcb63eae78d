from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from suphx.games.registry import load_game
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.json_file import write_json
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report import Results, pictures, read_results, render
from suphx_pipelines.report.report_page import Run
from suphx_pipelines.runs.run_summary import RunSummary, StageSummary
from suphx_pipelines.runs.verdict import Verdict
from tests.browser import needs_chromium
from tests.page_checks import check_layout

SUMMARY = RunSummary(
    run_id="laptop-0123456789",
    recipe="laptop",
    command=["suphx", "run", "laptop", "--set", "net.size=tiny"],
    state="running",
    started="2026-11-22T03:49:00+00:00",
    seconds=605.0,
    machine="2 cores, 23 GiB",
    version="0.1.0",
    commit="abc1234567890def",
    stages={"supervised/kong": StageSummary(warnings=["The kong net has not begun to learn."])},
)
VERDICT = Verdict(
    outcome="better",
    sentence="The nets play better <than> ukeire.",
    difference=-0.19,
    low=-0.31,
    high=-0.07,
    hanchans=400,
)
MACHINE = {"commit": "abc123", "python": "3.11.7"}
RUN = Run(title="Suphx: laptop", verdict=VERDICT, recipe='name = "laptop"\n', machine=MACHINE, summary=SUMMARY)


def net_metrics(head: str) -> dict[str, Any]:
    size, fall = 34 if head == "discard" else 2, [math.exp(-step / 5) for step in range(21)]
    history: list[dict[str, Any]] = [
        {
            "step": 100 * n,
            "seconds": n,
            "train_loss": 0.9 + x,
            "validation_loss": 1 + x,
            "validation_accuracy": 0.6 - x / 2,
        }
        for n, x in enumerate(fall)
    ]
    fit: dict[str, Any] = {"temperature": 1.2345, "loss": 0.98, "ece": 0.0123, "calibration": [[0.55, 0.5432, 77]]}
    if size == 2:
        fit |= {"yes": 0.31, "yes_probable": 0.2, "yes_matched": 0.3, "accuracy_matched": 0.84, "yes_threshold": 0.4}
    test: dict[str, Any] = {
        "samples": 5000,
        "loss": 1.01,
        "accuracy": 0.6123,
        "majority_accuracy": 0.5432,
        "balanced_accuracy": 0.58,
    }
    test |= {"recall_yes": None if head == "discard" else 0.41, "ece": 0.021}
    calibration = [[0.05 + 0.1 * n, 0.03 + 0.1 * n, 40 * n] for n in range(10)]
    confusion = [[30 if row == column else row * column % 4 for column in range(size)] for row in range(size)]
    return {
        "head": head,
        "num_weights": 123_456,
        "calibrated": fit,
        "history": [*history, {"step": 2050, "train_loss": 0.9}],
        "test": test | {"calibration": calibration, "confusion": confusion},
    }


def player(name: str) -> dict[str, Any]:
    rates = {"win_rate": 0.2101, "deal_in_rate": 0.12, "riichi_rate": 0.18, "call_rate": 0.33}
    means = {"average_win": 6100.5, "average_deal_in": 5200.0, "average_placement": 2.31}
    return {"name": name, "hanchans": 400, "placements": [120, 110, 100, 70], **rates, **means}


MATCH: dict[str, Any] = {
    "candidate": "net",
    "opponent": "ukeire",
    "seed": 5,
    "games": 400,
    "players": [player("net"), player("<script>alert(1)</script>")],
    "paired_difference": {"average_placement": -0.19, "interval": [-0.31, -0.07]},
}

MATCH_GAMES: dict[str, Any] = {
    "opponent": "<b>ukeire</b>",
    "hanchans": 2000,
    "games": [
        {"page": "game_best_1.html", "kind": "best", "places": [1], "points": [63_300]},
        {"page": "game_worst_1.html", "kind": "worst", "places": [3, 4], "points": [9_000, -1_200]},
    ],
}

RECORDS: dict[str, Any] = {
    "source": "given",
    "games": 1200,
    "kyoku": 12_700,
    "decisions": 900_000,
    "quarantined": 1,
    "quarantine": [{"file": "a&b.mjlog", "position": "kyoku 3", "reason": "the tile is not in the hand"}],
}


def self_play_match(updates: int, difference: float) -> dict[str, Any]:
    interval = [difference - 0.15, difference + 0.15]
    match = {"updates": updates, "opponent": "start", "hanchans": 200, "difference": difference, "interval": interval}
    return match | {"average_placement": 2.5 + difference}


SELF_PLAY: dict[str, Any] = {
    **{"heads": ["discard"], "updates": 40, "version": 20, "hanchans": 512, "decisions": 345_678, "seconds": 61.0},
    "history": [
        {"updates": 10 * n, "seconds": n, "staleness": 1.5, "discard_entropy": 2.0 - n / 10, "discard_alpha": 0.01 * n}
        for n in range(1, 5)
    ],
    "matches": [self_play_match(20, -0.1), self_play_match(40, -0.314)],
    "decisions_of_buffer": {"added": 90_123, "learned": 81_920, "stale": 77, "refused": 0, "lost": 0},
    "faults": {},
}


def playout(number: int) -> dict[str, float]:
    gain = {"discard_gain": 1.5 * number, "discard_gain_error": 0.7, "discard_kl_to_start": 0.01 * number}
    return {"decisions": 100 * number, "discard_decisions": 60, **gain}


REWARD: dict[str, Any] = {
    "games": {"train": 100, "test": 20, "left_out": 3},
    "points": [45.0, 5.0, -15.0, -35.0],
    "num_weights": 12_345,
    "test": {
        "net": {"loss": 900.5},
        "mean": {"loss": 1200.0, "margin": 0.25, "difference": -300, "interval": [-400, -200]},
    },
    "sums": {"mean": 0.5, "mean_absolute": 3.2},
    "history": [{"step": n, "train_loss": 5 / n, "validation_loss": 6 / n} for n in range(1, 6)],
    "calibration": [[-20.0, -18.0, 30], [10.0, 12.0, 40]],
    "examples": [
        {"kyoku": [0, 1], "honba": [0, 1], "predictions": [[1, 2, 3, -6], [4, 5, -3, -6]], "paid": [45, 5, -15, -35],
         "scores": [[25_000] * 4, [30_000, 25_000, 25_000, 20_000]]},
    ],
}  # fmt: skip


def compared(agent: str, **more: Any) -> dict[str, Any]:
    figures = {"average_placement": 2.4, "interval": [2.3, 2.5], "placements": [30, 28, 22, 20], "win_rate": 0.21}
    rates = {"win_rate_interval": [0.2, 0.22], "deal_in_rate": 0.11, "deal_in_rate_interval": [0.1, 0.12]}
    none = dict.fromkeys(("compared_with", "difference", "difference_interval"))
    return {"agent": agent, **figures, **rates, **none, **more}


COMPARISON = {
    "hanchans": 400,
    "agents": [
        compared("sl"),
        compared("rl_basic", compared_with="sl", difference=-0.1, difference_interval=[-0.2, -0.05]),
    ],
}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    files: dict[tuple[str, str], Any] = {
        ("records", "summary.json"): RECORDS,
        ("evaluation", "match.json"): MATCH,
        ("sample_game", "match_games.json"): MATCH_GAMES,
        ("reinforcement", METRICS_FILE): SELF_PLAY,
        ("oracle", METRICS_FILE): SELF_PLAY,
        ("reward_predictor", METRICS_FILE): REWARD,
        ("agent_comparison/match", "agent_comparison.json"): COMPARISON,
        **{(f"supervised/{head}", METRICS_FILE): net_metrics(head) for head in ("discard", "kong")},
    }
    for (stage, name), values in files.items():
        (tmp_path / stage).mkdir(parents=True, exist_ok=True)
        write_json(tmp_path / stage / name, values)
    return replace(read_results({stage: tmp_path / stage for stage, _ in files}), entropy_targets={"discard": 1.75})


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects text, addresses and ids."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data.replace("\u00a0", " "))


def text_of(page: str) -> str:
    return " ".join(Reader(page).words)


def test_the_report_is_one_well_formed_file_whose_links_stay_inside_and_whose_text_is_escaped(results: Results) -> None:
    page = render(RUN, results)
    reader = Reader(page)
    inside = {address[1:] for address in reader.addresses if address.startswith("#")}
    beside = {address for address in reader.addresses if not address.startswith("#")}
    assert beside == {"game.html", "game_best_1.html", "game_worst_1.html"}
    assert inside <= set(reader.ids)
    assert len(set(reader.ids)) == len(reader.ids)
    assert "<script" not in page
    assert "<b>ukeire" not in page
    assert "a&amp;b.mjlog" in page
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) > 15
    for picture in pictures:
        ElementTree.fromstring(picture)
    for wrong in ("nan", "NaN", "inf", "None", "-0.0 ", '"-0"', "-0.000", "−0.000"):
        assert wrong not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL), wrong


def test_a_wide_table_names_its_columns_in_every_cell_and_no_table_has_a_column_of_dashes() -> None:
    narrow = report_page.piece("table", ["net", "games", "paper"], [["discard", "7", "–"]])
    assert "stacked" not in narrow
    assert "paper" not in narrow
    columns, row = ["net", "a <long> heading", "x", "y"], [letter * 12 for letter in "defg"]
    wide = report_page.piece("table", columns, [row])
    assert '<table class="stacked">' in wide
    assert f'<td data-label="a &lt;long&gt; heading">{"e" * 12}</td>' in wide


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_no_table_and_no_picture_is_wider_than_the_window(
    results: Results, tmp_path: Path, width: int, scheme: str
) -> None:
    page = tmp_path / "report.html"
    page.write_text(render(RUN, results), encoding="utf-8")
    check_layout(page, width, scheme, tables=8, pictures=15)


@pytest.mark.parametrize(
    "later",
    [
        {"self_play": SELF_PLAY},
        {"playouts": {"decisions": 2000, "seconds": 30.0, "history": [playout(n) for n in range(1, 6)]}},
    ],
)
def test_the_match_of_the_supervised_nets_is_not_that_of_nets_that_learned_on(
    results: Results, later: dict[str, Any]
) -> None:
    alone = replace(results, self_play={}, oracle={})
    assert "average placement in the match" in text_of(render(RUN, alone))
    page = render(RUN, replace(alone, **later))
    assert "<h2>Match of the supervised nets</h2>" in page
    assert "average placement in the match" not in text_of(page)


def test_the_main_pictures_are_files_for_mlflow(results: Results) -> None:
    drawn = pictures(VERDICT, results)
    assert list(drawn) == ["verdict.svg", "strength.svg", "placements.svg"]
    for content in drawn.values():
        assert ElementTree.fromstring(content).tag.endswith("svg")
    assert b"against start" in drawn["strength.svg"]  # the legend
    assert pictures(Verdict(outcome="none", sentence="Nothing."), read_results({})) == {}


def test_the_top_has_the_verdict_the_run_and_what_needs_attention(results: Results) -> None:
    page = render(RUN, results)
    top = text_of(page.partition("<nav>")[0] + "</body></html>")
    told = (VERDICT.sentence, SUMMARY.run_id, "abc1234567", SUMMARY.stages["supervised/kong"].warnings[0])
    assert all(text in top for text in told)
    assert '<div class="verdict better">' in page


@pytest.mark.parametrize("source", ["given", "played"])
def test_the_papers_columns_are_there_for_real_records_only(results: Results, source: str) -> None:
    text = text_of(render(RUN, replace(results, records=RECORDS | {"source": source})))
    assert "61.2 %" in text
    assert [part in text for part in ("(15M)", "earlier work")] == [source == "given"] * 2


def test_a_report_of_another_game_has_its_tiles_and_only_what_was_counted(results: Results) -> None:
    nets = {"discard": net_metrics("discard"), "claim": net_metrics("claim")}
    only = Results(records={"source": "played", "games": 40}, supervised=nets)
    text = text_of(render(RUN, only, load_game("mcr")))
    assert "W: characters, B: circles, T: bamboo, F: winds, J: dragons." in text
    assert "decisions in them" not in text
    assert "records set aside" not in text
    assert {"W1", "J3"} <= set(text.split())


def test_text_of_strangers_is_escaped(results: Results) -> None:
    page = render(RUN, results)
    assert "<script" not in page
    assert "<b>ukeire" not in page
    assert "a&amp;b.mjlog" in page


def test_a_run_without_results_still_has_a_report() -> None:
    page = render(replace(RUN, summary=None), read_results({}))
    assert re.findall(r"<h2>(.*?)</h2>", page) == ["Settings"]
    Reader(page)
