"""The report stage: one self-contained HTML file from the JSON files that the other stages leave in their folders.

Read here, all in the folders of the stages that this stage needs; a missing file leaves its section out. The keys of
all files are in docs/architecture.md ("What stages leave for each other"); any number may be null where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.match_config import few_games_note
from suphx.features.head import HEAD_NAMES, head_index
from suphx.riichi.tile import NUM_KINDS, face_name
from suphx_pipelines import report_figure, report_figure_8, report_page, report_reward, report_self_play
from suphx_pipelines.entropy_study import STAGE_PREFIX
from suphx_pipelines.json_file import read_json
from suphx_pipelines.oracle import DECAY, DECAY_PART, DISTILLATION, ORACLE
from suphx_pipelines.provenance import environment
from suphx_pipelines.recipe import Recipe
from suphx_pipelines.recipe_file import to_toml
from suphx_pipelines.report_number import decimal, interval, number, percent
from suphx_pipelines.stage import StageContext

REPORT_NAME = "report.html"

# Paper, Table 3: training samples in millions, test accuracy, accuracy of the earlier work that the paper cites.
PAPER_TABLE_3: dict[str, tuple[int, float, float | None]] = {
    "discard": (15, 0.767, 0.688),
    "riichi": (5, 0.857, None),
    "chow": (10, 0.950, 0.904),
    "pong": (10, 0.919, 0.882),
    "kong": (4, 0.940, None),
}


@dataclass(frozen=True, slots=True)
class Results:
    """What the stages of a run have left, as plain JSON values; empty where a stage is not part of the run."""

    records: Mapping[str, Any]
    supervised: Mapping[str, Mapping[str, Any]]
    """By head."""
    curve: Mapping[str, Sequence[Mapping[str, Any]]]
    """By head: accuracy for each number of training games."""
    ablation: Mapping[str, Mapping[str, Any]]
    """By head: accuracy with the planes of each encoder."""
    match: Mapping[str, Any]
    self_play: Mapping[str, Any]
    oracle: Sequence[Mapping[str, Any]] = ({}, {}, {}, {})
    """Self-play that sees everything, less and less, nothing hidden any more; that stays near one that does."""
    entropy_study: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the alpha that was fixed."""
    reward_predictor: Mapping[str, Any] = field(default_factory=dict)
    figure_8: Mapping[str, Any] = field(default_factory=dict)
    entropy_targets: Mapping[str, float] = field(default_factory=dict)
    """By head that learned in self-play."""


_ORACLE_TITLES = (
    "Self-play that sees what is hidden",
    "What is hidden goes away step by step",
    "Self-play after oracle guiding",
    "Self-play near a teacher that sees what is hidden",
)


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Write ``report.html`` into the stage's folder."""
    self_play = context.recipe.reinforcement
    entropy = self_play.learner.entropy
    targets = {head: entropy.target_of(head_index(head)) for head in self_play.heads}
    results = replace(read_results(context.upstream), entropy_targets=targets)
    path = context.folder / REPORT_NAME
    title = f"Suphx: {context.recipe.name}"
    write_atomically(path, [render(title, results, to_toml(context.recipe), environment()).encode()])
    return {"bytes": path.stat().st_size}


def read_results(folders: Mapping[str, Path]) -> Results:
    """Read the JSON files of finished stages, given by stage name."""
    return Results(
        records=_read(folders.get("records"), "summary.json"),
        supervised={
            head: metrics
            for head in HEAD_NAMES
            if (metrics := _read(folders.get(f"supervised/{head}"), "metrics.json"))
        },
        curve=_read(folders.get("learning_curve/summary"), "curve.json"),
        ablation=_read(folders.get("ablation/summary"), "ablation.json"),
        match=_read(folders.get("evaluation"), "match.json"),
        self_play=_read(folders.get("reinforcement"), "metrics.json"),
        reward_predictor=_read(folders.get("reward_predictor"), "metrics.json"),
        figure_8=_read(folders.get("figure_8/match"), "figure_8.json"),
        oracle=[
            _read(folders.get(ORACLE), "metrics.json"),
            _read(folders.get(DECAY), f"{DECAY_PART}/metrics.json"),
            _read(folders.get(DECAY), "metrics.json"),
            _read(folders.get(DISTILLATION), "metrics.json"),
        ],
        entropy_study={
            name.removeprefix(STAGE_PREFIX): _read(folder, "metrics.json")
            for name, folder in folders.items()
            if name.startswith(STAGE_PREFIX)
        },
    )


