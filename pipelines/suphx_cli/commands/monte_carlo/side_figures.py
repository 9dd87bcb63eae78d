"""The figures of a match in a game of two sides, as people see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suphx.evaluation.side_match import SideReport
    from suphx.games.candidate_game import CandidateGame


def figures_table(report: SideReport, game: CandidateGame) -> list[dict[str, str]]:
    """Return what people see: WP (share of games won) and ADP (points per game), a line for each side."""
    rows = []
    for label, names in (
        *((side, (f"wp_{side}", f"adp_{side}")) for side in game.sides),
        ("both", ("share", "points")),
    ):
        wins, points = (report.figures[name] for name in names)
        rows.append(
            {
                "candidate as": label,
                "WP": f"{wins.mean:.1%}",
                "WP, 95 % interval": f"{wins.interval.low:.1%} to {wins.interval.high:.1%}",
                "ADP": f"{points.mean:+.3f}",
                "ADP, 95 % interval": f"{points.interval.low:+.3f} to {points.interval.high:+.3f}",
            }
        )
    return rows
