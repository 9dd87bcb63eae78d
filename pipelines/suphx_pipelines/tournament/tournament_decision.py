"""The decision stage of a tournament: the best candidate against three champions, until the test has decided.

Leaves ``decision.json`` (keys in docs/result_files.md), ``live.html`` (live_decision.py) and the records of its games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.sequential.match_watch import SequentialOutcome
from suphx.evaluation.sequential.sequential_match import FRESH_FOLDER, SequentialReport, play_sequential_match
from suphx.evaluation.workers.match_records import RECORDS_FOLDER, index_records, remove_after
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.tournament import tournament_report
from suphx_pipelines.tournament.live_decision import LiveDecision
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_games import stage_runner, wall_seed
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, TABLE_NAME, read_games, read_history
from suphx_pipelines.tournament.pool.tournament_pool import HISTORY_NAME, Context, Entrant, deciding_pair, read_pool
from suphx_platform.agents.agent_forms import follows_whole_games

_FRESH_KEYS = ("fresh_match", "other_seatings")
"""Of the test's report: matches on new walls, which are kept under keys of their own."""


FILES: Mapping[str, str] = {
    "decision.json": (
        "`candidate`, `opponent`, `test` (as in `suphx evaluate --sequential --json`, without `fresh_match` and "
        "`other_seatings`) or null, `match` (on new walls, as in `suphx evaluate --json`) or null if there was no "
        "pass, `other_seatings` (the same by seating, if `decision.test.seating` is `all`), `is_won`"
    ),
    "games/walls-<first>-<last>.json": (
        "`rows` [candidate, three opponents][games][columns of `player_statistics.py`]; `forfeits` [[0 candidate "
        "or 1 opponent, reason, game, seat]] if there were any"
    ),
    "games/fresh/": "the games on new walls",
    "records/, records/fresh/": "records of all these games, as `evaluation/records/` of a run",
    "live.html": (
        "the deciding match above the leaderboard while games come in; it reloads itself until the last game"
    ),
    "mlflow/live.html": "the same page without links to other files, which MLflow gets",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def run(context: Context) -> dict[str, float]:
    """Let the best candidate play against the champion, and leave ``decision.json``."""
    folder = context.upstream["pool"]
    pool = read_pool(folder)
    table = read_json(context.upstream["leaderboard"] / TABLE_NAME)
    candidate, opponent, decision = deciding_pair(pool, table["agents"], folder, context.recipe.decision.opponent)
    live = LiveDecision(context, table, decision["candidate"], decision["opponent"])
    if candidate is None or not opponent:
        live.write_last()
        decision |= {"test": None, "match": None, "other_seatings": {}, "is_won": candidate is not None}
        write_json(context.folder / tournament_report.DECISION_NAME, decision)
        return {"is_won": decision["is_won"]}
    live.write_first()
    report = _play(context, candidate, opponent, live)
    live.write_last()
    names = {"candidate": candidate.name, "opponent": decision["opponent"]}
    for sentence in report.forfeits.sentences((candidate.name, decision["opponent"])):
        context.warn(sentence)
    decision |= {
        "test": {key: value for key, value in report.to_json().items() if key not in _FRESH_KEYS} | names,
        "match": None if report.fresh is None else report.fresh.to_json() | names,
        "other_seatings": {match.seating: match.to_json() | names for match in report.other_seatings},
        "is_won": report.outcome.decision == "better",
    }
    for seating in tournament_report.contrary_seatings(decision):
        context.warn(
            f"{candidate.name} passes, but in {seating} it is worse than {decision['opponent']}: see the report"
        )
    write_json(context.folder / tournament_report.DECISION_NAME, decision)
    return {"is_won": decision["is_won"]} | _figures(report)


def _play(context: Context, candidate: Entrant, opponent: str, live: LiveDecision) -> SequentialReport:
    """Return the decision; the games are kept, so a repeated command continues."""
    config = context.recipe.decision

    def tell(outcome: SequentialOutcome) -> None:
        context.console.detail(f"decision after {outcome.hanchans:,} hanchans: {outcome.note()}")
        live.note_outcome(outcome)

    records = context.folder / RECORDS_FOLDER
    address = candidate.address_in(context.upstream["pool"])
    seed = wall_seed(context, _leaderboard_games(context))
    setup = MatchSetup(
        address,
        opponent,
        seed=seed,
        has_draw_lanes=context.recipe.draw_lanes,
        keeps_each_wall=any(map(follows_whole_games, (address, opponent))),
    )
    with stage_runner(context, config.hanchans) as runner:

        def advance(games: float) -> None:
            runner.progress(games)
            live.advance(games)

        def skip(games: float) -> None:
            if runner.note_kept is not None:
                runner.note_kept(games)
            live.advance(games)

        report = play_sequential_match(
            setup,
            config.test,
            max_hanchans=config.hanchans,
            fresh_hanchans=config.fresh_hanchans,
            runner=replace(runner, records=records, progress=advance, note_kept=skip),
            tell=tell,
        )
    remove_after(records, report.outcome.walls)
    for folder in (records, records / FRESH_FOLDER):
        index_records(folder)
    return report


def _leaderboard_games(context: Context) -> list[RatedGame]:
    """Return the games of the leaderboards of all nights: those picked the candidate."""
    earlier = read_history(context.upstream["pool"] / HISTORY_NAME, riichi_code())
    return [*earlier.games, *read_games(context.upstream["leaderboard"] / GAMES_NAME, riichi_code())]


def _figures(report: SequentialReport) -> dict[str, float]:
    """Return the figures for MLflow: those of the match that was stopped have no mean, which would be too good."""
    figures: dict[str, float] = {
        "decision_hanchans": report.outcome.hanchans,
        "log_likelihood_ratio": report.outcome.log_likelihood_ratio,
    }
    for name, interval in report.outcome.intervals.items():
        figures |= {f"always_valid/{name}_low": interval.low, f"always_valid/{name}_high": interval.high}
    if report.fresh is not None:
        for name, found in (("difference", report.fresh.difference), ("points", report.fresh.points_difference)):
            figures |= {name: found.mean, f"{name}_low": found.interval.low, f"{name}_high": found.interval.high}
        figures["hanchans"] = report.fresh.hanchans
    for match in report.other_seatings:
        low, high = match.difference.interval.low, match.difference.interval.high
        names = (f"difference_{match.seating}{end}" for end in ("", "_low", "_high"))
        figures |= dict(zip(names, (match.difference.mean, low, high), strict=True))
    return figures
