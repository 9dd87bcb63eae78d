"""The promotion stage of a tournament: a candidate that has won becomes the champion, with the evidence.

Leaves ``promotion.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from suphx_pipelines.engine.json_file import read_json, write_json
from suphx_pipelines.tournament import tournament_report
from suphx_pipelines.tournament.tournament_pool import Context, Pool, read_pool
from suphx_platform.tracking.model_registry import ModelRegistry
from suphx_platform.tracking.promotion import Promotion


def run(context: Context) -> dict[str, float]:
    """Move the champion's alias if the candidate has won, and leave ``promotion.json``."""
    folder, registry = context.upstream["pool"], context.recipe.registry
    pool = read_pool(folder)
    decision = read_json(context.upstream["decision"] / tournament_report.DECISION_NAME)
    version = None
    if decision["is_won"]:
        winner = next(entrant for entrant in pool.entrants if entrant.name == decision["candidate"])
        promotion = promotion_of(decision, pool, context.recipe.night, context.folder.parent.name)
        nets = winner.nets_in(folder)
        version = ModelRegistry(context.tracker.store, registry).promote(nets, context.tracker, promotion)
    now = version or ModelRegistry(context.tracker.store, registry).champion()
    result = {
        "promoted": version is not None,
        "champion": f"models:/{registry.model}/{now}" if now else None,
        "reason": tournament_report.reason(decision, is_promoted=version is not None),
    }
    write_json(context.folder / tournament_report.PROMOTION_NAME, result)
    return {"promoted": version is not None}


def promotion_of(decision: Mapping[str, Any], pool: Pool, night: str, tournament: str) -> Promotion:
    """Return the claim of the candidate of ``decision``, which has won the ``tournament`` (its run)."""
    candidate, opponent, match = decision["candidate"], decision["opponent"], decision["match"]
    test = decision["test"]
    digest = next(entrant.digest for entrant in pool.entrants if entrant.name == candidate)
    training, _, stage = candidate.partition("/")
    tags = {"candidate": candidate, "tournament": tournament, "night": night}
    metrics: dict[str, float] = {}
    if match is None:
        why = "It is the first candidate: there was no champion and no baseline to beat."
    else:
        low, high = match["paired_difference"]["interval"]
        metrics = {
            "promotion/difference": match["paired_difference"]["average_placement"],
            "promotion/difference_low": low,
            "promotion/difference_high": high,
            "promotion/hanchans": match["hanchans"],
            "promotion/average_placement": match["average_placement"],
            "promotion/points": match["points_difference"]["per_hanchan"],
            "promotion/decision_hanchans": test["hanchans"],
        }
        tags |= {"opponent": opponent} | {name.partition("/")[2]: f"{value:g}" for name, value in metrics.items()}
        why = _evidence(match, test, opponent, pool.version)
    now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    texts = [
        why,
        f"Promoted at {now} by the tournament `{tournament}` (night {night}).",
        f"Trained in the run `{training}`" + (f", stage `{stage}`." if stage else "."),
    ]
    return Promotion(
        digest=digest,
        night=night,
        replaces=pool.version,
        description="\n\n".join(texts),
        trained_in=training,
        name=training,
        tags=tags,
        metrics=metrics,
    )


def _evidence(match: Mapping[str, Any], test: Mapping[str, Any], opponent: str, version: str | None) -> str:
    """Return the figures of the match on new walls, and the decision before it."""
    found, points = match["paired_difference"], match["points_difference"]
    low, high = found["interval"]
    beaten = f"{opponent} (version {version})" if version else opponent
    unit = "places" if test["decides"] == "placement" else "points per hanchan"
    return (
        f"Average placement {match['average_placement']:.3f} against three {beaten}, lower by "
        f"{-found['average_placement']:.3f} (95 % interval {-high:.3f} to {-low:.3f}), and "
        f"{points['per_hanchan']:+.1f} points per hanchan, over {match['hanchans']:,} hanchans on new walls. Promoted "
        f"because a sequential test had decided after {test['hanchans']:,} other hanchans that it is better "
        f"(difference {test['difference']:g} {unit}, at most {100 * test['error']:g} % errors)."
    )
