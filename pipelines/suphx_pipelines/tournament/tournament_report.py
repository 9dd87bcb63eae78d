"""The report stage of a tournament: leaderboard as page, picture and table, and what was decided.

Reads ``pool.json``, ``table.json``, ``decision.json``, ``promotion.json`` and ``game.html``; their keys stand in
docs/result_files.md.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.match_config import chosen_seatings, widened_note
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_pipelines.report import report_page, report_riichi_game
from suphx_pipelines.report.report_page import decimal, difference, found_interval, interval, number, widened_about
from suphx_pipelines.runs.provenance import environment
from suphx_pipelines.runs.stage import TRACKED_FOLDER, StageContext
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Outcome, Verdict
from suphx_pipelines.tournament import leaderboard_page, riichi_night_game
from suphx_pipelines.tournament.candidate_promotion import PROMOTION_NAME, outcome_of, promotion_reason
from suphx_pipelines.tournament.decision_games import write_decision_games
from suphx_pipelines.tournament.live_page import Sections
from suphx_pipelines.tournament.pool.tournament_history import TABLE_NAME
from suphx_pipelines.tournament.pool.tournament_pool import POOL_NAME, Context
from suphx_pipelines.viewer.viewer_page import PAGE_FILE

TRACKED_REPORT = f"{TRACKED_FOLDER}/{REPORT_NAME}"
"""The page without links, for MLflow."""
DECISION_NAME = "decision.json"
CSV_NAME = "leaderboard.csv"
PICTURES = ("*.svg", CSV_NAME)
"""The tables and pictures of the page as files."""

Row = Mapping[str, Any]


FILES: Mapping[str, str] = {
    "report.html": "one self-contained page",
    "mlflow/report.html": "the same page without links to other files, which MLflow gets",
    "game.html": "the game in `sample_game/`",
    "game_best_<n>.html, game_worst_<n>.html": "the candidate's best and worst games in the decision",
    "leaderboard.csv": "the leaderboard",
    "leaderboard.svg, nights.svg, pairings.svg, style.svg": "the report's figures",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def run(context: Context) -> dict[str, float]:
    """Write the page, the pages of games, the picture and the table into the stage's folder."""
    folders = context.upstream
    pool = read_json(folders["pool"] / POOL_NAME)
    table = read_json(folders["leaderboard"] / TABLE_NAME)
    decision = read_json(folders["decision"] / DECISION_NAME)
    promotion = read_json(folders["promotion"] / PROMOTION_NAME)
    games = write_decision_games(context, decision)
    head = report_page.verdict_card(verdict(decision, promotion))
    head += report_page.run_head(context.folder.parent, environment())
    has_game = copy_game(context, folders[riichi_night_game.STAGE_NAME] / PAGE_FILE)

    def sections(has_links: bool) -> Sections:
        return [
            *([("Decision", _decision(decision))] if decision["test"] else []),
            *leaderboard_page.sections(table, has_links=has_links),
            ("Games to look at", _games(games, has_game=has_game, has_links=has_links)),
            *last_sections(context, pool["left_out"]),
        ]

    size = write_pages(context, head, sections)
    for name, picture in leaderboard_page.pictures(table).items():
        write_atomically(context.folder / name, [picture])
    write_atomically(context.folder / CSV_NAME, [_csv(table["agents"]).encode()])
    return {"bytes": size}


def write_pages(context: StageContext[Any], head: str, sections: Callable[[bool], Sections]) -> int:
    """Write the page and the one for MLflow, and return the bytes of the larger one.

    ``sections``: returns heading and HTML of each section; True: with links to other files in the folder of runs.
    """
    size = 0
    for path, has_links in ((REPORT_NAME, True), (TRACKED_REPORT, False)):
        title, about = f"Suphx: {context.recipe.name}", f"tournament of {context.recipe.night}"
        page = report_page.page(title, about, head, sections(has_links)).encode()
        (context.folder / path).parent.mkdir(exist_ok=True)
        write_atomically(context.folder / path, [page])
        size = max(size, len(page))
    return size


def last_sections(context: StageContext[Any], left_out: Mapping[str, str]) -> Sections:
    """Return the sections at the end of the report of any tournament: who could not play and why, the settings."""
    return [("Left out", left_out_table(left_out)), ("Settings", settings_section(context))]


def reason(decision: Mapping[str, Any], *, is_promoted: bool) -> str:
    """Return one sentence that says why the champion's alias has moved or not."""
    test = decision["test"]

    def figures() -> str:
        decided = f"decided after {number(test['hanchans'])} hanchans"
        return f"{_fresh_text(decision['match'])}; {decided}{_contrary_text(decision)}"

    return promotion_reason(
        decision,
        is_promoted=is_promoted,
        nothing_new="no checkpoint is new, give pool.newest_from a folder or storage of runs",
        stopped=lambda: _stop_text(decision),
        figures=figures,
    )


def contrary_seatings(decision: Mapping[str, Any]) -> list[str]:
    """Return the other seatings in which a candidate that has passed is worse: the whole 95 % interval says so.

    ``decision``: what the decision stage has left; the measure is the one that decided.
    """
    is_placement = decision["test"]["decides"] == "placement"
    bounds = {
        seating: match["paired_difference" if is_placement else "points_difference"]["interval"]
        for seating, match in decision.get("other_seatings", {}).items()  # an earlier version had none
    }
    return [seating for seating, (low, high) in bounds.items() if (low > 0 if is_placement else high < 0)]


def _contrary_text(decision: Mapping[str, Any]) -> str:
    seatings = contrary_seatings(decision)
    return f"; but it is worse than {decision['opponent']} in {' and '.join(seatings)}" if seatings else ""


