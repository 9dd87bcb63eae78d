"""The decision stage of a tournament in a game of two sides: the best candidate against the champion.

Leaves ``decision.json``, ``live.html`` and the results of blocks of decks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from suphx.evaluation.match_config import MAX_SIDE_DECKS
from suphx.evaluation.sequential.match_watch import SideOutcome
from suphx.evaluation.sequential.side_sequential_match import (
    SideMatchSetup,
    SideSequentialReport,
    play_sequential_side_match,
)
from suphx.evaluation.workers.play_plan import GAMES_PER_DECK
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.tournament.live_page import LiveMatch, Sections
from suphx_pipelines.tournament.pool.tournament_games import wall_seed
from suphx_pipelines.tournament.pool.tournament_history import LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.pool.tournament_pool import Entrant, deciding_pair, read_pool
from suphx_pipelines.tournament.sides import side_page
from suphx_pipelines.tournament.sides.side_decision_page import live_section
from suphx_pipelines.tournament.sides.side_games import side_runner
from suphx_pipelines.tournament.sides.side_leaderboard import FIRST_DECK
from suphx_pipelines.tournament.sides.side_pool import SideContext
from suphx_pipelines.tournament.tournament_report import DECISION_NAME

_FIRST_DECK, _DECKS_A_NIGHT = 2 * FIRST_DECK, 2 * MAX_SIDE_DECKS
"""Above the decks of leaderboards, and below those of self-play, which begin at 2**40."""
_FRESH_KEY = "fresh_match"
FILES: Mapping[str, str] = {
    "decision.json": (
        "`candidate`, `opponent`, `test` {verdict, decks, difference, error, always_valid_interval [2] of the share of "
        "games won, log_likelihood_ratio, bound, expected_decks, forfeits} or null, `match` (on new decks: "
        "`decks`, `forfeits`, and the figures of `match.json` of a run) or null if there was no pass, `is_won`"
    ),
    "games/decks-<first>-<last>.json, games/fresh/": "blocks of decks, as for the leaderboard; those on new decks",
    "live.html": (
        "the deciding match above the leaderboard while games come in; it reloads itself until the last game"
    ),
    "mlflow/live.html": "the same page without links to other files, which MLflow gets",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def run(context: SideContext) -> dict[str, float]:
    """Let the best candidate play against the champion, and leave ``decision.json``."""
    folder = context.upstream["pool"]
    pool, table = read_pool(folder), read_json(context.upstream[LEADERBOARD] / TABLE_NAME)
    candidate, opponent, decision = deciding_pair(pool, table["agents"], folder, context.recipe.decision.opponent)
    live = _LiveDecision(context, table, decision["candidate"], decision["opponent"])
    if candidate is None or not opponent:
        live.write_last()
        decision |= {"test": None, "match": None, "is_won": candidate is not None}
        write_json(context.folder / DECISION_NAME, decision)
        return {"is_won": decision["is_won"]}
    live.write_first()
    report = _play(context, candidate, opponent, live)
    live.write_last()
    values = report.to_json()
    decision |= {"match": values.pop(_FRESH_KEY), "test": values, "is_won": report.outcome.decision == "better"}
    write_json(context.folder / DECISION_NAME, decision)
    return {"is_won": decision["is_won"]} | _figures(report)


def _play(context: SideContext, candidate: Entrant, opponent: str, live: _LiveDecision) -> SideSequentialReport:
    """Return the decision; finished blocks are kept, so a repeated command continues."""
    recipe = context.recipe
    first_deal = _FIRST_DECK + _DECKS_A_NIGHT * wall_seed(context)
    setup = SideMatchSetup(
        game=recipe.game,
        rules=recipe.rules,
        candidate=candidate.address_in(context.upstream["pool"]),
        opponent=opponent,
        first_deal=first_deal,
        first_fresh_deal=first_deal + MAX_SIDE_DECKS,
    )

    def tell(outcome: SideOutcome) -> None:
        context.console.detail(f"decision after {outcome.decks:,} decks: {outcome.note()}")
        live.note_outcome(outcome)

    with side_runner(context, GAMES_PER_DECK * recipe.decision.decks) as runner:

        def advance(games: float) -> None:
            runner.progress(games)
            live.advance(games / GAMES_PER_DECK)

        def skip(games: float) -> None:
            if runner.note_kept is not None:
                runner.note_kept(games)
            live.advance(games / GAMES_PER_DECK)

        return play_sequential_side_match(
            setup,
            recipe.decision.test,
            max_decks=recipe.decision.decks,
            fresh_decks=recipe.decision.fresh_decks,
            runner=replace(runner, progress=advance, note_kept=skip),
            tell=tell,
        )


def _figures(report: SideSequentialReport) -> dict[str, float]:
    """Return the figures for MLflow: those of the match that was stopped have no mean, which would be too good."""
    outcome, fresh = report.outcome, report.fresh
    figures: dict[str, float] = {
        "decision_decks": outcome.decks,
        "log_likelihood_ratio": outcome.log_likelihood_ratio,
        "always_valid/share_low": outcome.interval.low,
        "always_valid/share_high": outcome.interval.high,
    }
    if fresh is not None:
        for name in ("share", "points"):
            found = fresh.figures[name]
            figures |= {name: found.mean, f"{name}_low": found.interval.low, f"{name}_high": found.interval.high}
        figures["decks"] = fresh.deals
    return figures


class _LiveDecision(LiveMatch[SideOutcome]):
    """The live page of the deciding match; it counts decks."""

    def __init__(
        self, context: SideContext, table: Mapping[str, Any], candidate: str | None, opponent: str | None
    ) -> None:
        """``table``: the leaderboard of the night; None for a player that there is not."""
        super().__init__(context, candidate, opponent)
        self._config = context.recipe.decision
        self._table = table

    def _boards(self, has_links: bool) -> Sections:
        return side_page.sections(self._table, has_links=has_links)

    def _title(self) -> str:
        return f"The deciding match: {self._candidate} against {self._opponent}."

    def _body(self) -> str:
        decks = {"played": self._played, "fresh": self._fresh}
        return live_section(self._config, self._outcome, **decks, is_over=self._is_over)
