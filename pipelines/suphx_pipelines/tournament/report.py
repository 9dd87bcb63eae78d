"""The page of a night: the report of a tournament, which is also written while games come in (``LivePage``).

The report stage reads ``pool.json``, ``table.json``, ``decision.json``, ``promotion.json`` and ``game.html``; their
keys are in docs/result_files.md. It leaves ``report.html``, and ``mlflow/report.html``, without links, for MLflow.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.match_config import MIN_CLUSTERS, chosen_seatings
from suphx_pipelines.charts.comparison_charts import PLACES, interval_chart, pairing_chart
from suphx_pipelines.charts.comparison_charts import Row as Line
from suphx_pipelines.charts.line_chart import Curve, curve_figure
from suphx_pipelines.charts.plot import Figure, files
from suphx_pipelines.json_file import read_json
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_matches import places_figure
from suphx_pipelines.report.report_page import Run, Sections, Titled, interval, number, short_names
from suphx_pipelines.runs.stage import TRACKED_FOLDER
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.tournament.history import LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.kind import POOL, POOL_NAME, Context, Kind, kind_of
from suphx_pipelines.tournament.match_texts import DECISION, DECISION_NAME, Decision, Row, rating_scale
from suphx_pipelines.viewer.viewer_page import PAGE_FILE

GAME = "sample_game"
PROMOTION, PROMOTION_NAME = "promotion", "promotion.json"
TRACKED_REPORT = f"{TRACKED_FOLDER}/{REPORT_NAME}"
LIVE_NAME, CSV_NAME = "live.html", "leaderboard.csv"
PICTURES = ("*.svg", CSV_NAME)
RELOAD_SECONDS = 10
TRACKED_SECONDS = 60
"""Between two copies for MLflow."""
_PAUSE_SHARE = 20
"""A page is written again after so many times the time that it took: 5 % of one core at most."""
_LINK = re.compile(r'<a href="(?!https?:|#)[^"]*">(.*?)</a>', re.DOTALL)
_MOST_LINES = 6
_PART_COLOURS = {"champion": 1, "candidate": 2, "": 0}


def run(context: Context) -> dict[str, float]:
    """Write the page, the pages of games, the pictures and the table into the stage's folder."""
    folders, kind = context.upstream, kind_of(context.recipe)
    pool = read_json(folders[POOL] / POOL_NAME)
    table = read_json(folders[LEADERBOARD] / TABLE_NAME)
    decision = read_json(folders[DECISION] / DECISION_NAME)
    promotion = read_json(folders[PROMOTION] / PROMOTION_NAME)
    has_game = (folders[GAME] / PAGE_FILE).is_file()  # there is none if no agent with nets has played
    if has_game:
        shutil.copyfile(folders[GAME] / PAGE_FILE, context.folder / PAGE_FILE)
    about = Run.of(context.folder.parent, context.recipe, kind.texts.verdict(table, decision, promotion))
    sections = night_sections(
        kind,
        table,
        decision,
        game_page=PAGE_FILE if has_game else "",
        shown_games=kind.match_pages(context, decision),
        left_out=pool["left_out"],
    )
    page = about.page(sections, subtitle=f"tournament of {context.recipe.night}")
    write_atomically(context.folder / REPORT_NAME, [page.encode()])
    _write_copy(context, REPORT_NAME, page)
    for name, picture in files({f"{name}.svg": figure for name, figure in pictures(kind, table).items()}).items():
        write_atomically(context.folder / name, [picture])
    text, lines = io.StringIO(), []
    for row in table["agents"]:
        low, high = row["interval"] or (None, None)
        line = {"name": row["name"], "rating": row["rating"], "low": low, "high": high, "games": row["games"]}
        lines.append(line | {column.key: column.value(row) for column in kind.columns if column.key})
    writer = csv.DictWriter(text, list(lines[0]))
    writer.writeheader()
    writer.writerows(lines)
    write_atomically(context.folder / CSV_NAME, [text.getvalue().encode()])
    return {"bytes": len(page.encode())}