def render(title: str, results: Results, recipe: str, machine: Mapping[str, str]) -> str:
    """Return the whole report as HTML."""
    sections = [
        ("Summary", _summary(results)),
        ("Data", _data(results.records)),
        ("Test accuracy beside the paper", _table_3(results)),
        ("What more games bring", _curve(results.curve)),
        ("What the planes bring", _ablation(results.ablation)),
        ("Learning", _learning(results.supervised)),
        ("Calibration", _calibration(results.supervised)),
        ("Discards, tile by tile", _confusion(results.supervised.get("discard", {}))),
        ("Match", _match(results.match)),
        ("Reward predictor", report_reward.section(results.reward_predictor)),
        ("What each idea brings", report_figure_8.section(results.figure_8)),
        ("Self-play", report_self_play.section(results.self_play, results.entropy_targets)),
        *(
            (title, report_self_play.section(result, results.entropy_targets))
            for title, result in zip(_ORACLE_TITLES, results.oracle, strict=True)
        ),
        (
            "What the entropy term does",
            report_self_play.study(results.self_play, results.entropy_study, results.entropy_targets),
        ),
        ("A game to look at", _sample_game(results.match)),
        ("Recipe", report_page.preformatted(recipe)),
        ("Environment", report_page.facts(machine)),
    ]
    return report_page.page(title, f"commit {machine.get('commit', 'unknown')}", sections)


def _read(folder: Path | None, name: str) -> dict[str, Any]:
    path = None if folder is None else folder / name
    return {} if path is None or not path.is_file() else read_json(path)


def _summary(results: Results) -> str:
    figures = []
    if results.records:
        figures.append((number(results.records.get("games")), "games"))
        figures.append((number(results.records.get("decisions")), "decisions"))
    for head, metrics in results.supervised.items():
        figures.append((percent(metrics["test"].get("accuracy")), f"{head} test accuracy"))
    for player in results.match.get("players", [])[:1]:
        figures.append((decimal(player.get("average_placement"), 3), f"average placement of {player['name']}"))
        figures.append((decimal(player.get("stable_rank")), "stable rank (dan)"))
    return report_page.tiles(figures) + _verdict(results.match)


def _verdict(match: Mapping[str, Any]) -> str:
    difference = match.get("paired_difference")
    if not difference:
        return ""
    low, high = difference["interval"]
    who = f"{match['candidate']} against three {match['baseline']}"
    hanchans = match.get("hanchans")
    note = few_games_note(hanchans) if hanchans else ""
    if note:
        said = "too few games to say who is stronger"
    elif low is None or high is None or low <= 0 <= high:
        said = "no difference in average placement can be claimed"
    else:
        said = f"{match['candidate'] if high < 0 else match['baseline']} is better"
    value = decimal(difference["average_placement"], 3)
    return report_page.paragraph(
        f"{who}, {number(hanchans)} hanchans on shared walls: {said}. Paired difference of the average "
        f"placement {value}, 95 % interval {interval(difference['interval'], 3)} (lower is better){note}."
    )


def _data(records: Mapping[str, Any]) -> str:
    if not records:
        return ""
    origin = "Game records given to the run." if records.get("source") == "given" else "Games played by the baselines."
    names = ("games", "kyoku", "decisions", "quarantined")
    body = report_page.paragraph(origin) + report_page.tiles([(number(records.get(name)), name) for name in names])
    if records.get("samples"):
        columns = ("net", "training samples", "validation", "test")
        rows = [
            (head, *(number(counts.get(side)) for side in ("train", "validation", "test")))
            for head, counts in records["samples"].items()
        ]
        body += report_page.table(columns, rows)
    if records.get("quarantine"):
        entries = [(e["file"], str(e["position"]), e["reason"]) for e in records["quarantine"]]
        shown = report_page.table(("file", "position", "reason"), entries, is_text=True)
        body += report_page.folded(f"Records set aside (first {len(entries)})", shown)
    return body


