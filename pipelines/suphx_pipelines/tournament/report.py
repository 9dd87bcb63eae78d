"""The report stage of a tournament: leaderboard as page, pictures and table, and what was decided.

Reads ``pool.json``, ``table.json``, ``decision.json``, ``promotion.json`` and ``game.html``; their keys stand in
docs/result_files.md. Leaves them as ``report.html``, and as ``mlflow/report.html``, without links, for MLflow.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Mapping
from typing import Any

from suphx.atomic_file import write_atomically
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_pipelines.report import report_page, report_riichi_game
from suphx_pipelines.runs.provenance import environment
from suphx_pipelines.runs.stage import TRACKED_FOLDER
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.tournament import leaderboard
from suphx_pipelines.tournament.entrants import POOL, POOL_NAME
from suphx_pipelines.tournament.history import LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.kind import DECISION, DECISION_NAME, Context, Kind
from suphx_pipelines.tournament.kinds import kind_of
from suphx_pipelines.tournament.pages import Row, Sections
from suphx_pipelines.tournament.promotion import PROMOTION_NAME
from suphx_pipelines.viewer.viewer_page import PAGE_FILE

GAME = "sample_game"
PROMOTION = "promotion"
TRACKED_REPORT = f"{TRACKED_FOLDER}/{REPORT_NAME}"
CSV_NAME = "leaderboard.csv"
PICTURES = ("*.svg", CSV_NAME)
"""The tables and pictures of the page as files."""
FILES: Mapping[str, str] = {
    "report.html": "one self-contained page",
    "mlflow/report.html": "the same page without links to other files, which MLflow gets",
    "leaderboard.csv": "the leaderboard",
}
"""What the stage writes into its folder (docs/result_files.md), beside what its kind of games leaves."""


def run(context: Context) -> dict[str, float]:
    """Write the page, the pages of games, the pictures and the table into the stage's folder."""
    folders, kind = context.upstream, kind_of(context.recipe)
    pool = read_json(folders[POOL] / POOL_NAME)
    table = read_json(folders[LEADERBOARD] / TABLE_NAME)
    decision = read_json(folders[DECISION] / DECISION_NAME)
    promotion = read_json(folders[PROMOTION] / PROMOTION_NAME)
    games = kind.decision_pages(context, decision)
    has_game = (folders[GAME] / PAGE_FILE).is_file()  # there is none if no agent with nets has played
    if has_game:
        shutil.copyfile(folders[GAME] / PAGE_FILE, context.folder / PAGE_FILE)
    head = report_page.verdict_card(kind.verdict(table, decision, promotion))
    head += report_page.run_head(context.folder.parent, environment())
    settings = report_page.folded("The whole recipe", report_page.preformatted(to_toml(context.recipe)))
    size = 0
    for path, has_links in ((REPORT_NAME, True), (TRACKED_REPORT, False)):
        sections: Sections = [
            ("Decision", kind.section(decision)),
            *leaderboard.sections(kind, table, has_links=has_links),
            (kind.game_title, _games(kind, games, has_game=has_game, has_links=has_links)),
            ("Left out", _left_out(pool["left_out"])),
            ("Settings", report_page.facts(environment()) + settings),
        ]
        title, about = f"Suphx: {context.recipe.name}", f"tournament of {context.recipe.night}"
        page = report_page.page(title, about, head, sections).encode()
        (context.folder / path).parent.mkdir(exist_ok=True)
        write_atomically(context.folder / path, [page])
        size = max(size, len(page))
    for name, picture in leaderboard.pictures(kind, table).items():
        write_atomically(context.folder / name, [picture])
    write_atomically(context.folder / CSV_NAME, [_csv(kind, table["agents"]).encode()])
    return {"bytes": size}


def _games(kind: Kind, games: Mapping[str, Any], *, has_game: bool, has_links: bool) -> str:
    """Return links to the pages of games beside the report; without links, where the pages are."""
    text = kind.game_text
    link = report_page.link(text, PAGE_FILE)
    sample = link if has_links else report_page.paragraph(f"{text}: open {PAGE_FILE} beside this page.")
    return (sample if has_game else "") + report_riichi_game.match_links(games, has_links=has_links)


def _left_out(reasons: Mapping[str, str]) -> str:
    """Return the agents that did not play, with the reasons; empty if all played."""
    rows = list(reasons.items())
    return report_page.table(("did not play", "reason"), rows, is_text=True) if rows else ""


def _csv(kind: Kind, rows: list[Row]) -> str:
    text = io.StringIO()
    lines = [
        {"name": row["name"], "rating": row["rating"], "low": low, "high": high, **kind.csv_row(row)}
        for row in rows
        for low, high in [row["interval"] or (None, None)]
    ]
    writer = csv.DictWriter(text, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
