"""The report stage of a tournament: leaderboard as page, picture and table, and what was decided.

Reads ``pool.json``, ``table.json``, ``decision.json`` and ``promotion.json``; their keys stand in
docs/architecture.md.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from suphx.atomic_file import write_atomically
from suphx_pipelines.charts.interval_chart import Row as Line
from suphx_pipelines.charts.interval_chart import interval_chart
from suphx_pipelines.charts.placement_chart import placement_chart
from suphx_pipelines.engine.json_file import read_json
from suphx_pipelines.engine.provenance import environment
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_pipelines.report import report_page, report_summary
from suphx_pipelines.report.report_match import PLACE_LEGEND
from suphx_pipelines.report.report_name import short_names
from suphx_pipelines.report.report_number import decimal, difference, interval, number, stable_rank
from suphx_pipelines.summary.run_summary import RunSummary
from suphx_pipelines.summary.verdict import Outcome, Verdict
from suphx_pipelines.tournament.tournament_pool import POOL_NAME, Context

REPORT_NAME = "report.html"
TABLE_NAME, DECISION_NAME, PROMOTION_NAME = "table.json", "decision.json", "promotion.json"
LEADERBOARD_NAMES = ("leaderboard.svg", "leaderboard.csv")

Row = Mapping[str, Any]


def run(context: Context) -> dict[str, float]:
    """Write the page, the picture and the table into the stage's folder."""
    folders = context.upstream
    pool = read_json(folders["pool"] / POOL_NAME)
    table = read_json(folders["leaderboard"] / TABLE_NAME)
    decision = read_json(folders["decision"] / DECISION_NAME)
    promotion = read_json(folders["promotion"] / PROMOTION_NAME)
    rows = table["agents"]
    sections = [
        ("Leaderboard", _leaderboard(table) + _left_out(pool["left_out"])),
        *([("Decision", _decision(decision))] if decision["test"] else []),
        ("Settings", _settings(context)),
    ]
    head = report_summary.verdict_card(verdict(decision, promotion))
    head += report_summary.run_facts(RunSummary.read(context.folder.parent), environment())
    title = f"Suphx: {context.recipe.name}"
    page = report_page.page(title, f"tournament of {context.recipe.night}", head, sections)
    write_atomically(context.folder / REPORT_NAME, [page.encode()])
    svg, text = LEADERBOARD_NAMES
    write_atomically(context.folder / svg, [_ratings(rows, is_file=True).encode()])
    write_atomically(context.folder / text, [_csv(rows).encode()])
    return {"bytes": len(page)}


def reason(decision: Mapping[str, Any], *, is_promoted: bool) -> str:
    """Return one sentence that says why the champion's alias has moved or not."""
    candidate, opponent, test = decision["candidate"], decision["opponent"], decision["test"]
    if candidate is None:
        return "no promotion: no checkpoint is new, give pool.newest_from a folder or storage of runs"
    if not decision["is_won"]:
        return f"no promotion: {candidate} did not beat {opponent}: {_stop_text(test)}"
    won = f"{candidate} is the first that played" if test is None else f"{candidate} beat {opponent}"
    figures = "" if test is None else f": {_fresh_text(decision['match'])}; decided after {number(test['hanchans'])}"
    if is_promoted:
        return f"new champion: {won}{figures}"
    return f"no promotion, another promotion of this night was first or the alias was moved; {won}{figures}"


def _fresh_text(match: Mapping[str, Any]) -> str:
    """Return the figures of the match on new walls."""
    places, points = match["paired_difference"], match["points_difference"]
    return (
        f"average placement {difference(places['average_placement'])} (95 % interval {interval(places['interval'], 3)})"
        f" and {difference(points['per_hanchan'], 1)} points per hanchan ({interval(points['interval'], 1)}) over "
        f"{match['hanchans']:,} hanchans on new walls"
    )


def _stop_text(test: Mapping[str, Any]) -> str:
    """Return why a match ended without a pass."""
    is_placement = test["decides"] == "placement"
    unit = "places" if is_placement else "points per hanchan"
    bounds = f"always-valid 95 % interval {interval(test['always_valid_interval'], 3 if is_placement else 1)} {unit}"
    played = f"{test['hanchans']:,} hanchans ({bounds})"
    if test["verdict"] == "undecided":
        return f"undecided after {played}, about {test['expected_hanchans']:,.0f} more are needed"
    return f"not better by {test['difference']:g} {unit}, decided after {played}"


def verdict(decision: Mapping[str, Any], promotion: Mapping[str, Any]) -> Verdict:
    """Return what was decided: with the figures of the match on new walls, or with the always-valid interval."""
    sentence = f"{promotion['reason'][:1].upper()}{promotion['reason'][1:]}."
    test, match = decision["test"], decision["match"]
    if test is None:
        return Verdict(outcome="better" if promotion["promoted"] else "none", sentence=sentence)
    if match is not None:
        found = match["paired_difference"]
        low, high = found["interval"]
        return Verdict(
            outcome="better",
            sentence=sentence,
            difference=found["average_placement"],
            low=low,
            high=high,
            hanchans=match["hanchans"],
        )
    low, high = test["always_valid_intervals"]["placement"]
    outcome: Outcome = "worse" if low > 0 else "undecided"
    return Verdict(outcome=outcome, sentence=sentence, low=low, high=high, hanchans=test["hanchans"])


