"""The leaderboard stage of a tournament: tonight's games, and the ratings from the games of all nights.

Leaves ``games.json`` (history.py), ``table.json``, ``live.html`` (report.py) and the results of lineups.
"""

from __future__ import annotations

import re
from typing import Any

from suphx.evaluation.rating import count_ahead, rate_agents
from suphx.evaluation.tournament import PlayedLineup, Player, TournamentSetup, play_tournament
from suphx_pipelines.json_file import write_json
from suphx_pipelines.report.report_page import Sections
from suphx_pipelines.tournament import history
from suphx_pipelines.tournament.entrants import POOL, read_pool
from suphx_pipelines.tournament.kind import Context, Kind, Night, kind_of
from suphx_pipelines.tournament.report import LivePage, night_sections

_LONGEST_METRIC = 200  # MLflow takes 250


def run(context: Context) -> dict[str, float]:
    """Play tonight's games, go on where a killed stage stopped, and rate the agents by the games of all nights."""
    recipe, folder, kind = context.recipe, context.upstream[POOL], kind_of(context.recipe)
    code, pool = kind.code(recipe), read_pool(folder)
    num_deals = kind.num_deals(recipe, len(pool.entrants))
    night = Night(
        pool=pool,
        earlier=history.read_history(folder / history.HISTORY_NAME, code),
        anchor=recipe.leaderboard.anchor,
        name=recipe.night,
        run_id=context.folder.parent.name,
    )
    live = LivePage(context, "leaderboard", links_decision=True)

    def page_of(table: dict[str, Any]) -> tuple[str, Sections]:
        played, wanted = kind.games_per_result * len(night.games), kind.games_per_deal * num_deals
        text = f"{played:,} of tonight's {wanted:,} {kind.games} have been played."
        return text, night_sections(kind, table)

    def note(played: PlayedLineup) -> None:
        night.note(played)
        live.offer(lambda: page_of(table_of(kind, night)))

    setup = TournamentSetup(
        players=[Player(entrant.digest, entrant.address_in(folder), entrant.name) for entrant in pool.entrants],
        anchor=night.anchor_digest,
        earlier=night.earlier.games,
        game=kind.game,
        **kind.setup(context, night.earlier.games),
    )
    with kind.runner(context, kind.games_per_deal * num_deals) as runner:
        games = play_tournament(setup, num_deals, runner=runner, note_lineup=note)
    names = {entrant.digest: entrant.name for entrant in pool.entrants}
    for sentence in night.forfeits.sentences(list(names.values())):
        context.warn(sentence)
    write_json(context.folder / history.GAMES_NAME, kind.facts(recipe) | history.games_json(games, names, code))
    table = table_of(kind, night)
    write_json(context.folder / history.TABLE_NAME, table)
    live.write_last(lambda: page_of(table))
    rows = table["agents"]
    ratings = zip(metric_names([row["name"] for row in rows]), (row["rating"] for row in rows), strict=True)
    return {"games": len(games), "earlier_games": table["earlier_games"]} | dict(ratings)


def table_of(kind: Kind, night: Night) -> dict[str, Any]:
    """Return the table of a night, the strongest agent first; agents without a game are left out."""
    games, pool = [*night.earlier.games, *night.games], night.pool
    champion = None if pool.champion is None else pool.entrants[pool.champion]
    ratings = rate_agents(games, anchor=night.anchor_digest)
    rated = [(entrant, ratings[entrant.digest]) for entrant in pool.entrants if entrant.digest in ratings]
    rated.sort(key=lambda each: -each[1].rating)
    rows = [
        {
            "name": entrant.name,
            "digest": entrant.digest,
            "rating": rating.rating,
            "interval": rating.interval and rating.interval.ends,
            "is_candidate": entrant.is_candidate,
            "is_champion": entrant is champion,
            "games": rating.games,
            **kind.row(night, entrant, games),
        }
        for entrant, rating in rated
    ]
    return {
        "agents": rows,
        "deals": len({game.wall for game in night.games}),
        "earlier_games": len(night.earlier.games),
        "anchor": night.anchor,
        "is_anchored": any(night.anchor_digest in game.seats for game in games),
        "pairings": count_ahead(games, [entrant.digest for entrant, _ in rated]).tolist(),
        "nights": [*night.earlier.nights, history.night_of(night.run_id, night.name, rows)],
    }


def metric_names(names: list[str]) -> list[str]:
    """Return names of metrics that MLflow accepts: paths without empty parts and dots, short, none twice."""
    clean = [re.sub(r"[^\w. /-]", "_", name).split("/") for name in names]
    paths = ["/".join(part for part in parts if part.strip("."))[-_LONGEST_METRIC:].strip("/") for parts in clean]
    return [f"rating/{path if paths.count(path) == 1 else f'{path}_{index}'}" for index, path in enumerate(paths)]
