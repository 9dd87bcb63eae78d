"""The page of a review: agreement by group, and the decisions in which the agent differs, with links to the games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from suphx.evaluation.review import ReviewedDecision, agreement_table
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_number import number


def review_page(
    agent: str,
    decisions: Sequence[ReviewedDecision],
    differences: Sequence[ReviewedDecision],
    pages: Mapping[str, str],
) -> str:
    """Return one HTML page; ``pages``: file name of a game's viewer page beside it, by the game's id."""
    rows = [(row["group"], number(row["decisions"]), f"{row['agreement']:.1%}") for row in agreement_table(decisions)]
    agreement = report_page.table(("decisions", "number", "agreement"), rows)
    about = f"The {len(differences)} differences of which the agent is surest."
    body = report_page.paragraph(about, is_soft=True) + "".join(_difference(one, pages) for one in differences)
    sections = [("Agreement", agreement), ("Differences", body if differences else "")]
    games = len({one.game for one in decisions})
    return report_page.page(f"Review by {agent}", f"{number(games)} games", "", sections)


def _difference(one: ReviewedDecision, pages: Mapping[str, str]) -> str:
    """Return a decision that opens to all legal moves."""
    title = (
        f"{one.game}, {one.deal}, turn {one.turn}, {one.player}: played {one.played} "
        f"({_percent(one.played_probability)}), the agent prefers {one.agent} ({_percent(one.agent_probability)})"
    )
    moves = report_page.table(("move", "probability"), [(name, _percent(chance)) for name, chance in one.moves])
    page = pages.get(one.game)
    link = f'<p><a href="{report_page.escape(page)}#{one.address}">Show the table</a></p>\n' if page else ""
    return report_page.folded(title, link + moves)


def _percent(chance: float | None) -> str:
    return "–" if chance is None else f"{chance:.1%}"
