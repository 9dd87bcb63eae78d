"""The report stage of a tournament: leaderboard as page, picture and table, and what was decided.

Reads ``pool.json``, ``table.json``, ``decision.json`` and ``promotion.json``; their keys stand in
docs/architecture.md.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.match_config import few_games_note
from suphx_pipelines import report_figure, report_page
from suphx_pipelines.json_file import read_json
from suphx_pipelines.provenance import environment
from suphx_pipelines.recipe_file import to_toml
from suphx_pipelines.report_number import decimal, interval, number
from suphx_pipelines.tournament_pool import POOL_NAME, Context

REPORT_NAME = "report.html"
TABLE_NAME, DECISION_NAME, PROMOTION_NAME = "table.json", "decision.json", "promotion.json"
LEADERBOARD_NAMES = ("leaderboard.svg", "leaderboard.csv")

Row = Mapping[str, Any]


def run(context: Context) -> dict[str, float]:
    """Write the page, the picture and the table into the stage's folder."""
    folders = context.upstream
    pool = read_json(folders["pool"] / POOL_NAME)
    table = read_json(folders["round_robin"] / TABLE_NAME)
    decision = read_json(folders["decision"] / DECISION_NAME)
    promotion = read_json(folders["promotion"] / PROMOTION_NAME)
    picture = report_figure.leaderboard(table["agents"])
    sections = [
        ("Decision", _decision(decision, promotion)),
        ("Leaderboard", _leaderboard(table, picture) + _left_out(pool["left_out"])),
        ("Recipe", report_page.preformatted(to_toml(context.recipe))),
        ("Machine", report_page.facts(environment())),
    ]
    page = report_page.page(f"Suphx: {context.recipe.name}", f"Tournament of {context.recipe.night}", sections)
    write_atomically(context.folder / REPORT_NAME, [page.encode()])
    svg, text = LEADERBOARD_NAMES
    write_atomically(context.folder / svg, [base64.b64decode(picture.partition(",")[2])])
    write_atomically(context.folder / text, [_csv(table["agents"]).encode()])
    return {"bytes": len(page)}


def reason(decision: Mapping[str, Any], *, is_promoted: bool) -> str:
    """Return one sentence that says why the champion's alias has moved or not."""
    candidate, opponent, match = decision["candidate"], decision["opponent"], decision["match"]
    if candidate is None:
        return "no promotion: no checkpoint is new, give pool.newest_from a folder or storage of runs"
    if match is None:
        told = f"{candidate} is the first that played"
    else:
        found = match["paired_difference"]
        figures = f"{found['average_placement']:+.3f} ({interval(found['interval'], 3)})"
        told = f"{candidate} against three {opponent}: placement {figures} over {match['hanchans']:,} hanchans"
        told += few_games_note(match["hanchans"])
    if is_promoted:
        return f"new champion: {told}"
    why = "another promotion of this night was first, or the alias was moved" if decision["is_won"] else "no win"
    return f"no promotion ({why}): {told}"


def _decision(decision: Mapping[str, Any], promotion: Mapping[str, Any]) -> str:
    tiles = [(promotion["champion"] or "none", "champion"), ("yes" if promotion["promoted"] else "no", "promoted")]
    match = decision["match"]
    if match is not None:
        tiles.append((decimal(match["paired_difference"]["average_placement"], 3), "paired difference"))
    text = "A candidate wins if the 95 % interval of its placement minus the champion's is all below zero."
    body = report_page.tiles(tiles) + report_page.paragraph(promotion["reason"])
    return body + report_page.paragraph(text, is_soft=True)


def _leaderboard(table: Mapping[str, Any], picture: str) -> str:
    columns = ("agent", "rating", "95 % interval", "hanchans", "placement", "stable rank", "against the champion")
    caption = f"All lineups of four agents on the same {table['walls']} walls, four rotations of the seats each."
    rows = [_cells(row) for row in table["agents"]]
    body = report_page.table(columns, rows, caption=caption)
    colours = "Orange: the champion; green: candidates."
    told = f"Ratings (Plackett-Luce) with 95 % intervals of a bootstrap over walls: one of twenty misses. {colours}"
    return body + report_page.figure(picture, told)


def _cells(row: Row) -> list[str]:
    against = row["against_champion"]
    part = " (champion)" if row["is_champion"] else " (candidate)" if row["is_candidate"] else ""
    return [
        row["name"] + part,
        decimal(row["rating"]),
        interval(row["interval"]),
        number(row["hanchans"]),
        decimal(row["average_placement"], 3),
        decimal(row["stable_rank"]),
        f"{against['difference']:+.3f} ({interval(against['interval'], 3)})" if against else "–",
    ]


def _left_out(reasons: Mapping[str, str]) -> str:
    rows = list(reasons.items())
    return report_page.table(("did not play", "because"), rows, is_text=True) if rows else ""


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    names = ["name", "rating", "low", "high", "hanchans", "average_placement", "stable_rank"]
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "low": row["interval"][0], "high": row["interval"][1]})
    return text.getvalue()