def _fresh_text(match: Mapping[str, Any]) -> str:
    """Return the figures of the match on new walls."""
    places, points = match["paired_difference"], match["points_difference"]
    return (
        f"placement difference {difference(places['average_placement'])} (95 % interval "
        f"{interval(places['interval'], 3)}{widened_note(places.get('is_widened', False))}) and "
        f"{difference(points['per_hanchan'], 1)} points per hanchan "
        f"({interval(points['interval'], 1)}) over {match['hanchans']:,} hanchans on new walls"
    )


def outcome(decision: Mapping[str, Any]) -> Outcome:
    """Return what came of the deciding match; the average placement says who is worse."""
    return outcome_of(decision, is_worse=lambda: decision["test"]["always_valid_intervals"]["placement"][0] > 0)


def _stop_text(decision: Mapping[str, Any]) -> str:
    """Return why a match ended without a pass."""
    test, found = decision["test"], outcome(decision)
    is_placement = test["decides"] == "placement"
    unit = "places" if is_placement else "points per hanchan"
    bounds = f"always-valid 95 % interval {interval(test['always_valid_interval'], 3 if is_placement else 1)} {unit}"
    played = f"{test['hanchans']:,} hanchans ({bounds})"
    if found == "worse":
        return f"it is worse, after {played}"
    if found == "undecided":
        return f"undecided after {played}, about {test['expected_hanchans']:,.0f} more are needed"
    return f"not better by {test['difference']:g} {unit}, decided after {played}"


def verdict(decision: Mapping[str, Any], promotion: Mapping[str, Any]) -> Verdict:
    """Return what was decided: with the figures of the match on new walls, or with the always-valid interval."""
    sentence = f"{promotion['reason'][:1].upper()}{promotion['reason'][1:]}."
    test, match = decision["test"], decision["match"]
    if test is None:
        return Verdict(outcome=outcome(decision), sentence=sentence)
    if match is not None:
        found = match["paired_difference"]
        low, high = found["interval"]
        return Verdict(
            outcome=outcome(decision),
            sentence=sentence,
            difference=found["average_placement"],
            low=low,
            high=high,
            hanchans=match["hanchans"],
        )
    low, high = test["always_valid_intervals"]["placement"]
    return Verdict(outcome=outcome(decision), sentence=sentence, low=low, high=high, hanchans=test["hanchans"])


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
        f"The match ({chosen_seatings(test['seating'])[0]}) was played until it was decided whether the candidate is "
        f"better by {test['difference']:g} {unit}, with at most {100 * test['error']:g} % errors of each kind: "
        f"{test['verdict'].replace('_', ' ')} after {number(test['hanchans'])} hanchans (log-likelihood ratio "
        f"{decimal(test['log_likelihood_ratio'])}; the match ends at ±{decimal(test['bound'])})."
    )
    points = ", ".join(map(str, test["points"]))
    about = f"Candidate minus what an equal agent would reach. Points for first to fourth place: {points}."
    columns = ("difference", "always-valid 95 % interval", "on new walls", "95 % interval on new walls")
    shown = columns if match else columns[:2]
    decided = report_page.table(shown, [row[: len(shown)] for row in rows], about=about + widened_about(rows))
    return report_page.paragraph(text) + decided + _seatings(decision)


def _seatings(decision: Mapping[str, Any]) -> str:
    """Return the matches on new walls in all seatings as a table; empty if there was only one."""
    others = decision.get("other_seatings")  # an earlier version had none
    if not others:
        return ""
    first = decision["match"]
    rows = [
        (
            name,
            number(match["hanchans"]),
            *_fresh_cells(match, "paired_difference", 3),
            *_fresh_cells(match, "points_difference", 1),
        )
        for name, match in {first["seating"]: first, **others}.items()
    ]
    about = "On new walls, candidates against opponents at a table; all on the scale of 1v3."
    columns = ("seating", "hanchans", "placement", "95 % interval", "points per hanchan", "95 % interval")
    return report_page.table(columns, rows, about=about + widened_about(rows))


def _fresh_cells(match: Mapping[str, Any] | None, name: str, digits: int) -> tuple[str, str]:
    if match is None:
        return "–", "–"
    found = match[name]
    value = found["average_placement" if name == "paired_difference" else "per_hanchan"]
    return difference(value, digits), found_interval(found, digits)


def copy_game(context: StageContext[Any], page: Path) -> bool:
    """Copy the page of a game beside the report; return False if there is none, as no agent with nets has played."""
    if page.is_file():
        shutil.copyfile(page, context.folder / page.name)
    return page.is_file()


def _games(games: Mapping[str, Any], *, has_game: bool, has_links: bool) -> str:
    text = "Watch one game of the strongest nets step by step, with their probabilities at each decision"
    sample = game_link(text, PAGE_FILE, has_links=has_links) if has_game else ""
    return sample + report_riichi_game.match_links(games, has_links=has_links)


def game_link(text: str, page: str, *, has_links: bool) -> str:
    """Return a link to the page of a game beside the report; without links, where the page is."""
    return (
        report_page.link(text, page) if has_links else report_page.paragraph(f"{text}: open {page} beside this page.")
    )


def settings_section(context: StageContext[Any]) -> str:
    """Return where the tournament was played, and its recipe."""
    recipe = report_page.folded("The whole recipe", report_page.preformatted(to_toml(context.recipe)))
    return report_page.facts(environment()) + recipe


def left_out_table(reasons: Mapping[str, str]) -> str:
    """Return the agents that did not play, with the reasons; empty if all played."""
    rows = list(reasons.items())
    return report_page.table(("did not play", "reason"), rows, is_text=True) if rows else ""


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    names = ["name", "rating", "low", "high", "hanchans", "average_placement"]
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        low, high = row["interval"] or (None, None)
        writer.writerow({**row, "low": low, "high": high})
    return text.getvalue()
