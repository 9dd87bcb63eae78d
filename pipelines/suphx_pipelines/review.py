"""The page of a review: agreement by group, and the decisions in which the agent differs, with links to the games."""

from __future__ import annotations

import html
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
from suphx_pipelines.runs.run_origin import RECIPE_FILE
from suphx_pipelines.stages.records import COPIES_FILE, STORE_FOLDER

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
    store = open_store(run / _RECORDS / STORE_FOLDER, "riichi")
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

    ``cost``: the ``cost_summary`` of the decisions, if costs were estimated; then the differences are the costliest.
    ``note``: a sentence below the title, such as how many games are held out.
    """
    shown = report_page.sections(
        "review", groups=agreement_table(decisions), differences=differences, pages=pages, cost=cost
    )
    games = len({one.game for one in decisions})
    head = f"<p>{html.escape(note)}</p>\n" if note else ""
    return report_page.page(f"Review by {agent}", f"{games:,} games", head, shown)
