"""The report stage of a tournament: leaderboard as page, pictures and table, and what was decided.

Reads ``pool.json``, ``table.json``, ``decision.json``, ``promotion.json`` and ``game.html``; their keys stand in
docs/result_files.md. Leaves them as ``report.html``, and as ``mlflow/report.html``, without links, for MLflow.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Mapping

from suphx.atomic_file import write_atomically
from suphx_pipelines.json_file import read_json
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_matches import match_links
from suphx_pipelines.report.report_page import Run
from suphx_pipelines.runs.stage import TRACKED_FOLDER
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.tournament import leaderboard
from suphx_pipelines.tournament.entrants import POOL, POOL_NAME
from suphx_pipelines.tournament.history import LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.kind import Context, Kind, kind_of
from suphx_pipelines.tournament.match_texts import DECISION, DECISION_NAME
from suphx_pipelines.tournament.pages import Row, Sections, without_links
from suphx_pipelines.tournament.promotion import PROMOTION_NAME
from suphx_pipelines.viewer.viewer_page import PAGE_FILE

GAME = "sample_game"
PROMOTION = "promotion"
TRACKED_REPORT = f"{TRACKED_FOLDER}/{REPORT_NAME}"
CSV_NAME = "leaderboard.csv"
PICTURES = ("*.svg", CSV_NAME)
"""The tables and pictures of the page as files."""


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
    about = Run.of(context.folder.parent, context.recipe, kind.texts.verdict(table, decision, promotion))
    sample = report_page.link(kind.game_text, PAGE_FILE) if has_game else ""
    sections: Sections = [
        ("Decision", kind.texts.section(decision)),
        *leaderboard.sections(kind, table),
        ("Games to look at", sample + match_links(games)),
        ("Left out", _left_out(pool["left_out"])),
    ]
    page = about.page(sections, subtitle=f"tournament of {context.recipe.night}")
    (context.folder / TRACKED_FOLDER).mkdir(exist_ok=True)
    write_atomically(context.folder / REPORT_NAME, [page.encode()])
    write_atomically(context.folder / TRACKED_REPORT, [without_links(page).encode()])
    for name, picture in leaderboard.pictures(kind, table).items():
        write_atomically(context.folder / name, [picture])
    write_atomically(context.folder / CSV_NAME, [_csv(kind, table["agents"]).encode()])
    return {"bytes": len(page.encode())}


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