def night_sections(
    kind: Kind,
    table: Row,
    decision: Decision | None = None,
    *,
    is_live: bool = False,
    game_page: str = "",
    shown_games: Mapping[str, Any] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> Sections:
    """Return the sections of a night so far; ``table``: of its leaderboard. ``is_live``: the decision is being made."""
    names = short_names([row["name"] for row in table["agents"]])
    test = (decision or {}).get("test") or {}
    agents = list(zip(names, table["agents"], strict=True))
    counts = [(name, row.get("placements", ())) for name, row in agents]
    styles = [(name, row["style"]) for name, row in agents if row.get("style")]
    return report_page.sections(
        "tournament",
        kind=kind,
        board=table,
        names=names,
        decision=decision,
        seating=chosen_seatings(test["seating"])[0] if "seating" in test else "",
        is_live=is_live,
        is_short=table["deals"] < MIN_CLUSTERS and not table["earlier_games"],
        least=MIN_CLUSTERS,
        pictures=pictures(kind, table),
        placements=places_figure(counts, "Placements of the agents", "Dashed: equal players."),
        cells=_board_cells(kind, table["agents"], names),
        styles=[(name, own) for name, own in styles if set(own.values()) != {None}],  # those that have played tonight
        places=PLACES,
        game_page=game_page,
        shown_games=shown_games,
        left_out=left_out,
    )


def pictures(kind: Kind, table: Row) -> dict[str, Figure]:
    """Return the pictures of a leaderboard by name."""
    names = short_names([row["name"] for row in table["agents"]])
    before = "How many of 100 common games the agent of the row came before that of the column, in all nights."
    pairings, legend = "Who comes before whom", [("k2", "before more often"), ("k1", "behind more often")]
    return {
        "leaderboard": ratings_figure(table, names, clusters=kind.deals),
        "nights": nights_figure(table, names),
        "pairings": Figure(pairing_chart(table["pairings"], names, pairings), pairings, before, legend),
    }


def _board_cells(kind: Kind, rows: Sequence[Row], names: Sequence[str]) -> tuple[list[str], list[list[str | Titled]]]:
    cells = [
        {
            "rating": number(row["rating"]),
            "95 % interval": interval(row["interval"], 0),
            kind.games: number(row["games"]),
            **{column.title: column.text(column.value(row)) for column in kind.columns},
        }
        for row in rows
    ]
    shown = [name for name in cells[0] if any(cell[name] != "–" for cell in cells)]
    table: list[list[str | Titled]] = []
    for row, name, cell in zip(rows, names, cells, strict=True):
        title = Titled(f"{name} ({part})" if (part := _part(row)) else name, row["name"])
        table.append([title, *(cell[column] for column in shown)])
    return ["agent", *shown], table


def _write_copy(context: Context, name: str, page: str) -> Path:
    """Write a page as MLflow gets it: without its links to other files, which are not beside it there."""
    copy = context.folder / TRACKED_FOLDER / name
    copy.parent.mkdir(exist_ok=True)
    write_atomically(copy, [_LINK.sub(r"\1", page).encode()])
    return copy


Content = Callable[[], tuple[str, Sections]]


class LivePage:
    """Consumes: what a stage shows. Produces: ``live.html`` every ten seconds at most, and a copy for MLflow.

    The copy is an artifact of the tournament's run, so the page of a later stage replaces that of an earlier one. A
    thread of the tracker sends it: games never wait for it. While MLflow is unavailable no copies are queued.
    """

    def __init__(self, context: Context, about: str, *, links_decision: bool = False) -> None:
        """``about``: what the page shows, for the console."""
        self._context, self._about = context, about
        self._path = context.folder / LIVE_NAME
        self._tracker = context.tracker.parent or context.tracker
        self._next = self._next_copy = 0.0
        """Times from which on the page and the copy are written again."""
        self._links = {f"../{DECISION}/{LIVE_NAME}": "The deciding match, live"} if links_decision else {}
        self._links["../report/report.html"] = "The report of the night (report.html), when the tournament is over"

    def offer(self, content: Content) -> None:
        """Write the page if it is time."""
        started = time.monotonic()
        if started < self._next:
            return
        is_first = self._next == 0
        text, sections = content()
        page = self._page(text, sections, f"This page reloads every {RELOAD_SECONDS} seconds.")
        reloading = f'<meta http-equiv="refresh" content="{RELOAD_SECONDS}"><title>'
        write_atomically(self._path, [page.replace("<title>", reloading, 1).encode()])
        if started >= self._next_copy and not self._tracker.figures()["tracking_outage_seconds"]:
            note = (
                f"Written at {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. MLflow gets a new page about every "
                f"{TRACKED_SECONDS} seconds: reload MLflow's page to see it."
            )
            self._send(self._page(text, sections, note))
            self._next_copy = started + TRACKED_SECONDS
        if is_first:
            text = f"{self._about}, live: {self._path.resolve().as_uri()}, and {LIVE_NAME} of the run in MLflow"
            self._context.console.say(text)
        spent = time.monotonic() - started
        self._next = started + max(RELOAD_SECONDS, _PAUSE_SHARE * spent)

    def write_last(self, content: Content) -> None:
        """Write the page with all games; it reloads no more."""
        page = self._page(*content())
        write_atomically(self._path, [page.encode()])
        self._send(page)

    def _send(self, page: str) -> None:
        self._tracker.log_artifact(_write_copy(self._context, LIVE_NAME, page))

    def _page(self, text: str, sections: Sections, note: str = "") -> str:
        head = report_page.piece("live", text, note, {} if note else self._links)
        recipe = self._context.recipe
        subtitle = f"tournament of {recipe.night}{', live' if note else ''}"
        return report_page.page(f"Suphx: {recipe.name}", subtitle, head, sections)


def ratings_figure(table: Mapping[str, Any], names: Sequence[str], *, clusters: str = "walls") -> Figure:
    """Return the ratings with their intervals; ``clusters``: what was drawn for them."""
    rows: Sequence[Row] = table["agents"]
    scale = rating_scale(table)
    lines = []
    for name, row in zip(names, rows, strict=True):
        low, high = row["interval"] or (None, None)
        note = number(row["rating"]) + (f" ({interval(row['interval'], 0)})" if row["interval"] else "")
        colour = _PART_COLOURS[_part(row)]
        lines.append(Line(name=name, value=row["rating"], low=low, high=high, colour=colour, note=note))
    parts = {_part(row) for row in rows}
    legend = [(f"k{colour}", part or "others") for part, colour in _PART_COLOURS.items() if part in parts]
    note = (
        f"{scale[0].upper() + scale[1:]}. 100 points more than another agent: "
        "comes before it in 64 of 100 games. "
        f"95 % intervals by bootstrap over {clusters}: about 1 in 20 misses the true value."
    )
    picture = interval_chart(lines, "Ratings of the agents", axis_title="rating")
    return Figure(picture, "Ratings", note, legend if parts - {""} else ())


def nights_figure(table: Mapping[str, Any], names: Sequence[str]) -> Figure:
    """Return the ratings of the strongest agents night by night; without a picture if there is no night."""
    nights, title = table["nights"], "Ratings over the nights"
    if not nights:
        return Figure("", title)
    curves = []
    for colour, (name, row) in enumerate(zip(names[:_MOST_LINES], table["agents"], strict=False)):
        known = [(index, night["ratings"][row["digest"]]) for index, night in enumerate(nights, 1)
                 if row["digest"] in night["ratings"]]  # fmt: skip
        points = [(float(index), rating) for index, (rating, _, _) in known]
        bounds = [(rating, rating) if low is None else (low, high) for _, (rating, low, high) in known]
        curves.append(Curve(name=name, points=points, intervals=bounds, colour=colour, has_dots=True))
    note = f"From {nights[0]['night']} to {nights[-1]['night']}. Each rating is from the games until then."
    return curve_figure(title, curves, note, has_legend=True, x_title="night")


def _part(row: Row) -> str:
    return "champion" if row.get("is_champion") else "candidate" if row.get("is_candidate") else ""
