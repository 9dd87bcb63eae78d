"""The report stage: one self-contained HTML file from the JSON files that the other stages leave in their folders.

Read here, all in the folders of the stages that this stage needs; a missing file leaves its section out. The keys of
all files are in docs/result_files.md; any number may be null where there is none.
"""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.games.registry import find_decisions
from suphx.json_text import parse_json
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.charts.plot import files
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.agent_stages import INITIAL_STAGE, SUPERVISED_STAGES
from suphx_pipelines.recipe.recipe import AGENT_TITLES, Recipe
from suphx_pipelines.report import (
    report_matches,
    report_nets,
    report_page,
    report_self_play,
)
from suphx_pipelines.report.report_page import Run, decimal, difference, escape, number, percent
from suphx_pipelines.runs.run_page import agent_commands
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Verdict, find_verdict, stage_metrics
from suphx_pipelines.stages import initial_agent, riichi_sample_game
from suphx_pipelines.stages.oracle import DECAY, DECAY_PART, DISTILLATION, ORACLE
from suphx_pipelines.stages.reinforcement import STUDY_PREFIX
from suphx_pipelines.stages.supervised import read_curve
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.table_text import count_text

_MAX_SHOWN = 10
_OF_SELF_PLAY = {"start": "placements against their start",
                 "start, both sampled": "placements against their start, both sampled"}  # fmt: skip
_FEWEST_LEARNED = 0.52
"""Of the balanced accuracy of a yes-or-no net; 0.5 is that of a net that always gives the same answer."""


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
    """Self-play that sees hidden tiles; sees fewer and fewer; sees none; stays near a teacher that sees them."""
    playouts: Mapping[str, Any] = field(default_factory=dict)
    entropy_study: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the alpha that was fixed."""
    reward_predictor: Mapping[str, Any] = field(default_factory=dict)
    agent_comparison: Mapping[str, Any] = field(default_factory=dict)
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name: self-play of the agents that learned for the comparison; RL-2's is in ``oracle``."""
    entropy_targets: Mapping[str, float] = field(default_factory=dict)
    """By head that learned in self-play."""
    curves: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """By head: points of the training (``read_curve``)."""
    has_game: bool = False
    """Whether a game of the nets is in the viewer."""
    match_games: Mapping[str, Any] = field(default_factory=dict)
    """The best and the worst games of the last match, and their pages."""
    initial_agent: Mapping[str, Any] = field(default_factory=dict)
    """Whose nets the run began with, in the place of supervised learning."""

    @property
    def has_later_nets(self) -> bool:
        """Whether nets came after the supervised ones, whose match this is."""
        return bool(self.playouts or self.self_play or self.agents or any(self.oracle))


_ORACLE_TITLES = (
    "Self-play with visible hidden tiles (oracle)",
    "Hidden tiles are removed step by step",
    "Self-play after oracle guiding",
    "Self-play with a teacher",
)
_ORACLE_TEXTS = (
    "These nets see all hidden tiles as additional inputs (oracle guiding, section 3.3 of the paper). They are an "
    "upper bound, and the starting point of the next stages.",
    "The hidden tiles are masked more and more often, until the nets no longer see them. Start: the nets with which "
    "the oracle stage began.",
    "The nets no longer see hidden tiles and continue to learn at a lower rate. Start: the nets with which the oracle "
    "stage began.",
    "The nets see no hidden tiles; their distance to the nets that see them is part of the loss.",
)


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Write ``report.html``, the pages of games that it links to, and pictures for MLflow into the stage's folder."""
    self_play = context.recipe.reinforcement
    entropy = self_play.learner.entropy
    absolute = {kind.name: entropy.target_of(kind) for kind in find_decisions() if kind.name in self_play.heads}
    targets = {head: target for head, target in absolute.items() if target}
    results = replace(read_results(context.upstream), entropy_targets=targets)
    if riichi_sample_game.STAGE_NAME in context.upstream:
        for name in (PAGE_FILE, *(game["page"] for game in results.match_games.get("games", ()))):
            shutil.copyfile(context.upstream[riichi_sample_game.STAGE_NAME] / name, context.folder / name)
    path = context.folder / REPORT_NAME
    verdict = find_verdict(context.recipe, stage_metrics(context.upstream))
    commands = agent_commands(context.folder.parent, context.recipe.storage.address)
    about = Run.of(context.folder.parent, context.recipe, verdict, commands)
    write_atomically(path, [render(about, results).encode()])
    for name, content in pictures(verdict, results).items():
        write_atomically(context.folder / name, [content])
    return {"bytes": path.stat().st_size}


