"""The decision stage of a tournament: the best candidate against the champion, until the test has decided.

Leaves ``decision.json`` (keys in docs/result_files.md), ``live.html`` (pages.py) and what its games leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from suphx.evaluation.sequential import SequentialOutcome
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.report import report_page
from suphx_pipelines.tournament import leaderboard
from suphx_pipelines.tournament.entrants import POOL, deciding_pair, read_pool
from suphx_pipelines.tournament.history import (
    GAMES_NAME,
    HISTORY_NAME,
    LEADERBOARD,
    TABLE_NAME,
    read_games,
    read_history,
)
from suphx_pipelines.tournament.kind import Context, Kind, kind_of
from suphx_pipelines.tournament.match_texts import DECISION_NAME
from suphx_pipelines.tournament.pages import LivePage, LiveState, Row, Sections, report_link


def run(context: Context) -> dict[str, float]:
    """Let the best candidate play against the champion, and leave ``decision.json``."""
    recipe, kind, folder = context.recipe, kind_of(context.recipe), context.upstream[POOL]
    night, code = context.upstream[LEADERBOARD], kind.code(context.recipe)
    table = read_json(night / TABLE_NAME)
    candidate, opponent, names = deciding_pair(read_pool(folder), table["agents"], folder, recipe.decision.opponent)
    live = LiveMatch(context, kind, table, names["candidate"], names["opponent"])
    if candidate is None or not opponent:
        live.write_last()
        values = names | kind.decision(None, {}) | {"is_won": candidate is not None}
        write_json(context.folder / DECISION_NAME, values)
        return {"is_won": values["is_won"]}
    live.write_first()

    def tell(outcome: SequentialOutcome) -> None:
        played = f"{kind.games_per_deal * outcome.deals:,} {kind.games}"
        context.console.detail(f"decision after {played}: {outcome.note()}")
        live.note_outcome(outcome)

    address = candidate.address_in(folder)
    played = [*read_history(folder / HISTORY_NAME, code).games, *read_games(night / GAMES_NAME, code)]
    with kind.runner(context, kind.decision_games(recipe)) as runner:
        watched = replace(
            runner,
            progress=live.counted(runner.progress),
            note_kept=live.counted(runner.note_kept or runner.progress),
        )
        report = kind.decide(context, address, opponent, played, runner=watched, tell=tell)
    live.write_last()
    for sentence in report.forfeits.sentences((candidate.name, names["opponent"])):
        context.warn(sentence)
    values = names | kind.decision(report, names) | {"is_won": report.outcome.decision == "better"}
    for sentence in kind.texts.warnings(values):
        context.warn(sentence)
    write_json(context.folder / DECISION_NAME, values)
    return {"is_won": values["is_won"]} | kind.texts.figures(values)


class LiveMatch:
    """Consumes: games, and the outcome of each look of the test. Produces: the live page with match and leaderboard."""

    def __init__(self, context: Context, kind: Kind, table: Row, candidate: str | None, opponent: str | None) -> None:
        """``table``: the leaderboard of the night; None for a player that there is not."""
        self._page = LivePage(context, "deciding match")
        self._recipe, self._kind, self._table = context.recipe, kind, table
        self._candidate, self._opponent = candidate, opponent
        self._state = LiveState()

    def counted(self, progress: Callable[[float], None]) -> Callable[[float], None]:
        """Return ``progress``, which counts games here too and writes the page if it is time."""

        def advance(games: float) -> None:
            progress(games)
            state = self._state
            if state.outcome is not None and state.outcome.decision != "undecided":
                state.fresh += games
            else:
                state.played += games
            self._page.offer(self._content)

        return advance

    def note_outcome(self, outcome: SequentialOutcome) -> None:
        """Take what the test says of the games so far, and write the page if it is time."""
        self._state.outcome = outcome
        self._page.offer(self._content)

    def write_first(self) -> None:
        """Write the page before the first game."""
        self._page.offer(self._content)

    def write_last(self) -> None:
        """Write the page as it stays."""
        self._state.is_over = True
        head, sections = self._content()
        self._page.write_last(lambda: (head + report_link(), sections))

    def _content(self) -> tuple[str, Sections]:
        boards = leaderboard.sections(self._kind, self._table)
        if self._candidate is None or self._opponent is None:
            lacking = self._kind.texts.nothing_new
            why = lacking if self._candidate is None else "there is no champion and no opponent to beat"
            return report_page.paragraph(f"There is no deciding match tonight: {why}."), boards
        title = self._kind.texts.title(self._recipe.decision.test, self._candidate, self._opponent)
        body = self._kind.live(self._recipe, self._state)
        return report_page.paragraph(title), [("Deciding match", body), *boards]
