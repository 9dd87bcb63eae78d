"""The decision stage of a tournament: the best candidate against the champion, until the test has decided.

Leaves ``decision.json`` (keys in docs/result_files.md), ``live.html`` (report.py) and what its games leave.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.sequential import SequentialOutcome, SequentialReport
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.report.report_page import Sections
from suphx_pipelines.tournament import history
from suphx_pipelines.tournament.entrants import POOL, deciding_pair, read_pool
from suphx_pipelines.tournament.kind import Context, Kind, kind_of
from suphx_pipelines.tournament.match_texts import DECISION_NAME, Decision, Row
from suphx_pipelines.tournament.report import LivePage, night_sections


def run(context: Context) -> dict[str, float]:
    """Let the best candidate play against the champion, and leave ``decision.json``."""
    recipe, kind, folder = context.recipe, kind_of(context.recipe), context.upstream[POOL]
    night, code = context.upstream[history.LEADERBOARD], kind.code(context.recipe)
    table = read_json(night / history.TABLE_NAME)
    candidate, opponent, names = deciding_pair(read_pool(folder), table["agents"], folder, recipe.decision.opponent)
    live = _LiveMatch(context, kind, table, names)
    if candidate is None or not opponent:
        live.write_last({**live.decision, "is_won": candidate is not None})
        return {"is_won": float(candidate is not None)}
    played = history.read_history(folder / history.HISTORY_NAME, code).games
    played += history.read_games(night / history.GAMES_NAME, code)
    with kind.runner(context, recipe.decision.games) as runner:
        report = kind.decide(
            context, candidate.address_in(folder), opponent, played, runner=live.watched(runner), tell=live.tell
        )
    for sentence in report.forfeits.sentences((candidate.name, names["opponent"])):
        context.warn(sentence)
    values = names | kind.decision(report, names) | {"is_won": report.outcome.decision == "better"}
    for sentence in kind.texts.warnings(values):
        context.warn(sentence)
    live.write_last(values)
    return {"is_won": float(values["is_won"])} | kind.texts.figures(values)


class _LiveMatch:
    """Consumes: games, and the outcome of each look of the test. Produces: ``decision.json``, and the page so far."""

    def __init__(self, context: Context, kind: Kind, table: Row, names: dict[str, Any]) -> None:
        """``table``: the leaderboard of the night; ``names``: of candidate and opponent, None for one there is not."""
        self.decision: Decision = names | kind.decision(None, {})
        """What ``decision.json`` would say if the match ended now."""
        self._page = LivePage(context, "deciding match")
        self._context, self._kind, self._table, self._names = context, kind, table, names
        self._num_games = 0.0
        self._is_over = False

    def watched(self, runner: GameRunner) -> GameRunner:
        """Return ``runner``, whose games are counted here too; write the page before the first one."""
        self._page.offer(self._content)
        note_kept = self._counted(runner.note_kept or runner.progress)
        return replace(runner, progress=self._counted(runner.progress), note_kept=note_kept)

    def tell(self, outcome: SequentialOutcome) -> None:
        """Take what the test says of the games so far."""
        kind, (candidate, opponent) = self._kind, self._names.values()
        test = self._context.recipe.decision.test
        per_deal = kind.scoring.num_games(test.deciding_seating)
        played = f"{per_deal * outcome.deals:,} {kind.games}"
        self._context.console.detail(f"decision after {played}: {outcome.note(kind.scoring, test.deciding_seating)}")
        report = SequentialReport(
            candidate=candidate,
            opponent=opponent,
            seed=0,
            config=test,
            outcome=outcome,
            fresh=None,
            scoring=kind.scoring,
        )
        self.decision = self._names | kind.decision(report, self._names)

    def write_last(self, decision: Decision) -> None:
        """Write the page as it stays, and ``decision.json``."""
        self.decision, self._is_over = decision, True
        self._page.write_last(self._content)
        write_json(self._context.folder / DECISION_NAME, decision)

    def _counted(self, progress: Callable[[float], None]) -> Callable[[float], None]:
        def advance(games: float) -> None:
            progress(games)
            self._num_games += games
            self._page.offer(self._content)

        return advance

    def _content(self) -> tuple[str, Sections]:
        kind, recipe, (candidate, opponent) = self._kind, self._context.recipe, self._names.values()
        if candidate is None or not opponent:
            why = kind.texts.nothing_new if candidate is None else "there is no champion and no opponent to beat"
            return f"There is no deciding match tonight: {why}.", night_sections(kind, self._table)
        title = kind.texts.title(recipe.decision.test, candidate, opponent)
        played = f"{math.floor(self._num_games):,} {kind.games} have been played"
        text = f"{title} {played}; the decision takes at most {recipe.decision.games:,}."
        return text, night_sections(kind, self._table, self.decision, is_live=not self._is_over)