def read_results(folders: Mapping[str, Path]) -> Results:
    """Read the JSON files of finished stages, given by stage name."""
    return Results(
        records=_read(folders.get("records"), "summary.json"),
        supervised={
            head: metrics
            for head, stage in SUPERVISED_STAGES.items()
            if (metrics := _read(folders.get(stage), METRICS_FILE))
        },
        curve=_read(folders.get("learning_curve/summary"), "curve.json"),
        ablation=_read(folders.get("ablation/summary"), "ablation.json"),
        match=_read(folders.get("evaluation"), "match.json"),
        curves={head: read_curve(folders[stage]) for head, stage in SUPERVISED_STAGES.items() if stage in folders},
        has_game=riichi_sample_game.STAGE_NAME in folders,
        match_games=_read(folders.get(riichi_sample_game.STAGE_NAME), riichi_sample_game.MATCH_GAMES_FILE),
        initial_agent=_read(folders.get(INITIAL_STAGE), initial_agent.SOURCE_FILE),
        playouts=_read(folders.get("playouts"), METRICS_FILE),
        self_play=_read(folders.get("reinforcement"), METRICS_FILE),
        reward_predictor=_read(folders.get("reward_predictor"), METRICS_FILE),
        agent_comparison=_read(folders.get("agent_comparison/match"), "agent_comparison.json"),
        agents={
            agent: _read(folders[stage], METRICS_FILE)
            for agent in AGENT_TITLES
            if (stage := f"agent_comparison/{agent}") in folders
        },
        oracle=[
            _read(folders.get(ORACLE), METRICS_FILE),
            _read(folders.get(DECAY), f"{DECAY_PART}/{METRICS_FILE}"),
            _read(folders.get(DECAY), METRICS_FILE),
            _read(folders.get(DISTILLATION), METRICS_FILE),
        ],
        entropy_study={
            name.removeprefix(STUDY_PREFIX): _read(folder, METRICS_FILE)
            for name, folder in folders.items()
            if name.startswith(STUDY_PREFIX)
        },
    )


def render(run: Run, results: Results) -> str:
    """Return the whole report as HTML."""
    is_played = results.records.get("source") == "played"
    sections = [
        ("What each idea brings", report_matches.comparison_section(results.agent_comparison)),
        ("Self-play", report_self_play.section(results.self_play, results.entropy_targets)),
        *(
            (f"Self-play of {AGENT_TITLES[agent]}", report_self_play.section(result, results.entropy_targets))
            for agent, result in results.agents.items()
        ),
        ("Learning from playouts", report_nets.playouts_section(results.playouts)),
        *_oracle(results),
        (_match_title(results), report_matches.match_section(results.match)),
        (
            "What the entropy term does",
            report_self_play.study(results.self_play, results.entropy_study, results.entropy_targets),
        ),
        ("Reward predictor", report_nets.reward_section(results.reward_predictor)),
        (
            "Test accuracy",
            report_nets.accuracies(results.supervised, is_played=is_played),
        ),
        ("Training", report_nets.learning(results.supervised, results.curves)),
        ("What more games bring", report_nets.curve(results.curve, is_played=is_played)),
        ("What the planes bring", report_nets.ablation(results.ablation)),
        ("Calibration", report_nets.calibration(results.supervised)),
        ("Discards, tile by tile", report_nets.confusion(results.supervised.get("discard", {}))),
        ("Games to look at", _games(results)),
        ("Data", _initial(results.initial_agent) + _data(results.records)),
    ]
    told = run.summary.warnings if run.summary else ()
    return run.page(explained(sections), warnings=_warnings(results, told), figures=main_figures(results))


def pictures(verdict: Verdict, results: Results) -> dict[str, bytes]:
    """Return file name -> content of the report's main pictures as SVG files, as far as the run has them."""
    gains = report_nets.gain_figures(results.playouts)
    return files(
        {
            "verdict.svg": report_page.verdict_figure(verdict),
            "strength.svg": report_self_play.strength_figure(results.self_play),
            "placements.svg": report_matches.placements_figure(results.match),
            **{f"playouts_{head}.svg": figure for head, figure in gains.items()},
        }
    )


def _warnings(results: Results, told: Sequence[str]) -> list[str]:
    """Return a sentence for each result that needs attention, beside what the stages have ``told``."""
    found: list[str] = []
    for head, metrics in results.supervised.items():
        balanced = metrics["test"].get("balanced_accuracy")
        has_answers = metrics["test"].get("recall_yes") is not None and balanced is not None
        if has_answers and balanced < _FEWEST_LEARNED and not any(head in text for text in told):
            found.append(f"The {head} net nearly always gives the same answer (balanced accuracy {percent(balanced)}).")
    aside = results.records.get("quarantined")
    if aside:
        found.append(f"{count_text(aside, 'record was', 'records were')} set aside: see Data.")
    for result in (results.self_play, *results.agents.values(), *results.oracle):
        faults = [
            f"{name.replace('_', ' ')} {count_text(count, 'time')}"
            for name, count in sorted(result.get("faults", {}).items())
        ]
        if faults:
            found.append(f"Faults during self-play: {', '.join(faults)}.")
    return found