def _table_3(results: Results) -> str:
    if not results.supervised:
        return ""
    columns = ("net", "paper", "earlier work", "ours", "balanced", "recall of yes", "test samples",
               "samples learned", "games")  # fmt: skip
    rows = []
    for head, metrics in results.supervised.items():
        millions, accuracy, previous = PAPER_TABLE_3[head]
        test = metrics["test"]
        row = [head, f"{percent(accuracy)} ({millions}M)", percent(previous)]
        row += [percent(test.get(key)) for key in ("accuracy", "balanced_accuracy", "recall_yes")]
        learned = metrics["history"][-1].get("rows") if metrics["history"] else None
        row += [number(count) for count in (test.get("samples"), learned, metrics.get("train_games"))]
        rows.append(row)
    caption = "Paper: Table 3, trained on the number of samples given there. Earlier work: what the paper cites."
    note = (
        "Balanced accuracy is the mean of the recalls of the answers: a net that always says no has 50 %, unless all "
        "test samples have the same answer."
    )
    if results.records.get("source") == "played":
        note += (
            " These nets learned from games that a baseline played: their accuracies say how well they imitate it and "
            "cannot be compared with the paper's."
        )
    return report_page.table(columns, rows, caption=caption) + report_page.paragraph(note, is_soft=True)


