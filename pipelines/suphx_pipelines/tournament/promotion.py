"""The promotion stage of a tournament: the candidate is registered with the evidence, the champion if it has won.

Leaves ``promotion.json``. Old versions of candidates that lost are deleted.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial

from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.tournament.entrants import POOL, Entrant, Pool, read_pool
from suphx_pipelines.tournament.history import is_night_of
from suphx_pipelines.tournament.kind import Context, kind_of
from suphx_pipelines.tournament.match_texts import DECISION, DECISION_NAME, Decision, Evidence
from suphx_platform.tracking import model_registry
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion

PROMOTION_NAME = "promotion.json"


def run(context: Context) -> dict[str, float]:
    """Register the candidate, move the champion's alias if it has won, and leave ``promotion.json``."""
    kind = kind_of(context.recipe)
    decision = read_json(context.upstream[DECISION] / DECISION_NAME)
    pool = read_pool(context.upstream[POOL])
    registry = ModelRegistry(context.tracker.store, context.recipe.registry)
    candidate = next((entrant for entrant in pool.entrants if entrant.name == decision["candidate"]), None)
    version = None
    if candidate is not None and (decision["is_won"] or context.recipe.registry.candidate_alias):
        evidence = kind.texts.evidence(decision, pool.version)
        promotion = partial(_promotion, context, pool, candidate, decision, evidence)
        nets = candidate.nets_in(context.upstream[POOL])
        if decision["is_won"]:
            version = registry.promote(nets, context.tracker, promotion(is_promoted=True))
        if context.recipe.registry.candidate_alias:
            registry.nominate(nets, context.tracker, promotion(is_promoted=version is not None))
    now = version or registry.champion()
    result = {
        "promoted": version is not None,
        "champion": f"models:/{context.recipe.registry.model}/{now}" if now else None,
        "reason": kind.texts.reason(decision, is_promoted=version is not None),
    }
    write_json(context.folder / PROMOTION_NAME, result)
    _delete_lost(context)
    return {"promoted": float(version is not None)}


def _promotion(
    context: Context, pool: Pool, candidate: Entrant, decision: Decision, evidence: Evidence, *, is_promoted: bool
) -> Promotion:
    """Return the claim; ``is_promoted`` is false also for a candidate that has won while something else was faster."""
    night, tournament = context.recipe.night, context.folder.parent.name
    store, stage = context.tracker.store, context.tracker.run_id  # when MLflow has it, it has the tournament's too
    report = f"runs:/{store.run_ids.get(tournament, stage)}/{REPORT_NAME}"
    training, _, trained_stage = candidate.name.partition("/")
    tags = {"candidate": candidate.name, model_registry.TOURNAMENT_TAG: tournament, "night": night, "report": report}
    tags["verdict"] = evidence.outcome
    tags |= {"opponent": decision["opponent"]} if decision["opponent"] else {}
    tags |= {name.partition("/")[2]: f"{value:g}" for name, value in evidence.metrics.items()}
    tags |= evidence.tags
    tags |= {model_registry.STORED_TAG: " ".join(candidate.stored)} if candidate.stored else {}
    why = evidence.why
    if decision["is_won"] and not is_promoted:
        why = f"Not promoted: another promotion of this night was first, or the alias was moved. {why}"
    now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    texts = [
        why,
        f"{'Promoted' if is_promoted else 'Registered'} at {now} by the tournament `{tournament}` "
        f"(night {night}). Its report: `{report}`.",
        f"Trained in the run `{training}`" + (f", stage `{trained_stage}`." if trained_stage else "."),
    ]
    return Promotion(
        digest=candidate.digest,
        night=night,
        replaces=pool.version,
        description="\n\n".join(texts),
        trained_in=training,
        name=training,
        tags=tags,
        metrics=evidence.metrics,
    )


def _delete_lost(context: Context) -> None:
    """Delete old versions of candidates that lost; what cannot be deleted now is left to the next night."""
    recipe, config = context.recipe, context.recipe.registry
    named = [match[0] for agent in recipe.pool.agents for match in model_registry.VERSION_ADDRESS.finditer(agent)]
    try:
        is_own = partial(is_night_of, recipe.name)
        result = model_registry.delete_lost_versions(context.tracker.store, config, is_own, named)
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
