"""The promotion stage of a tournament of riichi: the candidate is registered, and the champion if it has won.

Leaves ``promotion.json`` (candidate_promotion.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx_pipelines.json_file import read_json
from suphx_pipelines.runs.verdict import Outcome
from suphx_pipelines.tournament import tournament_report
from suphx_pipelines.tournament.candidate_promotion import Evidence, promote_candidate
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_pool import Context, read_pool


def run(context: Context) -> dict[str, float]:
    """Register the candidate, move the champion's alias if it has won, and leave ``promotion.json``."""
    decision = read_json(context.upstream["decision"] / tournament_report.DECISION_NAME)
    return promote_candidate(
        context,
        decision,
        evidence=evidence_of(decision, read_pool(context.upstream["pool"]).version),
        reason=lambda is_promoted: tournament_report.reason(decision, is_promoted=is_promoted),
        code=riichi_code(),
        net_files=checkpoint_names(),
    )


def evidence_of(decision: Mapping[str, Any], version: str | None) -> Evidence:
    """Return what the match says of the candidate; ``version``: of the champion in the registry, if there is one."""
    opponent, match, test = decision["opponent"], decision["match"], decision["test"]
    others = decision.get("other_seatings", {})  # an earlier version had none
    outcome = tournament_report.outcome(decision)
    if test is None:
        return Evidence(outcome=outcome)
    if match is None:
        return Evidence(outcome=outcome, why=_failure(test, outcome, opponent, version), tags=_bounds(test))
    why = _evidence(match, test, opponent, version) + _seatings(others)
    return Evidence(outcome=outcome, why=why, metrics=_figures(match, test, others))


def _figures(match: Mapping[str, Any], test: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of the matches on new walls."""
    figures: dict[str, float] = {}
    for ending, each in [("", match), *((f"_{seating}", other) for seating, other in others.items())]:
        found = each["paired_difference"]
        name = f"promotion/difference{ending}"
        figures |= {name: found["average_placement"]}
        figures |= {f"{name}_low": found["interval"][0], f"{name}_high": found["interval"][1]}
    return figures | {
        "promotion/hanchans": match["hanchans"],
        "promotion/average_placement": match["average_placement"],
        "promotion/points": match["points_difference"]["per_hanchan"],
        "promotion/decision_hanchans": test["hanchans"],
    }


def _bounds(test: Mapping[str, Any]) -> dict[str, str]:
    """Return tags of a candidate that was not promoted: the match that was stopped has no mean, only an interval."""
    low, high = test["always_valid_intervals"]["placement"]
    return {
        "difference_low": f"{low:g}",
        "difference_high": f"{high:g}",
        "decision_hanchans": str(test["hanchans"]),
    }


def _failure(test: Mapping[str, Any], outcome: Outcome, opponent: str, version: str | None) -> str:
    """Return why a candidate was not promoted."""
    low, high = test["always_valid_intervals"][test["decides"]]
    if test["decides"] == "placement":
        difference = f"Difference of the average placement, lower is better: {low:+.3f} to {high:+.3f}"
    else:
        difference = f"Difference in points per hanchan, higher is better: {low:+.1f} to {high:+.1f}"
    return (
        f"Not promoted: the match against {_named(opponent, version)} ended with "
        f'"{outcome.replace("_", " ")}" after {test["hanchans"]:,} hanchans. {difference} (always-valid 95 % '
        "interval)."
    )


def _named(opponent: str, version: str | None) -> str:
    return f"{opponent} (version {version})" if version else opponent


def _seatings(others: Mapping[str, Any]) -> str:
    """Return a sentence for each match in another seating; empty if there was none."""
    text = ""
    for name, match in others.items():
        found = match["paired_difference"]
        low, high = found["interval"]
        text += (
            f" With {name} at a table: {found['average_placement']:+.3f} ({low:+.3f} to {high:+.3f}) on the scale of "
            f"1v3, over {match['hanchans']:,} hanchans."
        )
    return text


def _evidence(match: Mapping[str, Any], test: Mapping[str, Any], opponent: str, version: str | None) -> str:
    """Return the figures of the match on new walls, and the decision before it."""
    found, points = match["paired_difference"], match["points_difference"]
    low, high = found["interval"]
    unit = "places" if test["decides"] == "placement" else "points per hanchan"
    seating = match.get("seating", "1v3")
    whom = _named(opponent, version)
    against = f"three {whom}" if seating == "1v3" else f"{whom} ({seating})"
    return (
        f"Average placement {match['average_placement']:.3f} against {against}, a difference of "
        f"{found['average_placement']:+.3f} (95 % interval {low:+.3f} to {high:+.3f}; lower is better), and "
        f"{points['per_hanchan']:+.1f} points per hanchan, over {match['hanchans']:,} hanchans on new walls. Before, "
        f"a sequential test had decided after {test['hanchans']:,} other hanchans that it is better "
        f"(difference {test['difference']:g} {unit}, at most {100 * test['error']:g} % errors)."
    )
