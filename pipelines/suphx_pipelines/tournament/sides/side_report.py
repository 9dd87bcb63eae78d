"""The report stage of a tournament in a game of two sides: the leaderboard as page, pictures and table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from suphx.atomic_file import write_atomically
from suphx_pipelines.json_file import read_json
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import interval, number
from suphx_pipelines.runs.provenance import environment
from suphx_pipelines.runs.verdict import Verdict
from suphx_pipelines.tournament.candidate_promotion import PROMOTION_NAME
from suphx_pipelines.tournament.live_page import Sections
from suphx_pipelines.tournament.pool.tournament_history import LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.pool.tournament_pool import POOL_NAME
from suphx_pipelines.tournament.rating_figures import rating_scale
from suphx_pipelines.tournament.sides import side_decision_page, side_game, side_page
from suphx_pipelines.tournament.sides.side_decision_page import decision_section
from suphx_pipelines.tournament.sides.side_pool import SideContext
from suphx_pipelines.tournament.tournament_report import (
    CSV_NAME,
    DECISION_NAME,
    copy_game,
    game_link,
    last_sections,
    write_pages,
)
from suphx_pipelines.viewer.viewer_page import PAGE_FILE

_WATCH = "Watch both games of a deck of the strongest nets, with the values of the best moves"
FILES: Mapping[str, str] = {
    "report.html": "one self-contained page",
    "mlflow/report.html": "the same page without links to other files, which MLflow gets",
    "game.html": "the page in `sample_game/`",
    "leaderboard.csv": "the leaderboard",
    "leaderboard.svg, nights.svg, pairings.svg": "the report's figures",
}
"""What the stage writes into its folder (docs/result_files.md)."""


def run(context: SideContext) -> dict[str, float]:
    """Write the page, the pictures and the table into the stage's folder."""
    pool = read_json(context.upstream["pool"] / POOL_NAME)
    table = read_json(context.upstream[LEADERBOARD] / TABLE_NAME)
    decision = read_json(context.upstream["decision"] / DECISION_NAME)
    promotion = read_json(context.upstream["promotion"] / PROMOTION_NAME)
    head = report_page.verdict_card(verdict(table, decision, promotion))
    head += report_page.run_head(context.folder.parent, environment())

    has_game = copy_game(context, context.upstream[side_game.STAGE_NAME] / PAGE_FILE)

    def sections(has_links: bool) -> Sections:
        watched = game_link(_WATCH, PAGE_FILE, has_links=has_links) if has_game else ""
        decided = decision_section(decision)
        return [
            *([("Decision", decided)] if decided else []),
            *side_page.sections(table, has_links=has_links),
            *([("A game to look at", watched)] if watched else []),
            *last_sections(context, pool["left_out"]),
        ]

    size = write_pages(context, head, sections)
    for name, picture in side_page.pictures(table).items():
        write_atomically(context.folder / name, [picture])
    write_atomically(context.folder / CSV_NAME, [_csv(table).encode()])
    return {"bytes": size}


def verdict(table: Mapping[str, Any], decision: Mapping[str, Any], promotion: Mapping[str, Any]) -> Verdict:
    """Return what was decided, or, if there was no candidate, who has the highest rating.

    The rating of the anchor is always the same, so the next one is named too.
    """
    if decision["candidate"] is not None:
        return side_decision_page.verdict(decision, promotion)
    first, second, *_ = table["agents"]
    if first["name"] == table["anchor"]:
        sentence = f"The highest rating: {first['name']} (always 1,000), then {_rated(second)}."
    else:
        sentence = f"The highest rating: {_rated(first)}, where {rating_scale(table)}."
    return Verdict(outcome="none", sentence=sentence)


def _rated(row: Mapping[str, Any]) -> str:
    bounds = f"95 % interval {interval(row['interval'], 0)}" if row["interval"] else "one deck, no interval"
    return f"{row['name']} with {number(row['rating'])} ({bounds})"


def _csv(table: Mapping[str, Any]) -> str:
    text = io.StringIO()
    sides = list(table["agents"][0]["sides"])
    names = ["name", "rating", "low", "high", "games", *(f"{key}_{side}" for side in sides for key in ("wp", "adp"))]
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    for row in table["agents"]:
        figures = {f"{key}_{side}": row["sides"][side][key] for side in sides for key in ("wp", "adp")}
        low, high = row["interval"] or (None, None)
        writer.writerow({**row, **figures, "low": low, "high": high})
    return text.getvalue()