def main_figures(results: Results) -> list[tuple[str, str]]:
    """Return the figures of the run as (figure, what it is): first how strong its agent is, then what it learned."""
    figures = [
        (
            difference(match["difference"], 2),
            f"{_OF_SELF_PLAY.get(name, f'placements against {name}')}; negative is better",
        )
        for name, match in report_self_play.last_matches(results.self_play).items()
    ]
    if not results.supervised:
        return figures  # the other sections begin with their own figures
    figures += [(number(results.records.get("games")), "games learned from"),
               (number(results.records.get("decisions")), "decisions in them")]  # fmt: skip
    for player in [] if results.has_later_nets else results.match.get("players", [])[:1]:
        figures.append((decimal(player.get("average_placement"), 2), "average placement in the match (2.50 is equal)"))
    figures += [
        (percent(net["test"].get("accuracy")), f"{head}: test accuracy{_majority(net['test'])}")
        for head, net in results.supervised.items()
        if not _is_always_right(net["test"])
    ]
    return figures


def _is_always_right(test: Mapping[str, Any]) -> bool:
    """Tell whether one answer alone is right for all samples: then the accuracy says nothing about the net."""
    return percent(test.get("majority_accuracy")) == percent(1.0)


def _majority(test: Mapping[str, Any]) -> str:
    """Return what the most frequent answer alone reaches, in brackets; empty if that is not known."""
    share = test.get("majority_accuracy")
    return "" if share is None else f" (most frequent answer: {percent(share)})"


def _oracle(results: Results) -> list[tuple[str, str]]:
    """Return the sections on oracle guiding, each with what it is."""
    bodies = [report_self_play.section(result, results.entropy_targets) for result in results.oracle]
    return [
        (title, report_page.paragraph(text) + body if body else "")
        for title, text, body in zip(_ORACLE_TITLES, _ORACLE_TEXTS, bodies, strict=True)
    ]


def _games(results: Results) -> str:
    """Return links to pages of games in the viewer."""
    if not results.has_game:
        return ""
    text = "Watch a game of the nets that this run made last step by step, with their probabilities at each decision"
    return report_page.link(text, PAGE_FILE) + report_matches.match_links(results.match_games)


def _read(folder: Path | None, name: str) -> dict[str, Any]:
    path = None if folder is None else folder / name
    return {} if path is None or not path.is_file() else read_json(path)


def _match_title(results: Results) -> str:
    if not results.has_later_nets:
        return "Match"
    return f"Match of the {'initial' if results.initial_agent else 'supervised'} nets"


def _initial(source: Mapping[str, Any]) -> str:
    return report_page.paragraph(f"The run began with the nets of {source['agent']}.") if source else ""


def _data(records: Mapping[str, Any]) -> str:
    if not records:
        return ""
    is_given = records.get("source") == "given"
    origin = "The nets learned from the game records that were given to the run." if is_given else (
        "No records were given, so an agent (records.player in the recipe) played games against itself, and the nets "
        "learned from these."
    )  # fmt: skip
    names = {"games": "games", "kyoku": "deals", "decisions": "decisions", "quarantined": "records set aside"}
    body = report_page.paragraph(origin)
    body += report_page.tiles([(number(records.get(name)), text) for name, text in names.items()])
    if records.get("quarantine"):
        entries = [(e["file"], str(e["position"]), e["reason"]) for e in records["quarantine"][:_MAX_SHOWN]]
        shown = report_page.table(("file", "position", "reason"), entries, is_text=True)
        body += report_page.folded(f"Records set aside (first {len(entries)})", shown)
    return body


@cache
def _words() -> dict[str, str]:
    """Return words of the game and their meanings, in the order in which they are explained."""
    text = resources.files("suphx_pipelines.report").joinpath("template", "words.json").read_text(encoding="utf-8")
    words: dict[str, str] = parse_json(text)
    return words


def explained(sections: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return ``sections`` (heading, HTML; empty ones stay) with links to their words, and one that explains these."""
    found: set[str] = set()
    shown = []
    for heading, body in sections:
        text = html.unescape(re.sub(r"<[^>]*>", " ", f"{heading} {body}")) if body else ""
        own = [word for word in _words() if re.search(rf"\b{word}", text, re.IGNORECASE)]
        found.update(own)
        links = ", ".join(f'<a href="#word-{word}">{word}</a>' for word in own)
        shown.append((heading, f'{body}<p class="soft">Words: {links}</p>\n' if own else body))
    meanings = (
        f'<div class="whole"><dt id="word-{word}">{word}</dt><dd>{escape(meaning)}</dd></div>'
        for word, meaning in _words().items()
        if word in found
    )
    return [*shown, ("Words", f'<dl class="facts">{"".join(meanings)}</dl>\n')] if found else shown
