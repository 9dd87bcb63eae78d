"""What the promotion stage of a tournament does in any game: the candidate is registered with the evidence.

It becomes the champion if it has won. Old versions of candidates that lost are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from suphx_pipelines.json_file import write_json
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Outcome
from suphx_pipelines.tournament.pool.candidate_versions import CandidateVersions
from suphx_pipelines.tournament.pool.game_code import GameCode
from suphx_pipelines.tournament.pool.needed_versions import NightVersions
from suphx_pipelines.tournament.pool.tournament_pool import Entrant, Pool, read_pool
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.tracking.lost_versions import delete_lost_versions
from suphx_platform.tracking.model_registry import ModelRegistry
from suphx_platform.tracking.promotion import STORED_TAG, TOURNAMENT_TAG, Promotion
from suphx_platform.tracking.tracking import Tracker

PROMOTION_NAME = "promotion.json"
FILES: Mapping[str, str] = {
    PROMOTION_NAME: "`promoted`, `champion` (`models:/NAME/VERSION`) or null, `reason`",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the deciding match says of the candidate, for its version in the model registry."""

    outcome: Outcome
    """What the tournament says of the candidate, also as the outcome of its run."""
    why: str = "It is the first candidate: there was no champion and no opponent to beat."
    """Why it was promoted or was not, in Markdown."""
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Figures of the match on new deals; they become tags too."""


def promote_candidate(
    context: StageContext[Any],
    decision: Mapping[str, Any],
    *,
    evidence: Evidence,
    reason: Callable[[bool], str],
    code: GameCode,
    net_files: Sequence[str],
) -> dict[str, float]:
    """Register the candidate, move the champion's alias if it has won, and leave ``promotion.json``.

    ``decision``: what the decision stage has left. ``reason``: returns one sentence that says why the alias has moved
    or not; called with whether it has. ``code``: of the game. ``net_files``: names of the files of an agent's nets.
    """
    pool = read_pool(context.upstream["pool"])
    registry = ModelRegistry(context.tracker.store, context.recipe.registry)
    source = AgentSource(context.tracker.store, context.recipe.storage)
    versions = CandidateVersions(source, context.recipe.name, context.console.warn)
    candidate = next((entrant for entrant in pool.entrants if entrant.name == decision["candidate"]), None)
    version = None
    if candidate is not None and (decision["is_won"] or context.recipe.registry.candidate_alias):
        candidate = replace(candidate, stored=versions.present(candidate))
        version = _register(context, registry, versions, pool, candidate, decision, evidence)
    versions.release(pool.entrants)
    now = version or registry.champion()
    result = {
        "promoted": version is not None,
        "champion": f"models:/{context.recipe.registry.model}/{now}" if now else None,
        "reason": reason(version is not None),
    }
    write_json(context.folder / PROMOTION_NAME, result)
    _delete_lost(context, code, net_files)
    return {"promoted": version is not None}


def promotion_reason(
    decision: Mapping[str, Any],
    *,
    is_promoted: bool,
    nothing_new: str,
    stopped: Callable[[], str],
    figures: Callable[[], str],
) -> str:
    """Return one sentence that says why the champion's alias has moved or not.

    ``nothing_new``: why there is no candidate. ``stopped``: says how a match ended without a pass; ``figures``: what
    the match on new deals gave.
    """
    candidate, opponent = decision["candidate"], decision["opponent"]
    if candidate is None:
        return f"no promotion: {nothing_new}"
    if not decision["is_won"]:
        return f"no promotion: {candidate} did not beat {opponent}: {stopped()}"
    if decision["test"] is None:
        won = f"{candidate} is the first that played"
    else:
        won = f"{candidate} beat {opponent}: {figures()}"
    if is_promoted:
        return f"new champion: {won}"
    return f"no promotion, another promotion of this night was first or the alias was moved; {won}"


def outcome_of(decision: Mapping[str, Any], *, is_worse: Callable[[], bool]) -> Outcome:
    """Return what came of the deciding match, for the run, its reports and the registry alike.

    ``is_worse``: whether the whole interval of a match that was not won says so. It may although the test itself, which
    asks whether the candidate is better by some difference, has not decided.
    """
    test = decision["test"]
    if test is None:
        return "none"  # the first champion has beaten nobody
    if decision["match"] is not None:
        return "better"
    if is_worse():
        return "worse"
    return "not_better" if test["verdict"] == "not_better" else "undecided"


def _register(
    context: StageContext[Any],
    registry: ModelRegistry,
    versions: CandidateVersions,
    pool: Pool,
    candidate: Entrant,
    decision: Mapping[str, Any],
    evidence: Evidence,
) -> str | None:
    """Register the candidate, and return its version if it is the champion now."""
    config = context.recipe.registry
    nets = candidate.nets_in(context.upstream["pool"])

    def promotion(*, is_promoted: bool) -> Promotion:
        return _promotion(context, pool, candidate, decision, evidence, is_promoted=is_promoted)

    version = registry.promote(nets, context.tracker, promotion(is_promoted=True)) if decision["is_won"] else None
    registered = version
    if config.candidate_alias:
        registered = registry.nominate(nets, context.tracker, promotion(is_promoted=version is not None))
    if registered is not None:
        versions.hand_over(candidate, f"models:/{config.model}/{registered}")
    return version


def _promotion(
    context: StageContext[Any],
    pool: Pool,
    candidate: Entrant,
    decision: Mapping[str, Any],
    evidence: Evidence,
    *,
    is_promoted: bool,
) -> Promotion:
    """Return the claim of the candidate, with the evidence.

    ``is_promoted`` is false also for a candidate that has won while something else was faster.
    """
    night, tournament = context.recipe.night, context.folder.parent.name
    report = _report_address(context.tracker, tournament)
    training, _, stage = candidate.name.partition("/")
    tags = {"candidate": candidate.name, TOURNAMENT_TAG: tournament, "night": night, "report": report}
    tags["verdict"] = evidence.outcome
    tags |= {"opponent": decision["opponent"]} if decision["opponent"] else {}
    tags |= {name.partition("/")[2]: f"{value:g}" for name, value in evidence.metrics.items()}
    tags |= evidence.tags
    tags |= {STORED_TAG: " ".join(candidate.stored)} if candidate.stored else {}
    why = evidence.why
    if decision["is_won"] and not is_promoted:
        why = f"Not promoted: another promotion of this night was first, or the alias was moved. {why}"
    now = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    texts = [
        why,
        f"{'Promoted' if is_promoted else 'Registered'} at {now} by the tournament `{tournament}` "
        f"(night {night}). Its report: `{report}`.",
        f"Trained in the run `{training}`" + (f", stage `{stage}`." if stage else "."),
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


def _report_address(tracker: Tracker, tournament: str) -> str:
    """Return the address of the tournament's report among its artifacts, which MLflow has when it is over."""
    stage = tracker.run_id  # when MLflow has it, it has the tournament's too
    return f"runs:/{tracker.store.run_ids.get(tournament, stage)}/{REPORT_NAME}"


def _delete_lost(context: StageContext[Any], code: GameCode, net_files: Sequence[str]) -> None:
    """Delete old versions of candidates that lost; what cannot be deleted now is left to the next night."""
    config, store = context.recipe.registry, context.tracker.store
    source, runs = AgentSource(store, context.recipe.storage), context.folder.parents[1]
    try:
        owner = NightVersions(
            context.recipe,
            runs,
            context.upstream["pool"],
            source,
            context.console.warn,
            code=code,
            net_files=net_files,
        )
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
