"""The promotion stage of a tournament: the candidate is registered with the evidence, and the champion if it has won.

Leaves ``promotion.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from suphx_pipelines.engine.json_file import read_json, write_json
from suphx_pipelines.engine.stage_folder import REPORT_NAME
from suphx_pipelines.tournament import tournament_report
from suphx_pipelines.tournament.pool.needed_versions import NightVersions
from suphx_pipelines.tournament.pool.tournament_pool import Context, Entrant, Pool, read_pool
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.tracking.lost_versions import delete_lost_versions
from suphx_platform.tracking.model_registry import ModelRegistry
from suphx_platform.tracking.promotion import STORED_TAG, TOURNAMENT_TAG, Promotion
from suphx_platform.tracking.tracking import Tracker

FILES: Mapping[str, str] = {
    "promotion.json": "`promoted`, `champion` (`models:/NAME/VERSION`) or null, `reason`",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def run(context: Context) -> dict[str, float]:
    """Register the candidate, move the champion's alias if it has won, and leave ``promotion.json``."""
    folder, config = context.upstream["pool"], context.recipe.registry
    pool = read_pool(folder)
    decision = read_json(context.upstream["decision"] / tournament_report.DECISION_NAME)
    registry = ModelRegistry(context.tracker.store, config)
    candidate = next((entrant for entrant in pool.entrants if entrant.name == decision["candidate"]), None)
    version = None if candidate is None else _register(context, registry, pool, candidate, decision)
    now = version or registry.champion()
    result = {
        "promoted": version is not None,
        "champion": f"models:/{config.model}/{now}" if now else None,
        "reason": tournament_report.reason(decision, is_promoted=version is not None),
    }
    write_json(context.folder / tournament_report.PROMOTION_NAME, result)
    _delete_lost(context, folder)
    return {"promoted": version is not None}


def _register(
    context: Context, registry: ModelRegistry, pool: Pool, candidate: Entrant, decision: Mapping[str, Any]
) -> str | None:
    """Register the candidate, and return its version if it is the champion now."""
    run_id, config = context.folder.parent.name, context.recipe.registry
    report = report_address(context.tracker, run_id)
    nets = candidate.nets_in(context.upstream["pool"])

    def evidence(*, is_promoted: bool) -> Promotion:
        return promotion_of(decision, pool, context.recipe.night, run_id, report, is_promoted=is_promoted)

    version = registry.promote(nets, context.tracker, evidence(is_promoted=True)) if decision["is_won"] else None
    registered = version
    if config.candidate_alias:
        registered = registry.nominate(nets, context.tracker, evidence(is_promoted=version is not None))
    if registered is not None:
        _pin(context, candidate, f"models:/{config.model}/{registered}")
    return version


def _delete_lost(context: Context, pool: Path) -> None:
    """Delete old versions of candidates that lost; what cannot be deleted now is left to the next night."""
    config, store = context.recipe.registry, context.tracker.store
    source, runs = AgentSource(store, context.recipe.storage), context.folder.parents[1]
    try:
        owner = NightVersions(context.recipe, runs, pool, source, context.console.warn)
        result = delete_lost_versions(store, config, owner)
    except OSError as error:
        context.console.warn(f"old versions of candidates that lost are not deleted tonight: {error}")
        return
    if result.deleted:
        context.console.say(
            f"deleted {', '.join(result.deleted)}: not promoted, and {config.max_lost_versions} of these are newer "
            "(registry.max_lost_versions)"
        )
    if result.left_models:
        context.console.warn(
            f"MLflow does not let this user delete the models {', '.join(result.left_models)} of these versions: an "
            "administrator can delete them on the Models page, and `mlflow gc` then frees their files"
        )


def _pin(context: Context, candidate: Entrant, model: str) -> None:
    """Keep the checkpoints in the storage that a version in the registry was made from."""
    source = AgentSource(context.tracker.store, context.recipe.storage)
    for stored in candidate.stored:
        try:
            source.pin(stored, model)
        except OSError as error:  # the registry has the nets: a storage that is away costs no night
            context.console.warn(f"{stored} is not marked as used by {model}: {error}")


def report_address(tracker: Tracker, tournament: str) -> str:
    """Return the address of the tournament's report among its artifacts, which MLflow has when it is over."""
    stage = tracker.run_id  # when MLflow has it, it has the tournament's too
    return f"runs:/{tracker.store.run_ids.get(tournament, stage)}/{REPORT_NAME}"


def promotion_of(
    decision: Mapping[str, Any], pool: Pool, night: str, tournament: str, report: str, *, is_promoted: bool
) -> Promotion:
    """Return the claim of the candidate of ``decision`` in the ``tournament`` (its run), with the evidence.

    ``report``: address of the tournament's report. ``is_promoted`` is false also for a candidate that has won while
    something else was faster.
    """
    candidate, opponent, match = decision["candidate"], decision["opponent"], decision["match"]
    test = decision["test"]
    digest = next(entrant.digest for entrant in pool.entrants if entrant.name == candidate)
    training, _, stage = candidate.partition("/")
    tags = {"candidate": candidate, TOURNAMENT_TAG: tournament, "night": night}
    tags |= {"report": report} if report else {}
    tags |= {"verdict": test["verdict"] if test else "no opponent"} | ({"opponent": opponent} if opponent else {})
    others = decision.get("other_seatings", {})  # an earlier version had none
    metrics = {} if match is None else _figures(match, test, others)
    tags |= {name.partition("/")[2]: f"{value:g}" for name, value in metrics.items()}
    if test is None:
        why = "It is the first candidate: there was no champion and no opponent to beat."
    elif match is None:
        tags |= _bounds(test)
        why = _failure(test, opponent, pool.version)
    else:
        why = _evidence(match, test, opponent, pool.version) + _seatings(others)
    if decision["is_won"] and not is_promoted:
        why = f"Not promoted: another promotion of this night was first, or the alias was moved. {why}"
    now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    stored = next(entrant.stored for entrant in pool.entrants if entrant.name == candidate)
    tags |= {STORED_TAG: " ".join(stored)} if stored else {}
    texts = [
        why,
        f"{'Promoted' if is_promoted else 'Registered'} at {now} by the tournament `{tournament}` "
        f"(night {night}).{f' Its report: `{report}`.' if report else ''}",
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


def _failure(test: Mapping[str, Any], opponent: str, version: str | None) -> str:
    """Return why a candidate was not promoted."""
    low, high = test["always_valid_intervals"]["placement"]
    return (
        f"Not promoted: the sequential test against {_named(opponent, version)} ended with "
        f'"{test["verdict"].replace("_", " ")}" after {test["hanchans"]:,} hanchans. Difference of the average '
        f"placement, lower is better: {low:+.3f} to {high:+.3f} (always-valid 95 % interval)."
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
        f"Average placement {match['average_placement']:.3f} against {against}, lower by "
        f"{-found['average_placement']:.3f} (95 % interval {-high:.3f} to {-low:.3f}), and "
        f"{points['per_hanchan']:+.1f} points per hanchan, over {match['hanchans']:,} hanchans on new walls. Before, "
        f"a sequential test had decided after {test['hanchans']:,} other hanchans that it is better "
        f"(difference {test['difference']:g} {unit}, at most {100 * test['error']:g} % errors)."
    )
