"""The page of a review: agreement by group, and the decisions in which the agent differs, with links to the games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from suphx.evaluation.review import ReviewedDecision, agreement_table
from suphx.training.head_data import open_store, split_by_game
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import load_config
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import number
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.stages.riichi_records import COPIES_FILE, STORE_FOLDER

_RECORDS = "records"


@dataclass(frozen=True, slots=True)
class TrainingGames:
    """The games of records that a run learned from, and those that it kept for its test."""

    learned: frozenset[str] = frozenset()
    """Ids of the games for training and validation."""
    test: frozenset[str] = frozenset()
    """Ids of the games for the test."""

    def is_held_out(self, game_id: str) -> bool:
        """Tell whether the run has not learned from the game: it is of the test, or not among the run's records."""
        return game_id not in self.learned


def run_of_nets(nets: Path) -> Path | None:
    """Return the folder of the run that has the folder ``nets``; None if it is not in a run."""
    folders = nets.resolve().parents
    return next((folder for folder in folders if (folder / RECIPE_FILE).is_file()), None)


def games_of_run(run: Path) -> TrainingGames:
    """Return the games that the run in the folder ``run`` learned from, split as for its training.

    A run without a records stage has learned from none. ValueError if its recipe or its games cannot be read, or its
    nets began as those of another run.
    """
    recipe = load_config(Recipe, run / RECIPE_FILE)
    if recipe.initial_agent:
        raise ValueError(f"it began with the nets of {recipe.initial_agent}; name the run that trained these")
    if recipe.reinforcement.start == "random" and not (run / _RECORDS).is_dir():
        return TrainingGames()
    store = open_store(run / _RECORDS / STORE_FOLDER)
    ids = np.array(store.game_ids)
    split = split_by_game(store.game_ids, np.arange(store.num_games), recipe.split)
    learned = set(ids[np.concatenate([split.train, split.validation])].tolist())
    path = run / _RECORDS / COPIES_FILE
    copies = read_json(path) if path.is_file() else {}  # an earlier version has none
    learned |= {copy for copy, stored in copies.items() if stored in learned}
    return TrainingGames(frozenset(learned), frozenset(ids[split.test].tolist()))


def review_page(
    agent: str,
    decisions: Sequence[ReviewedDecision],
    differences: Sequence[ReviewedDecision],
    pages: Mapping[str, str],
    cost: Mapping[str, Any] | None = None,
    *,
    note: str = "",
) -> str:
    """Return one HTML page; ``pages``: file name of a game's viewer page beside it, by the game's id.

    ``cost``: the ``cost_summary`` of the decisions, if costs were estimated; the differences then are the dearest ones.
    ``note``: a sentence below the title, such as how many games are held out.
    """
    rows = [(row["group"], number(row["decisions"]), f"{row['agreement']:.1%}") for row in agreement_table(decisions)]
    agreement = report_page.table(("decisions", "number", "agreement"), rows)
    order = "of which the agent is surest" if cost is None else "with the largest estimated costs"
    about = f"The {len(differences)} differences {order}."
    if cost is None and all(one.agent_probability is None for one in differences):
        about = f"The first {len(differences)} differences; the agent gives no probabilities."
    unit = "" if cost is None else str(cost["unit"])
    body = report_page.paragraph(about, is_soft=True) + "".join(_difference(one, pages, unit) for one in differences)
    sections = [("Agreement", agreement), ("Differences", body if differences else "")]
    if cost is not None:
        sections.insert(1, ("Cost", _cost(cost)))
    games = len({one.game for one in decisions})
    return report_page.page(
        f"Review by {agent}", f"{number(games)} games", report_page.paragraph(note) if note else "", sections
    )


def _cost(cost: Mapping[str, Any]) -> str:
    """Return what the differences cost together, and how the estimates are to be read."""
    low, high = cost["interval"]
    total = (
        f"The {number(cost['differences'])} differences cost {cost['total']:+,.1f} {cost['unit']} in all "
        f"(95 % interval {low:+,.1f} to {high:+,.1f}), {cost['per_game']:+,.1f} per game."
    )
    how = (
        f"For each difference, what the player could not see was dealt again at random {number(cost['samples'])} "
        "times. The agent "
        "played on to the end of the deal, after the played move and after its own. Above zero, its own move was worth "
        "more. The largest of many estimates are too large on average: read the intervals."
    )
    return report_page.paragraph(total) + report_page.paragraph(how, is_soft=True)


def _difference(one: ReviewedDecision, pages: Mapping[str, str], unit: str) -> str:
    """Return a decision that opens to all legal moves."""
    title = (
        f"{one.game}, {one.deal}, turn {one.turn}, {one.player}: played {one.played} "
        f"({_percent(one.played_probability)}), the agent prefers {one.agent} ({_percent(one.agent_probability)})"
    )
    if one.cost is not None:
        low, high = one.cost.interval.low, one.cost.interval.high
        title = f"{one.cost.mean:+,.1f} {unit} ({low:+,.1f} to {high:+,.1f}): {title}"
    moves = report_page.table(("move", "probability"), [(name, _percent(chance)) for name, chance in one.moves])
    page = pages.get(one.game)
    link = f'<p><a href="{report_page.escape(page)}#{one.address}">Show the table</a></p>\n' if page else ""
    return report_page.folded(title, link + moves)


def _percent(chance: float | None) -> str:
    return "–" if chance is None else f"{chance:.1%}"
