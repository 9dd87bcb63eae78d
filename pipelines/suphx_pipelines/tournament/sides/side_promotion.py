"""The promotion stage of a tournament in a game of two sides: the candidate is registered, the champion if it has won.

Leaves ``promotion.json`` (candidate_promotion.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.games.candidate_game import candidate_game, net_file_names
from suphx_pipelines.json_file import read_json
from suphx_pipelines.tournament.candidate_promotion import Evidence, promote_candidate
from suphx_pipelines.tournament.pool.tournament_pool import read_pool
from suphx_pipelines.tournament.sides.side_decision_page import fresh_text, outcome, reason, share_interval
from suphx_pipelines.tournament.sides.side_pool import SideContext, game_code
from suphx_pipelines.tournament.tournament_report import DECISION_NAME


def run(context: SideContext) -> dict[str, float]:
    """Register the candidate, move the champion's alias if it has won, and leave ``promotion.json``."""
    decision = read_json(context.upstream["decision"] / DECISION_NAME)
    return promote_candidate(
        context,
        decision,
        evidence=evidence_of(decision, read_pool(context.upstream["pool"]).version),
        reason=lambda is_promoted: reason(decision, is_promoted=is_promoted),
        code=game_code(context.recipe),
        net_files=net_file_names(candidate_game(context.recipe.game)),
    )


def evidence_of(decision: Mapping[str, Any], version: str | None) -> Evidence:
    """Return what the match says of the candidate; ``version``: of the champion in the registry, if there is one."""
    match, test = decision["match"], decision["test"]
    found = outcome(decision)
    if test is None:
        return Evidence(outcome=found)
    opponent = f"{decision['opponent']} (version {version})" if version else decision["opponent"]
    if match is None:
        low, high = test["always_valid_interval"]
        why = (
            f'Not promoted: the match against {opponent} ended with "{found.replace("_", " ")}" '
            f"after {test['decks']:,} decks. Share of games won: {share_interval([low, high])} (always-valid 95 % "
            "interval)."
        )
        tags = {"share_low": f"{low:g}", "share_high": f"{high:g}", "decision_decks": str(test["decks"])}
        return Evidence(outcome=found, why=why, tags=tags)
    why = (
        f"Against {opponent}: {fresh_text(match)}. Before, a sequential test had decided after {test['decks']:,} other "
        f"decks that it is better (difference {test['difference']:g} of the games won, at most "
        f"{100 * test['error']:g} % errors)."
    )
    low, high = match["share"]["interval"]
    figures = {"share": match["share"]["mean"], "share_low": low, "share_high": high}
    figures |= {"points": match["points"]["mean"], "decks": match["decks"], "decision_decks": test["decks"]}
    return Evidence(outcome=found, why=why, metrics={f"promotion/{name}": value for name, value in figures.items()})