def _curve(curve: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    if not curve:
        return ""
    sizes = sorted({point["games"] for points in curve.values() for point in points})
    columns = ("net", *(f"{number(games)} games" for games in sizes), "paper")
    rows = []
    for head, points in curve.items():
        accuracies = {point["games"]: point["accuracy"] for point in points}
        rows.append((head, *(percent(accuracies.get(games)) for games in sizes), percent(PAPER_TABLE_3[head][1])))
    picture = report_figure.accuracy_by_games(curve, {head: PAPER_TABLE_3[head][1] for head in curve})
    note = "Test accuracy by the number of training games, all with the same settings. Dotted: the paper's Table 3."
    return report_page.table(columns, rows) + report_page.figure(picture, note)


def _ablation(ablation: Mapping[str, Mapping[str, Any]]) -> str:
    columns = ("net", "encoder", "planes", "samples learned", "accuracy", "difference", "95 % interval")
    body = ""
    for head, result in ablation.items():
        rows = [
            (head, entry["encoder"], number(entry["planes"]), number(entry["rows"]),
             ", ".join(percent(accuracy) for accuracy in entry["accuracies"]),
             *(("–", "–") if i == 0 else (percent(entry["difference"]), _percent_interval(entry["interval"]))))
            for i, entry in enumerate(result["encoders"])
        ]  # fmt: skip
        body += report_page.table(columns, rows)
        body += report_page.paragraph(
            f"Equal nets, equal games, the same {number(result['samples'])} test samples of {number(result['games'])} "
            "games; one accuracy for each seed. Difference: mean over seeds against the first encoder, interval by "
            "bootstrap over test games.",
            is_soft=True,
        )
    return body


def _percent_interval(bounds: Sequence[float]) -> str:
    return f"{percent(bounds[0])} … {percent(bounds[1])}"


def _learning(supervised: Mapping[str, Mapping[str, Any]]) -> str:
    body = ""
    for head, metrics in supervised.items():
        history = metrics["history"]
        seconds = history[-1].get("seconds") if history else None
        caption = f"{head}: {number(metrics.get('num_weights'))} weights, {number(seconds)} s"
        curves = report_page.figure(report_figure.learning_curves(history), caption)
        bins = metrics["test"].get("calibration")
        error = f"expected calibration error {percent(metrics['test'].get('ece'))}"
        reliability = report_page.figure(report_figure.calibration(bins), error) if bins else ""
        body += report_page.heading(head) + report_page.side_by_side(curves, reliability)
    return body


def _calibration(supervised: Mapping[str, Mapping[str, Any]]) -> str:
    fits = {head: (metrics["test"], metrics["calibrated"]) for head, metrics in supervised.items()
            if metrics.get("calibrated")}  # fmt: skip
    if not fits:
        return ""
    columns = ("net", "error as trained", "temperature", "error after it", "loss as trained", "loss after it")
    rows = [
        (head, percent(test.get("ece")), decimal(fit["temperature"], 3), percent(fit["ece"]),
         decimal(test.get("loss"), 4), decimal(fit["loss"], 4)) for head, (test, fit) in fits.items()
    ]  # fmt: skip
    body = report_page.table(columns, rows, caption="Fitted on validation samples, shown on test samples.")
    yes_columns = ("net", "yes in the records", "yes if above one half", "threshold", "yes if above it",
                   "accuracy", "accuracy with it")  # fmt: skip
    yes_rows = [
        (head, percent(fit["yes"]), percent(fit["yes_probable"]), decimal(fit["yes_threshold"], 3),
         percent(fit["yes_matched"]), percent(test.get("accuracy")), percent(fit["accuracy_matched"]))
        for head, (test, fit) in fits.items() if "yes_threshold" in fit
    ]  # fmt: skip
    if yes_rows:
        body += report_page.table(yes_columns, yes_rows)
    return body + report_page.paragraph(_CALIBRATION_NOTE, is_soft=True) + _reliability(fits)


_CALIBRATION_NOTE = (
    "The calibration error is the mean gap between how sure a net is and how often it is right. The threshold makes "
    "yes as frequent as in the records (evaluation.answers = matched)."
)


def _reliability(fits: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """Return, folded, how sure each net was after calibration and how often it was right."""
    columns = ("net", "confidence", "right", "samples")
    rows = [
        (head, percent(confidence), percent(accuracy), number(count))
        for head, (_, fit) in fits.items()
        for confidence, accuracy, count in fit["calibration"]
    ]
    return report_page.folded("Reliability after calibration, bin by bin", report_page.table(columns, rows))


def _confusion(discard: Mapping[str, Any]) -> str:
    counts = discard.get("test", {}).get("confusion")
    if not counts:
        return ""
    names = [face_name(kind) for kind in range(NUM_KINDS)]
    picture = report_figure.confusion(counts, names)
    return report_page.figure(picture, "Each row: what the net would discard where the record discards that tile.")


def _match(match: Mapping[str, Any]) -> str:
    if not match:
        return ""
    players = [_player_figures(player) for player in match["players"]]
    rows = [(name, *(figures[name] for figures in players)) for name in players[0]]
    columns = ["", *(player["name"] for player in match["players"])]
    caption = f"Seed {match.get('seed')}; all candidates meet the same walls from every seat."
    return report_page.table(columns, rows, caption=caption)


def _player_figures(player: Mapping[str, Any]) -> dict[str, str]:
    games = sum(player["placements"]) or 1
    shares = [percent(count / games) for count in player["placements"]]
    return {
        "hanchans": number(player.get("hanchans")),
        **dict(zip(("1st", "2nd", "3rd", "4th"), shares, strict=True)),
        "average placement": decimal(player.get("average_placement"), 3),
        "stable rank (dan)": decimal(player.get("stable_rank")),
        "… 95 % interval": interval(player.get("stable_rank_interval")),
        "wins": percent(player.get("win_rate")),
        "deal-ins": percent(player.get("deal_in_rate")),
        "riichi": percent(player.get("riichi_rate")),
        "calls": percent(player.get("call_rate")),
        "mean win (points)": number(player.get("average_win")),
        "mean deal-in (points)": number(player.get("average_deal_in")),
    }


def _sample_game(match: Mapping[str, Any]) -> str:
    game = match.get("sample_game")
    if not game:
        return ""
    return report_page.paragraph(game["title"]) + report_page.preformatted("\n".join(game["lines"]))
