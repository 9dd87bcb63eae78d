"""Games and reviews as Arrow tables, for notebooks. ``.to_pandas()`` makes a DataFrame of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from suphx.extras import needs

try:
    import pyarrow as pa
except ModuleNotFoundError:
    raise ModuleNotFoundError(needs("pyarrow"), name="pyarrow") from None

from suphx.evaluation.review import review_game
from suphx.games.riichi.records.decisions import kyoku_name
from suphx.games.riichi.records.game_log import ACTION_BITS, RESULT_NAMES, GameLog
from suphx.games.riichi.records.statistics import STATISTICS_COLUMNS, game_row
from suphx.games.riichi.table import action_name
from suphx.selfplay.agents.agent import AgentLike, as_agent

_SEAT_NAMES = ("0", "1", "2", "3")
_COUNTS = ("place", "kyoku", "wins", "deal_ins", "riichis", "calls", "draws", "tenpais")

GAME_COLUMNS = pa.schema(
    [("game", pa.string()), ("seat", pa.int8()), ("player", pa.string()), ("score", pa.int32())]
    + [(name, pa.int32()) for name in _COUNTS]
)
DEAL_COLUMNS = pa.schema(
    [
        ("game", pa.string()),
        ("deal", pa.int16()),
        ("name", pa.string()),
        ("dealer", pa.int8()),
        ("honba", pa.int16()),
        ("kyotaku", pa.int16()),
        ("scores", pa.list_(pa.int32(), 4)),
        ("result", pa.string()),
        ("winners", pa.list_(pa.int8())),
        ("loser", pa.int8()),
        ("deltas", pa.list_(pa.int32(), 4)),
        ("moves", pa.int16()),
    ]
)
MOVE_COLUMNS = pa.schema(
    [
        ("game", pa.string()),
        ("deal", pa.int16()),
        ("move", pa.int16()),
        ("seat", pa.int8()),
        ("action", pa.int16()),
        ("name", pa.string()),
    ]
)


def games_table(games: Iterable[GameLog]) -> pa.Table:
    """Return one row for each seat of each finished game, with counts over its deals (``kyoku``).

    >>> from suphx import games_table, simulate
    >>> table = games_table(simulate("ukeire", 2, seed=7))
    >>> table.num_rows, table.column_names[:5]
    (8, ['game', 'seat', 'player', 'score', 'place'])
    >>> sum(table["score"].to_pylist())
    200000
    """
    rows = []
    for game in games:
        anonymous = replace(game, names=_SEAT_NAMES)
        for seat, player in enumerate(game.names):
            counts = game_row(anonymous, _SEAT_NAMES[seat])
            if counts is not None and game.final_scores is not None:
                row = dict(zip(STATISTICS_COLUMNS, counts, strict=True))
                fixed = {"game": game.id, "seat": seat, "player": player, "score": game.final_scores[seat]}
                rows.append(fixed | {name: row[name] for name in _COUNTS})
    return pa.Table.from_pylist(rows, schema=GAME_COLUMNS)


def deals_table(games: Iterable[GameLog]) -> pa.Table:
    """Return one row for each deal: its start, its result, and the changes of the scores (with the riichi sticks
    that a winner takes, without those paid in the deal).

    ``loser`` is null for a draw and a win by tsumo.

    >>> from suphx import deals_table, simulate
    >>> deals_table(simulate("ukeire", 1, seed=7)).select(["name", "result", "winners"]).to_pylist()[0]
    {'name': 'East 1', 'result': 'win', 'winners': [1]}
    """
    rows = [_deal(game, index) for game in games for index in range(len(game.kyokus))]
    return pa.Table.from_pylist(rows, schema=DEAL_COLUMNS)


def moves_table(games: Iterable[GameLog]) -> pa.Table:
    """Return one row for each move, in order; passes are not recorded.

    >>> from suphx import moves_table, simulate
    >>> moves_table(simulate("tsumogiri", 1, seed=7)).to_pylist()[0]
    {'game': '7-0', 'deal': 0, 'move': 0, 'seat': 0, 'action': 37, 'name': 'tsumogiri'}
    """
    rows = []
    for game in games:
        for deal, log in enumerate(game.kyokus):
            for number, move in enumerate(log.moves.tolist()):
                action = move & (1 << ACTION_BITS) - 1
                fixed = {"game": game.id, "deal": deal, "move": number, "seat": move >> ACTION_BITS}
                rows.append(fixed | {"action": action, "name": action_name(action)})
    return pa.Table.from_pylist(rows, schema=MOVE_COLUMNS)


def _deal(game: GameLog, index: int) -> dict[str, Any]:
    log = game.kyokus[index]
    result = log.result
    winners = result["win_seat"][: int(result["num_wins"])].tolist()
    loser = int(result["win_loser"][0]) if winners else -1
    return {
        "game": game.id,
        "deal": index,
        "name": kyoku_name(log.kyoku, log.honba),
        "dealer": log.kyoku % 4,
        "honba": log.honba,
        "kyotaku": log.kyotaku,
        "scores": list(log.scores),
        "result": RESULT_NAMES[int(result["result"])],
        "winners": winners,
        "loser": None if not winners or loser in winners else loser,
        "deltas": result["deltas"].tolist(),
        "moves": len(log.moves),
    }


REVIEW_COLUMNS = pa.schema(
    [
        ("deal", pa.int16()),
        ("name", pa.string()),
        ("seat", pa.int8()),
        ("kind", pa.string()),
        ("turn", pa.int16()),
        ("shanten", pa.int8()),
        ("under_riichi", pa.bool_()),
        ("choices", pa.int16()),
        ("played", pa.string()),
        ("agent", pa.string()),
        ("agrees", pa.bool_()),
        ("p_played", pa.float32()),
        ("p_agent", pa.float32()),
    ]
)


def review(game: GameLog, agent: AgentLike) -> pa.Table:
    """Return one row for each decision with several moves at which both the record and the agent show a choice.

    ``deal`` counts from 0; ``kind``: what the decision is about (win, claim, kan, riichi, discard); ``turn``: number
    of the seat's next discard, from 1; ``choices``: number of different moves; ``p_played`` and ``p_agent`` are the
    probabilities of the agent's nets, null where no net decides. ``suphx review`` counts the same decisions. ValueError
    for an unknown agent and a game that contradicts the rules.

    >>> from suphx import review, simulate
    >>> (game,) = simulate("ukeire", seed=7)
    >>> all(review(game, "ukeire")["agrees"].to_pylist())
    True
    """
    rows = [
        {
            "deal": decision.deal_number - 1,
            "name": decision.deal,
            "seat": decision.seat,
            "kind": decision.kind,
            "turn": decision.turn,
            "shanten": decision.shanten,
            "under_riichi": decision.is_under_riichi,
            "choices": len(decision.moves),
            "played": decision.played,
            "agent": decision.agent,
            "agrees": not decision.differs,
            "p_played": decision.played_probability,
            "p_agent": decision.agent_probability,
        }
        for decision in review_game(game, as_agent(agent)).decisions
    ]
    return pa.Table.from_pylist(rows, schema=REVIEW_COLUMNS)
