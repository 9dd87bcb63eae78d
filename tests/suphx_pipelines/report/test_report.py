from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from suphx_pipelines.json_file import write_json
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report import Results, pictures, read_results, render
from suphx_pipelines.report.report_page import Run
from suphx_pipelines.runs.run_summary import RunSummary, StageSummary
from suphx_pipelines.runs.verdict import Verdict
from suphx_pipelines.stages.supervised import CURVE_NAME
from tests.page_checks import HAS_CHROMIUM, check_layout

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
            "majority_accuracy": 0.5432,
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
    return {"name": name, "hanchans": 400, "placements": [120, 110, 100, 70], **rates, **means}


MATCH: dict[str, Any] = {
    "candidate": "net",
    "opponent": "ukeire",
    "seed": 5,
    "hanchans": 400,
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

CURVE = {
    "discard": [{"games": 100, "accuracy": 0.5512}, {"games": 930, "accuracy": 0.6123, "majority_accuracy": 0.087}],
    "kong": [{"games": 100, "accuracy": None}, {"games": 930, "accuracy": 0.9}],
}

ABLATION: dict[str, dict[str, Any]] = {
    "discard": {
        "samples": 12_000,
        "games": 25,
        "encoders": [
            {"encoder": "suphx", "planes": 838, "trained_samples": 5120, "accuracies": [0.61, 0.62],
             "difference": 0, "interval": [0, 0]},
            {"encoder": "mini", "planes": 288, "trained_samples": 5120, "accuracies": [0.59, 0.603],
             "difference": -0.0185, "interval": [-0.022, -0.015], "is_significant": True},
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
        {
            "updates": 20,
            "opponent": "start",
            "hanchans": 200,
            "average_placement": 2.42,
            "difference": -0.1,
            "interval": [-0.25, 0.05],
        },
        {
            "updates": 40,
            "opponent": "start",
            "hanchans": 200,
            "average_placement": 2.26,
            "difference": -0.314,
            "interval": [-0.45, -0.17],
        },
    ],
    "decisions_of_buffer": {"added": 90_123, "learned": 81_920, "stale": 77, "refused": 0, "lost": 0},
    "faults": {},
}

PLAYOUTS: dict[str, Any] = {"decisions": 2000, "seconds": 30.0, "history": []}


def fixed_alpha(entropy: float) -> dict[str, Any]:
    return SELF_PLAY | {
        "history": [{"updates": 10 * n, "seconds": n, "discard_entropy": entropy} for n in range(1, 5)],
        "matches": [SELF_PLAY["matches"][1] | {"difference": -0.071, "interval": [-0.2, 0.06]}],
    }


STUDY: dict[str, Any] = {"0": fixed_alpha(0.07), "1.5": fixed_alpha(2.41)}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    folders = {name: tmp_path / name for name in ("records", "evaluation", "sample_game")}
    folders |= {f"supervised/{head}": tmp_path / "supervised" / head for head in ("discard", "kong")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    write_json(folders["records"] / "summary.json", RECORDS)
    write_json(folders["evaluation"] / "match.json", MATCH)
    write_json(folders["sample_game"] / "match_games.json", MATCH_GAMES)
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
        points = [{"step": step, "train_loss": 0.9 + 1 / step} for step in range(50, 2051, 50)]
        write_json(folders[f"supervised/{head}"] / CURVE_NAME, {"points": points})
    return replace(read_results(folders), entropy_targets={"discard": 1.75})


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects text, addresses, ids and coordinates."""

    VOID = frozenset({"meta"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data.replace("\u00a0", " "))


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def text_of(page: str) -> str:
    return " ".join(read(page).words)


def test_the_report_is_one_well_formed_file_whose_links_stay_inside(results: Results) -> None:
    reader = read(render(RUN, results))
    assert reader.addresses
    inside = {address for address in reader.addresses if address.startswith("#")}
    assert set(reader.addresses) - inside == {"game.html", "game_best_1.html", "game_worst_1.html"}  # beside it
    assert {address[1:] for address in inside} <= set(reader.ids)
    assert len(set(reader.ids)) == len(reader.ids)


def test_every_picture_is_well_formed_and_has_no_number_that_is_none(results: Results) -> None:
    page = render(RUN, results)
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) > 15
    for picture in pictures:
        ElementTree.fromstring(picture)
    for wrong in ("nan", "NaN", "inf", "None", "-0.0 ", '"-0"', "-0.000", "−0.000"):
        assert wrong not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL), wrong


def test_a_table_that_is_too_wide_for_a_phone_names_its_columns_in_every_cell() -> None:
    narrow = report_page.table(("net", "games"), [("discard", "7")])
    assert "stacked" not in narrow
    wide = report_page.table(("net", "a <long> heading", "x", "y"), [("d" * 12, "e" * 12, "f" * 12, "g" * 12)])
    assert '<table class="stacked">' in wide
    assert f'<td data-label="a &lt;long&gt; heading">{"e" * 12}</td>' in wide


@pytest.mark.slow
@pytest.mark.skipif(not HAS_CHROMIUM, reason="no Chromium: run apt-get install chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_table_and_no_picture_is_wider_than_the_window(
    results: Results, tmp_path: Path, width: int, scheme: str
) -> None:
    page = tmp_path / "report.html"
    page.write_text(render(RUN, results), encoding="utf-8")
    check_layout(page, width, scheme, tables=9, pictures=17)


def test_the_top_has_the_verdict_the_run_and_what_needs_attention(results: Results) -> None:
    page = render(RUN, results)
    top = page[: page.index("<nav>")].replace("\u00a0", " ")
    assert '<div class="verdict better">' in top
    for part in (
        "The nets play better &lt;than&gt; ukeire.",
        "laptop-0123456789",
        "2026-11-22 03:49 UTC",
        "10 min 5 s",
    ):
        assert part in top
    for part in ("2 cores, 23 GiB", "abc1234567", "suphx run laptop --set net.size=tiny", "1 record was set aside"):
        assert part in top
    assert "The kong net has not begun to learn." in top
    assert "95 % interval −0.310 to −0.070" in top


@pytest.mark.parametrize("later", [{"self_play": SELF_PLAY}, {"playouts": PLAYOUTS}])
def test_the_match_of_the_supervised_nets_is_not_that_of_nets_that_learned_on(
    results: Results, later: dict[str, Any]
) -> None:
    alone = replace(results, self_play={}, entropy_study={})
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


def test_the_best_and_the_worst_games_of_the_last_match_are_linked(results: Results) -> None:
    text = text_of(render(RUN, results))
    assert "The best and the worst games of the last match against <b>ukeire</b> (2,000 hanchans)" in text
    assert "One of the best games: 1st with 63,300 points" in text
    assert "One of the worst games: 3rd with 9,000 points and 4th with −1,200 points" in text


def test_the_papers_columns_are_there_for_real_records_only(results: Results) -> None:
    text = text_of(render(RUN, results))
    for part in ("76.7 % (15M)", "68.8 %", "61.2 %", "94.0 % (4M)"):
        assert part in text
    assert "8.7 %" in text, "the most frequent answer, beside the learning curve"
    assert "test accuracy (most frequent answer: 54.3 %)" in text
    assert "The paper's nets learned from 4 to 15 million samples." in text
    played = replace(results, records=RECORDS | {"source": "played"})
    text = text_of(render(RUN, played))
    assert "61.2 %" in text
    assert "55.1 %" in text, "of the learning curve"
    for part in ("(15M)", "76.7 %", "earlier work", "million samples"):
        assert part not in text


def test_the_report_shows_what_other_planes_change(results: Results) -> None:
    words = read(render(RUN, results)).words
    start = len(words) - words[::-1].index("mini") - 1
    shown = [word for word in words[start:] if word.strip()]
    assert shown[:6] == ["mini", "288", "5,120", "59.0 %, 60.3 %", "−1.85", "−2.20 to −1.50"]
    assert "2 for each encoder. Of these nets, those with mini are less accurate than those w" in " ".join(words)
    few = ABLATION["discard"] | {
        "encoders": [one | {"is_significant": False} for one in ABLATION["discard"]["encoders"]]
    }
    words = read(render(RUN, replace(results, ablation={"discard": few}))).words
    assert "those with mini are not clearly different from those with suphx (−1.85" in " ".join(words)


def test_self_play_begins_with_its_strength_in_words(results: Results) -> None:
    page = render(RUN, results)
    begin = page.index("<h2>Self-play</h2>")
    section = text_of(page[begin : page.index("</section>", begin)])
    assert "After 40 updates the nets are stronger than their start" in section
    for part in ("345,678", "−0.31", "−0.45 to −0.17", "90,123 added, 81,920 learned, 77 stale, 0 refused"):
        assert part in section
    assert "Memory" not in section  # all was in one process
    assert "Target 1.75 (dashed); deviates from the target by up to 8.6 % over the last half." in section


def test_text_of_strangers_is_escaped(results: Results) -> None:
    page = render(RUN, results)
    assert "<script" not in page
    assert "<b>ukeire" not in page
    assert "a&amp;b.mjlog" in page


def test_a_run_without_results_still_has_a_report() -> None:
    page = render(replace(RUN, summary=None), read_results({}))
    assert re.findall(r"<h2>(.*?)</h2>", page) == ["Settings"]
    read(page)
