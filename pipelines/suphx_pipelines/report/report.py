"""The report stage: one self-contained HTML file from the JSON files that the other stages leave in their folders.

Read here, all in the folders of the stages that this stage needs; a missing file leaves its section out. The keys of
all files are in docs/result_files.md; any number may be null where there is none.
"""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.measures import PLACEMENT, measure_of
from suphx.games.game import Game
from suphx.games.registry import DEFAULT_GAME, GAMES, find_decisions, load_game
from suphx.json_text import parse_json
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.charts.comparison_charts import PLACES
from suphx_pipelines.charts.plot import files
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.agent_stages import INITIAL_STAGE, supervised_stages_of
from suphx_pipelines.recipe.recipe import AGENT_TITLES, Recipe
from suphx_pipelines.report import report_matches, report_nets, report_page, report_self_play
from suphx_pipelines.report.report_page import Run, Sections, difference, number, percent, sections
from suphx_pipelines.runs.run_commands import agent_commands
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Verdict, find_verdict, stage_metrics
from suphx_pipelines.stages import initial_agent, riichi_sample_game
from suphx_pipelines.stages.oracle import DECAY, DECAY_PART, DISTILLATION, ORACLE
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.table_text import count_text

_OF_SELF_PLAY = {"start": "their start", "start, both sampled": "their start, both sampled"}
_FEWEST_LEARNED = 0.52
"""Of the balanced accuracy of a yes-or-no net; 0.5 is that of a net that always gives the same answer."""


def _file(stage: str, name: str = METRICS_FILE) -> Any:
    """Return a field with the values of a file in the folder of a stage; empty where there is none."""
    return field(default_factory=dict, metadata={"stage": stage, "name": name})


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What the stages of a run have left, as plain JSON values; empty where a stage is not part of the run."""

    records: Mapping[str, Any] = _file("records", "summary.json")
    initial_agent: Mapping[str, Any] = _file(INITIAL_STAGE, initial_agent.SOURCE_FILE)
    """Whose nets the run began with, in the place of supervised learning."""
    supervised: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By head."""
    match: Mapping[str, Any] = _file("evaluation", "match.json")
    reward_predictor: Mapping[str, Any] = _file("reward_predictor")
    playouts: Mapping[str, Any] = _file("playouts")
    self_play: Mapping[str, Any] = _file("reinforcement")
    entropy_targets: Mapping[str, float] = field(default_factory=dict)
    """By head that learned in self-play."""
    oracle: Mapping[str, Any] = _file(ORACLE)
    """Self-play that sees hidden tiles."""
    oracle_decay: Mapping[str, Any] = _file(DECAY, f"{DECAY_PART}/{METRICS_FILE}")
    """That sees fewer and fewer."""
    after_oracle: Mapping[str, Any] = _file(DECAY)
    distillation: Mapping[str, Any] = _file(DISTILLATION)
    """That stays near a teacher that sees them."""
    agent_comparison: Mapping[str, Any] = _file("agent_comparison/match", "agent_comparison.json")
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name: self-play of the agents that learned for the comparison; RL-2's is among those of the oracle."""
    has_game: bool = False
    """Whether a game of the nets is in the viewer."""
    match_games: Mapping[str, Any] = _file(riichi_sample_game.STAGE_NAME, riichi_sample_game.MATCH_GAMES_FILE)
    """The best and the worst games of the last match, and their pages."""

    @property
    def of_self_play(self) -> list[Mapping[str, Any]]:
        """Return all results of self-play."""
        guided = (self.oracle, self.oracle_decay, self.after_oracle, self.distillation)
        return [result for result in (self.self_play, *self.agents.values(), *guided) if result]

    @property
    def has_later_nets(self) -> bool:
        """Whether nets came after the supervised ones, whose match this is."""
        return bool(self.playouts or self.of_self_play)


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Write ``report.html``, the pages of games that it links to, and pictures for MLflow into the stage's folder."""
    self_play = context.recipe.reinforcement
    entropy = self_play.learner.entropy
    kinds = [kind for kind in find_decisions(self_play.game) if kind.name in self_play.heads]
    absolute = {kind.name: entropy.target_of(kind) for kind in kinds}
    targets = {head: target for head, target in absolute.items() if target}
    results = replace(read_results(context.upstream), entropy_targets=targets)
    if riichi_sample_game.STAGE_NAME in context.upstream:
        for name in (PAGE_FILE, *(game["page"] for game in results.match_games.get("games", ()))):
            shutil.copyfile(context.upstream[riichi_sample_game.STAGE_NAME] / name, context.folder / name)
    path = context.folder / REPORT_NAME
    verdict = find_verdict(context.recipe, stage_metrics(context.upstream))
    commands = agent_commands(context.folder.parent, context.recipe.storage.address)
    about = Run.of(context.folder.parent, context.recipe, verdict, commands)
    write_atomically(path, [render(about, results, load_game(context.recipe.game_name)).encode()])
    for name, content in pictures(verdict, results).items():
        write_atomically(context.folder / name, [content])
    return {"bytes": path.stat().st_size}