def _leaderboard(table: Mapping[str, Any]) -> str:
    rows = table["agents"]
    names = short_names([row["name"] for row in rows])
    text = (
        f"Lineups of four agents played {number(table['walls'])} walls tonight, with four rotations of the seats each. "
        f"The figures are from these games and from {number(table['earlier_hanchans'])} games of earlier nights. "
        f"{names[0]} has the highest rating."
    )
    ratings = _ratings(rows)
    places = placement_chart(
        [(name, row["placements"]) for name, row in zip(names, rows, strict=True)], "Placements of the agents"
    )
    note = (
        f"{table['anchor']} has 1,000 points in all nights. 100 points more than another agent: "
        "comes before it in 64 of 100 games. "
        "95 % intervals by bootstrap over walls: about 1 in 20 misses the true value."
    )
    body = report_page.paragraph(text) + report_page.side_by_side(
        report_page.figure(ratings, "Ratings", note, _rating_legend(rows)),
        report_page.figure(places, "Placements", "Dashed: equal players.", PLACE_LEGEND),
    )
    columns = {"rating": "rating", "interval": "95 % interval", "hanchans": "hanchans",
               "placement": "average placement", "stable_rank": "stable rank (dan)",
               "champion": "against the champion", "forfeits": "forfeited games"}  # fmt: skip
    cells = [_cells(row) for row in rows]
    shown = [key for key in columns if any(row[key] != "–" for row in cells)]
    about = "Average placement: 2.50 is that of equal players, lower is better."
    if "champion" in shown:
        about += " Against the champion: difference of placements in their common games, with a 95 % interval."
    if "forfeits" in shown:
        about += " Forfeited games: the agent's program crashed, was late or answered what cannot be played."
    return body + report_page.table(
        ("agent", *(columns[key] for key in shown)),
        [(name, *(row[key] for key in shown)) for name, row in zip(_titled(rows, names), cells, strict=True)],
        about=about,
    )


def _decision(decision: Mapping[str, Any]) -> str:
    """Return the test of the deciding match and the figures that it gave."""
    test, match = decision["test"], decision["match"]
    bounds = test["always_valid_intervals"]
    rows = [
        ("average placement", interval(bounds["placement"], 3), *_fresh_cells(match, "paired_difference", 3)),
        ("points per hanchan", interval(bounds["points"], 1), *_fresh_cells(match, "points_difference", 1)),
    ]
    unit = "places" if test["decides"] == "placement" else "points per hanchan"
    text = (
        f"The match ({test['seating']}) was played until it was decided whether the candidate is better by "
        f"{test['difference']:g} {unit}, with at most {100 * test['error']:g} % errors of each kind: "
        f"{test['verdict'].replace('_', ' ')} after {number(test['hanchans'])} hanchans (log-likelihood ratio "
        f"{decimal(test['log_likelihood_ratio'])}; the match ends at ±{decimal(test['bound'])})."
    )
    about = f"Candidate minus opponent. Points for first to fourth place: {', '.join(map(str, test['points']))}."
    columns = ("difference", "always-valid 95 % interval", "on new walls", "95 % interval on new walls")
    shown = columns if match else columns[:2]
    return report_page.paragraph(text) + report_page.table(shown, [row[: len(shown)] for row in rows], about=about)


def _fresh_cells(match: Mapping[str, Any] | None, name: str, digits: int) -> tuple[str, str]:
    if match is None:
        return "–", "–"
    found = match[name]
    value = found["average_placement" if name == "paired_difference" else "per_hanchan"]
    return difference(value, digits), interval(found["interval"], digits)


def _cells(row: Row) -> dict[str, str]:
    against = row["against_champion"]
    return {
        "rating": number(row["rating"]),
        "interval": interval(row["interval"], 0),
        "hanchans": number(row["hanchans"]),
        "placement": decimal(row["average_placement"], 3),
        "stable_rank": stable_rank(row["stable_rank"], row.get("stable_rank_interval")),
        "forfeits": number(row["forfeits"]) if row["forfeits"] else "–",
        "champion": f"{difference(against['difference'])} ({interval(against['interval'], 3)})" if against else "–",
    }


def _titled(rows: Sequence[Row], names: Sequence[str]) -> list[report_page.Titled]:
    """Return short names with their part in the tournament; the mouse shows the full name."""
    return [
        report_page.Titled(f"{name} ({part})" if (part := _part(row)) else name, row["name"])
        for row, name in zip(rows, names, strict=True)
    ]


def _part(row: Row) -> str:
    return "champion" if row["is_champion"] else "candidate" if row["is_candidate"] else ""


_PART_COLOURS = {"champion": 1, "candidate": 2, "": 0}


def _ratings(rows: Sequence[Row], *, is_file: bool = False) -> str:
    names = short_names([row["name"] for row in rows])
    lines = [
        Line(name=name, value=row["rating"], low=row["interval"][0], high=row["interval"][1],
             colour=_PART_COLOURS[_part(row)], note=f"{number(row['rating'])} ({interval(row['interval'], 0)})")
        for name, row in zip(names, rows, strict=True)
    ]  # fmt: skip
    return interval_chart(lines, "Ratings of the agents", axis_title="rating", is_file=is_file)


def _rating_legend(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return a key for the parts that agents of this tournament have; none where nobody has one."""
    parts = {_part(row) for row in rows}
    return (
        [(f"k{colour}", part or "others") for part, colour in _PART_COLOURS.items() if part in parts]
        if parts - {""}
        else []
    )


def _settings(context: Context) -> str:
    recipe = report_page.folded("The whole recipe", report_page.preformatted(to_toml(context.recipe)))
    return report_page.facts(environment()) + recipe


def _left_out(reasons: Mapping[str, str]) -> str:
    rows = list(reasons.items())
    return report_page.table(("did not play", "reason"), rows, is_text=True) if rows else ""


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    names = ["name", "rating", "low", "high", "hanchans", "average_placement", "stable_rank"]
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "low": row["interval"][0], "high": row["interval"][1]})
    return text.getvalue()