def read_results(folders: Mapping[str, Path]) -> Results:
    """Read the JSON files of finished stages, given by stage name."""
    read = {
        each.name: _read(folders.get(each.metadata["stage"]), each.metadata["name"])
        for each in fields(Results)
        if each.metadata
    }
    stages = {head: stage for game in GAMES for head, stage in supervised_stages_of(game).items()}
    trained = {head: folders[stage] for head, stage in stages.items() if stage in folders}
    return Results(
        **read,
        supervised={head: found for head, folder in trained.items() if (found := _read(folder, METRICS_FILE))},
        agents={
            agent: _read(folders[stage], METRICS_FILE)
            for agent in AGENT_TITLES
            if (stage := f"agent_comparison/{agent}") in folders
        },
        has_game=riichi_sample_game.STAGE_NAME in folders,
    )


def render(run: Run, results: Results, game: Game | None = None) -> str:
    """Return the whole report of a run of ``game`` (by default the usual one) as HTML."""
    game = game or load_game(DEFAULT_GAME)
    outputs = {kind.name: kind.outputs for kind in game.decisions}
    shown = sections(
        "run",
        results=results,
        matches=report_matches,
        nets=report_nets,
        self_play=report_self_play,
        titles=AGENT_TITLES,
        places=list(PLACES),
        outputs=outputs,
        game_page=PAGE_FILE,
    )
    words = {"hanchans": game.scoring.games, "Hanchans": game.scoring.games.capitalize()}
    shown = [(heading, re.sub("[Hh]anchans", lambda found: words[found[0]], body)) for heading, body in shown]
    told = run.summary.warnings if run.summary else ()
    return run.page(explained(shown), warnings=_warnings(results, told), figures=main_figures(results))


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
    for result in results.of_self_play:
        if faults := report_self_play.faults(result):
            found.append(f"Faults during self-play: {faults}.")
    return found


def main_figures(results: Results) -> list[tuple[str, str]]:
    """Return the figures of the run as (figure, what it is): first how strong its agent is, then what it learned."""
    figures = []
    for name, (*_, match) in report_self_play.matches_by_opponent(results.self_play).items():
        measure = measure_of(match)
        what = "placements" if measure is PLACEMENT else measure.unit
        told = f"{what} against {_OF_SELF_PLAY.get(name, name)}; {measure.better_sign} is better"
        figures.append((difference(match["difference"], 2), told))
    if not results.supervised:
        return figures  # the other sections begin with their own figures
    for key, what in (("games", "games learned from"), ("decisions", "decisions in them")):
        figures += [(number(results.records[key]), what)] if key in results.records else []
    if results.match and not results.has_later_nets:
        figures.append(report_matches.main_figure(results.match))
    for head, net in results.supervised.items():
        share = net["test"].get("majority_accuracy")
        if percent(share) != percent(1.0):  # else one answer is right for all samples, which says nothing of the net
            answer = "" if share is None else f" (most frequent answer: {percent(share)})"
            figures.append((percent(net["test"].get("accuracy")), f"{head}: test accuracy{answer}"))
    return figures


def _read(folder: Path | None, name: str) -> dict[str, Any]:
    path = None if folder is None else folder / name
    return {} if path is None or not path.is_file() else read_json(path)


@cache
def _words() -> dict[str, str]:
    text = resources.files("suphx_pipelines.report").joinpath("template", "words.json").read_text(encoding="utf-8")
    words: dict[str, str] = parse_json(text)
    return words


def explained(shown: Sections) -> Sections:
    """Return sections with links to the words in them that need an explanation, and one that explains these."""
    found: set[str] = set()
    linked = []
    for heading, body in shown:
        text = html.unescape(re.sub(r"<[^>]*>", " ", f"{heading} {body}")) if body else ""
        own = [word for word in _words() if re.search(rf"\b{word}", text, re.IGNORECASE)]
        found.update(own)
        links = ", ".join(f'<a href="#word-{word}">{word}</a>' for word in own)
        linked.append((heading, f'{body}<p class="soft">Words: {links}</p>\n' if own else body))
    meanings = (
        f'<div class="whole"><dt id="word-{word}">{word}</dt><dd>{html.escape(meaning)}</dd></div>'
        for word, meaning in _words().items()
        if word in found
    )
    return [*linked, ("Words", f'<dl class="facts">{"".join(meanings)}</dl>\n')] if found else linked
